import { isJsonObject } from '@sheaf/base';
import { type Client, type ResourceRef, resources } from '@sheaf/client';
import { type KeyedFiles, type SeedSources, seedObjectsOf } from './seed/seed-image.ts';
import type { VirtualMachineInstance } from './virtual-machine.ts';

/** Reads the Secrets and ConfigMaps that an instance's volumes are made from. */
export async function readSeeds(
  client: Client,
  instance: VirtualMachineInstance,
  signal: AbortSignal,
): Promise<SeedSources> {
  const objects = (instance.spec.volumes ?? []).map((volume) => seedObjectsOf(volume, instance));
  const read = (resource: ResourceRef, names: readonly string[]): Promise<ReadonlyMap<string, KeyedFiles>> =>
    readAll(client, { resource, names, namespace: instance.metadata.namespace ?? '' }, signal);
  return {
    secrets: await read(
      resources.secrets,
      objects.flatMap(({ secrets }) => secrets),
    ),
    configMaps: await read(
      resources.configMaps,
      objects.flatMap(({ configMaps }) => configMaps),
    ),
    serviceAccounts: new Map(),
  };
}

interface Wanted {
  readonly resource: ResourceRef;
  readonly names: readonly string[];
  readonly namespace: string;
}

async function readAll(
  client: Client,
  { resource, names, namespace }: Wanted,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, KeyedFiles>> {
  const found = new Map<string, KeyedFiles>();
  for (const name of new Set(names)) {
    const object = await client.find(resource, { namespace, name }, signal);
    if (object) found.set(name, valuesOf(object, resource.kind === 'Secret'));
  }
  return found;
}

/** Values of Secrets are in base64; those of ConfigMaps are texts, or base64 in `binaryData`. */
function valuesOf(object: Record<string, unknown>, isSecret: boolean): KeyedFiles {
  const files: Record<string, Uint8Array> = {};
  for (const [name, value] of entriesOf(object['data']))
    files[name] = Buffer.from(value, isSecret ? 'base64' : 'utf8');
  for (const [name, value] of entriesOf(object['binaryData'])) files[name] = Buffer.from(value, 'base64');
  return files;
}

function entriesOf(value: unknown): readonly (readonly [string, string])[] {
  if (!isJsonObject(value)) return [];
  return Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
}
