import type { Waiting } from '@sheaf/api';
import { isInsecureRegistry } from '@sheaf/api/virtualization/index';
import { isJsonObject, Secret, StatusError } from '@sheaf/base';
import { type Client, type ObjectRef, resources } from '@sheaf/client';
import type { ContainerDisks, RegistryAccess } from '@sheaf/ports';
import type { SourceOrder } from './source-plan.ts';

interface RegistryParts {
  readonly client: Client;
  readonly containers?: Pick<ContainerDisks, 'fetch'> | undefined;
}

interface Wanted {
  readonly order: Extract<SourceOrder, { kind: 'registry' }>;
  readonly namespace: string;
  readonly uid: string;
}

/** The image of the disk in a container image, or why it is not there yet. @throws StatusError */
export async function fetchDisk(
  { client, containers }: RegistryParts,
  { order, namespace, uid }: Wanted,
  signal: AbortSignal,
): Promise<{ readonly waiting: Waiting } | { readonly kind: 'image'; readonly imageId: string }> {
  if (!containers)
    throw new StatusError({
      reason: 'Invalid',
      message: 'container images cannot be had on this host; use spec.source.http, or upload the disk',
    });
  const access = await accessOf(client, { order, namespace }, signal);
  const { reference } = order;
  const { image, progress } = await containers.fetch(
    { reference, policy: 'Always', occasion: uid, access },
    signal,
  );
  if (image) return { kind: 'image', imageId: image.id };
  // It is tried again by itself, later each time.
  const text = progress.state === 'failed' ? progress.message : 'Its container image is being fetched';
  return { waiting: { reason: 'ImportScheduled', text, nature: 'transient' } };
}

async function accessOf(
  client: Client,
  { order, namespace }: Omit<Wanted, 'uid'>,
  signal: AbortSignal,
): Promise<RegistryAccess> {
  const { reference, secret, authorities } = order;
  const config = await findConfig(client, signal);
  return {
    ...(isInsecureRegistry(config, reference) ? { isInsecure: true } : {}),
    ...(authorities === undefined
      ? {}
      : { authorities: await authoritiesOf(client, { namespace, name: authorities }, signal) }),
    ...(secret === undefined
      ? {}
      : { credentials: [await credentialsOf(client, { namespace, name: secret, reference }, signal)] }),
  };
}

/** Where the kind is not served there is none. */
async function findConfig(client: Client, signal: AbortSignal): Promise<unknown> {
  try {
    return await client.find(resources.cdiConfigs, { name: 'config' }, signal);
  } catch (error) {
    if (!StatusError.is(error) || error.code !== 404) throw error;
    return undefined;
  }
}

/** The certificates of a ConfigMap. @throws StatusError */
export async function authoritiesOf(client: Client, ref: ObjectRef, signal: AbortSignal): Promise<string> {
  const map = await client.find(resources.configMaps, ref, signal);
  if (!map)
    throw new StatusError({
      reason: 'NotFound',
      message: `the ConfigMap ${ref.name} with the authorities of the address is not there; create it`,
    });
  const texts = Object.values((map['data'] ?? {}) as Readonly<Record<string, string>>);
  return texts.join('\n');
}

/** CDI's Secrets hold a name and a password, as `accessKeyId` and `secretKey`. */
async function credentialsOf(
  client: Client,
  { reference, ...ref }: ObjectRef & { readonly reference: string },
  signal: AbortSignal,
): Promise<Secret<string>> {
  const secret = await client.find(resources.secrets, ref, signal);
  const data: unknown = secret?.['data'];
  const value = (name: string): string => {
    const encoded = isJsonObject(data) ? data[name] : undefined;
    return typeof encoded === 'string' ? Buffer.from(encoded, 'base64').toString('utf8') : '';
  };
  if (value('accessKeyId') === '')
    throw new StatusError({
      reason: 'NotFound',
      message: `the Secret ${ref.name} has no accessKeyId and secretKey for the registry; create it with both`,
    });
  const auth = Buffer.from(`${value('accessKeyId')}:${value('secretKey')}`).toString('base64');
  return new Secret(JSON.stringify({ auths: { [reference.slice(0, reference.indexOf('/'))]: { auth } } }));
}
