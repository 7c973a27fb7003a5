import { createHash } from 'node:crypto';
import type { VirtualMachineSpec, Volume } from '@sheaf/api/virtualization/index';

type InstanceSpec = NonNullable<VirtualMachineSpec['template']['spec']>;
type Credential = NonNullable<InstanceSpec['accessCredentials']>[number];
type Rename = (name: string) => string;

/** The Secrets that a machine is started with, each once: cloud-init data, keys and passwords, volumes. */
export function secretNamesOf(spec: InstanceSpec | undefined): readonly string[] {
  const names = new Set<string>();
  if (spec)
    withSecretNames(spec, (name) => {
      names.add(name);
      return name;
    });
  return [...names];
}

/** The spec with other Secrets in the places of its own. */
export function withSecretNames(spec: InstanceSpec, rename: Rename): InstanceSpec {
  const { volumes, accessCredentials } = spec;
  return {
    ...spec,
    ...(volumes ? { volumes: volumes.map((volume) => renamedVolume(volume, rename)) } : {}),
    ...(accessCredentials
      ? { accessCredentials: accessCredentials.map((each) => renamedCredential(each, rename)) }
      : {}),
  };
}

/** What Harvester calls the copy of a Secret that a restored machine gets. The name stays short, however often that is done. */
export function restoredSecretName(machineName: string, secretName: string): string {
  const digest = createHash('md5').update(secretName).digest('hex');
  return `vm-${machineName}-${digest.slice(0, 8)}-ref`;
}

interface CloudInit {
  readonly secretRef?: { readonly name?: string };
  readonly networkDataSecretRef?: { readonly name?: string };
}

function renamedVolume(volume: Volume, rename: Rename): Volume {
  const { cloudInitNoCloud, cloudInitConfigDrive, secret } = volume;
  return {
    ...volume,
    ...(cloudInitNoCloud ? { cloudInitNoCloud: renamedCloudInit(cloudInitNoCloud, rename) } : {}),
    ...(cloudInitConfigDrive ? { cloudInitConfigDrive: renamedCloudInit(cloudInitConfigDrive, rename) } : {}),
    ...(secret?.secretName ? { secret: { ...secret, secretName: rename(secret.secretName) } } : {}),
  };
}

function renamedCloudInit<T extends CloudInit>(source: T, rename: Rename): T {
  const { secretRef, networkDataSecretRef } = source;
  return {
    ...source,
    ...(secretRef?.name ? { secretRef: { ...secretRef, name: rename(secretRef.name) } } : {}),
    ...(networkDataSecretRef?.name
      ? { networkDataSecretRef: { ...networkDataSecretRef, name: rename(networkDataSecretRef.name) } }
      : {}),
  };
}

function renamedCredential(each: Credential, rename: Rename): Credential {
  const { sshPublicKey, userPassword } = each;
  return {
    ...each,
    ...(sshPublicKey ? { sshPublicKey: renamedSource(sshPublicKey, rename) } : {}),
    ...(userPassword ? { userPassword: renamedSource(userPassword, rename) } : {}),
  };
}

function renamedSource<T extends { readonly source: { readonly secret?: { readonly secretName: string } } }>(
  holder: T,
  rename: Rename,
): T {
  const { source } = holder;
  if (!source.secret) return holder;
  return { ...holder, source: { ...source, secret: { secretName: rename(source.secret.secretName) } } };
}

/** Which keys are in which Secret, as Harvester's page notes it at the template of a machine. */
const keyNamesAnnotation = 'harvesterhci.io/dynamic-ssh-key-names';

/** The annotations of a template with the Secrets under their new names. What cannot be read stays as it is. */
export function withSecretNamesNoted(
  annotations: Readonly<Record<string, string>> | undefined,
  rename: Rename,
): Readonly<Record<string, string>> | undefined {
  const noted = annotations?.[keyNamesAnnotation];
  if (!noted) return annotations;
  try {
    const keys = Object.entries(JSON.parse(noted) as object).map(([name, value]) => [rename(name), value]);
    return { ...annotations, [keyNamesAnnotation]: JSON.stringify(Object.fromEntries(keys)) };
  } catch (error) {
    if (error instanceof SyntaxError) return annotations;
    throw error;
  }
}
