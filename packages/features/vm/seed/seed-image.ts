import type { Waiting } from '@sheaf/api';
import type { CloudInitSource, VolumeSpec } from '../instance-spec.ts';
import { systemUuidOf } from '../new-instance.ts';
import type { VirtualMachineInstance } from '../virtual-machine.ts';
import {
  type CloudInitData,
  configDriveFiles,
  configDriveLabel,
  noCloudFiles,
  noCloudLabel,
  publicKeysOf,
} from './cloud-init.ts';
import { downwardFilesOf } from './downward-fields.ts';
import { type ImageFiles, isoImage, unwritableNames } from './iso-image.ts';

/** The values of a ConfigMap or Secret. */
export type KeyedFiles = Readonly<Record<string, Uint8Array>>;

/** What seeds are made from; an object that is not there is not in the map. */
export interface SeedSources {
  readonly secrets: ReadonlyMap<string, KeyedFiles>;
  readonly configMaps: ReadonlyMap<string, KeyedFiles>;
  /** `ca.crt`, `namespace` and `token`, by the name of the account. */
  readonly serviceAccounts: ReadonlyMap<string, KeyedFiles>;
}

export type Seed =
  | { readonly state: 'ready'; readonly bytes: Uint8Array }
  | { readonly state: 'waiting'; readonly waiting: Waiting }
  /** The volume is no seed. */
  | { readonly state: 'none' };

const defaultLabel = 'cfgdata';
/** Where Windows looks for its answers. */
const sysprepLabel = 'unattendCD';

/** The image behind a volume that is made from objects of the API. */
export function seedOf(volume: VolumeSpec, instance: VirtualMachineInstance, sources: SeedSources): Seed {
  try {
    const found = contentsOf(volume, instance, sources);
    return found ? imageOf(found, instance) : { state: 'none' };
  } catch (error) {
    if (error instanceof SourceMissing) return { state: 'waiting', waiting: error.waiting };
    throw error;
  }
}

/** The objects that a volume's image is made from. */
export function seedObjectsOf(
  volume: VolumeSpec,
  instance: VirtualMachineInstance,
): { readonly secrets: readonly string[]; readonly configMaps: readonly string[] } {
  const { sysprep, secret, configMap } = volume;
  const secrets = [...cloudInitSecretsOf(volume, instance), sysprep?.secret?.name, secret?.secretName];
  const configMaps = [sysprep?.configMap?.name, configMap?.name];
  return { secrets: namesIn(secrets), configMaps: namesIn(configMaps) };
}

function cloudInitSecretsOf(
  volume: VolumeSpec,
  instance: VirtualMachineInstance,
): readonly (string | undefined)[] {
  const source = volume.cloudInitNoCloud ?? volume.cloudInitConfigDrive;
  if (!source) return [];
  return [source.secretRef?.name, source.networkDataSecretRef?.name, ...keySecretsOf(volume, instance)];
}

function namesIn(names: readonly (string | undefined)[]): readonly string[] {
  return names.flatMap((name) => (name === undefined || name === '' ? [] : [name]));
}

interface Contents {
  readonly label: string;
  readonly files: ImageFiles;
}

/** Ends the making of an image until an object is there. */
class SourceMissing extends Error {
  override readonly name = 'SourceMissing';
  readonly waiting: Waiting;

  constructor(waiting: Waiting) {
    super(waiting.text);
    this.waiting = waiting;
  }
}

function imageOf({ label, files }: Contents, { metadata }: VirtualMachineInstance): Seed {
  const unwritable = unwritableNames(files.keys());
  if (unwritable.length === 0) return { state: 'ready', bytes: isoImage(label, files) };
  const { namespace = '', name = '' } = metadata;
  return {
    state: 'waiting',
    waiting: {
      reason: 'FileNameUnwritable',
      text: `A disk cannot hold files of these names: ${unwritable.join(', ')}`,
      nature: 'fault',
      wayOut: 'give those keys names of at most 100 characters without * : ; ? and backslashes',
      object: { kind: 'VirtualMachineInstance', namespace, name },
    },
  };
}

function contentsOf(
  volume: VolumeSpec,
  instance: VirtualMachineInstance,
  sources: SeedSources,
): Contents | undefined {
  const { cloudInitNoCloud, cloudInitConfigDrive } = volume;
  const find = finderOf(instance, sources);
  if (cloudInitNoCloud) {
    const data = cloudInitData(volume, cloudInitNoCloud, { instance, find });
    return { label: noCloudLabel, files: noCloudFiles(data) };
  }
  if (cloudInitConfigDrive) {
    const data = cloudInitData(volume, cloudInitConfigDrive, { instance, find });
    return { label: configDriveLabel, files: configDriveFiles(data) };
  }
  return filesVolumeOf(volume, instance, find);
}

function filesVolumeOf(
  { sysprep, configMap, secret, serviceAccount, downwardAPI }: VolumeSpec,
  instance: VirtualMachineInstance,
  find: Finder,
): Contents | undefined {
  if (sysprep) return { label: sysprepLabel, files: sysprepFiles(sysprep, find) };
  if (configMap) return labelled(configMap, find('ConfigMap', configMap.name, configMap.optional === true));
  if (secret) return labelled(secret, find('Secret', secret.secretName, secret.optional === true));
  if (serviceAccount) return labelled({}, find('ServiceAccount', serviceAccount.serviceAccountName));
  if (downwardAPI) return labelled(downwardAPI, downwardFilesOf(downwardAPI.fields, instance));
  return undefined;
}

function sysprepFiles({ configMap, secret }: NonNullable<VolumeSpec['sysprep']>, find: Finder): ImageFiles {
  return toFiles(configMap ? find('ConfigMap', configMap.name) : find('Secret', secret?.name));
}

function labelled(
  { volumeLabel }: { readonly volumeLabel?: string | undefined },
  files: KeyedFiles,
): Contents {
  const label = volumeLabel === undefined || volumeLabel === '' ? defaultLabel : volumeLabel;
  return { label, files: toFiles(files) };
}

function toFiles(files: KeyedFiles): ImageFiles {
  return new Map(Object.entries(files));
}

type SourceKind = 'Secret' | 'ConfigMap' | 'ServiceAccount';
type Finder = (kind: SourceKind, name: string | undefined, isOptional?: boolean) => KeyedFiles;

function finderOf({ metadata }: VirtualMachineInstance, sources: SeedSources): Finder {
  const maps = {
    Secret: sources.secrets,
    ConfigMap: sources.configMaps,
    ServiceAccount: sources.serviceAccounts,
  };
  return (kind, name = '', isOptional = false) => {
    const found = maps[kind].get(name);
    if (found) return found;
    if (isOptional) return {};
    throw new SourceMissing({
      reason: 'ObjectNotFound',
      text: 'A disk is made from an object that is not there',
      nature: 'transient',
      object: { kind, namespace: metadata.namespace ?? '', name },
    });
  };
}

interface CloudInitContext {
  readonly instance: VirtualMachineInstance;
  readonly find: Finder;
}

function cloudInitData(
  volume: VolumeSpec,
  source: CloudInitSource,
  { instance, find }: CloudInitContext,
): CloudInitData {
  const { namespace = '', name = '' } = instance.metadata;
  const { userData, userDataBase64, secretRef, networkData, networkDataBase64, networkDataSecretRef } =
    source;
  const user = dataOf(
    { text: userData, base64: userDataBase64, ref: secretRef, keys: ['userdata', 'userData'] },
    find,
  );
  const network = dataOf(
    {
      text: networkData,
      base64: networkDataBase64,
      ref: networkDataSecretRef,
      keys: ['networkdata', 'networkData'],
    },
    find,
  );
  const keys = keySecretsOf(volume, instance).flatMap((secret) =>
    publicKeysOf(Object.values(find('Secret', secret))),
  );
  return {
    instanceId: `${name}.${namespace}`,
    hostname: instance.spec.hostname ?? hostnameOf(name),
    uuid: instance.spec.domain.firmware?.uuid ?? systemUuidOf(name),
    ...(user ? { userData: user } : {}),
    ...(network ? { networkData: network } : {}),
    publicKeys: [...new Set(keys)],
  };
}

/** A name of an object may be longer than a host's, and may have dots. */
function hostnameOf(name: string): string {
  return (name.split('.')[0] ?? '').slice(0, 63).replace(/-+$/, '');
}

interface DataSource {
  readonly text: string | undefined;
  readonly base64: string | undefined;
  readonly ref: { readonly name?: string | undefined } | undefined;
  readonly keys: readonly string[];
}

function dataOf({ text, base64, ref, keys }: DataSource, find: Finder): Uint8Array | undefined {
  if (text !== undefined && text !== '') return new TextEncoder().encode(text);
  if (base64 !== undefined && base64 !== '') return Buffer.from(base64, 'base64');
  if (ref?.name === undefined || ref.name === '') return undefined;
  const secret = find('Secret', ref.name);
  const key = keys.find((each) => Object.hasOwn(secret, each));
  return key === undefined ? undefined : secret[key];
}

/** The Secrets whose keys reach the guest by the way that this volume is. */
function keySecretsOf(volume: VolumeSpec, { spec }: VirtualMachineInstance): readonly string[] {
  const way = volume.cloudInitNoCloud ? 'noCloud' : 'configDrive';
  return (spec.accessCredentials ?? []).flatMap(({ sshPublicKey }) => {
    const name = sshPublicKey?.propagationMethod[way] ? sshPublicKey.source.secret?.secretName : undefined;
    return name === undefined ? [] : [name];
  });
}
