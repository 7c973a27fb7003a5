import type { ImageFiles } from './iso-image.ts';

/** What a guest's cloud-init is given. */
export interface CloudInitData {
  /** Changes with the machine, not with its starts: cloud-init does its first-boot work once for each value. */
  readonly instanceId: string;
  readonly hostname: string;
  readonly uuid?: string;
  readonly userData?: Uint8Array;
  readonly networkData?: Uint8Array;
  readonly publicKeys: readonly string[];
}

export const noCloudLabel = 'cidata';
export const configDriveLabel = 'config-2';

/** The files of the NoCloud data source. */
export function noCloudFiles(data: CloudInitData): ImageFiles {
  const metaData = {
    'instance-id': data.instanceId,
    'local-hostname': data.hostname,
    ...(data.publicKeys.length > 0 ? { 'public-keys': numbered(data.publicKeys) } : {}),
  };
  const files = new Map([
    ['meta-data', json(metaData)],
    ['user-data', data.userData ?? new Uint8Array()],
  ]);
  if (data.networkData) files.set('network-config', data.networkData);
  return files;
}

/** The files of the ConfigDrive data source, version 2. */
export function configDriveFiles(data: CloudInitData): ImageFiles {
  const metaData = {
    instance_id: data.instanceId,
    local_hostname: data.hostname,
    hostname: data.hostname,
    uuid: data.uuid ?? data.instanceId,
    ...(data.publicKeys.length > 0 ? { public_keys: numbered(data.publicKeys) } : {}),
  };
  const files = new Map([['openstack/latest/meta_data.json', json(metaData)]]);
  if (data.userData) files.set('openstack/latest/user_data', data.userData);
  if (data.networkData) files.set('openstack/latest/network_data.json', data.networkData);
  return files;
}

/** The keys in the values of a Secret: one a line, blank lines and comments apart; each key once. */
export function publicKeysOf(values: Iterable<Uint8Array>): readonly string[] {
  const lines = [...values].flatMap((value) => new TextDecoder().decode(value).split(/\r?\n/));
  const keys = lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'));
  return [...new Set(keys)];
}

function numbered(keys: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(keys.map((key, index) => [String(index), key]));
}

function json(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}
