import type { KubeObject } from '@sheaf/api';
import type { Pod } from '@sheaf/api/workload/index';
import { type Client, resources } from '@sheaf/client';
import type { DataLookup } from './environment.ts';
import { referencesOf } from './pod-references.ts';

type Bytes = ReadonlyMap<string, Uint8Array>;

/** The ConfigMaps and Secrets that a pod names, as they are now. */
export interface PodData extends DataLookup {
  configMapBytes(name: string): Bytes | undefined;
  secretBytes(name: string): Bytes | undefined;
  /** As objects: what is their type. */
  secretObject(name: string): KubeObject | undefined;
}

export async function readPodData(client: Client, pod: Pod, signal: AbortSignal): Promise<PodData> {
  const { namespace = '' } = pod.metadata;
  const { configMaps, secrets } = referencesOf(pod);
  const read = async (
    resource: typeof resources.secrets,
    names: ReadonlySet<string>,
  ): Promise<ReadonlyMap<string, KubeObject>> => {
    const found = await Promise.all(
      [...names].map(
        async (name) => [name, await client.find(resource, { namespace, name }, signal)] as const,
      ),
    );
    return new Map(found.flatMap(([name, object]) => (object ? [[name, object] as const] : [])));
  };
  const [maps, hidden] = await Promise.all([
    read(resources.configMaps, configMaps),
    read(resources.secrets, secrets),
  ]);
  const configMapBytes = (name: string): Bytes | undefined =>
    bytesOf(maps.get(name), { text: 'data', base64: 'binaryData' });
  const secretBytes = (name: string): Bytes | undefined => bytesOf(hidden.get(name), { base64: 'data' });
  return {
    configMapBytes,
    secretBytes,
    secretObject: (name) => hidden.get(name),
    configMap: (name) => textsOf(configMapBytes(name)),
    secret: (name) => textsOf(secretBytes(name)),
  };
}

function bytesOf(
  object: KubeObject | undefined,
  fields: { readonly text?: string; readonly base64: string },
): Bytes | undefined {
  if (!object) return undefined;
  const field = (name: string): readonly (readonly [string, string])[] =>
    Object.entries((object[name] ?? {}) as Readonly<Record<string, string>>);
  const texts = fields.text === undefined ? [] : field(fields.text);
  return new Map([
    ...texts.map(([key, text]) => [key, Buffer.from(text)] as const),
    ...field(fields.base64).map(([key, text]) => [key, Buffer.from(text, 'base64')] as const),
  ]);
}

function textsOf(bytes: Bytes | undefined): Readonly<Record<string, string>> | undefined {
  return bytes && Object.fromEntries([...bytes].map(([key, value]) => [key, Buffer.from(value).toString()]));
}
