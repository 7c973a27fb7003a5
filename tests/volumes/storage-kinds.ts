import type { KubeObject } from '@sheaf/api';
import { customResourceDefinitions, kindDefinitions } from '@sheaf/api/virtualization/kind-definitions';
import { type Client, type ResourceRef, resources } from '@sheaf/client';

const kinds: readonly ResourceRef[] = [
  resources.volumeSnapshots,
  resources.volumeSnapshotContents,
  resources.volumeSnapshotClasses,
  resources.dataVolumes,
  resources.virtualMachineImages,
  resources.settings,
  resources.virtualMachines,
  resources.virtualMachineInstances,
];

/** Serves the kinds that the features of storage look at. */
export async function installStorageKinds(
  client: Client,
  until: (claim: () => Promise<boolean>) => Promise<void>,
): Promise<void> {
  const needed = new Set(kinds.map(({ plural, group }) => `${plural}.${group}`));
  const definitions = kindDefinitions().filter(({ name }) => needed.has(name));
  for (const definition of customResourceDefinitions(definitions))
    await client.create(resources.customResourceDefinitions, definition);
  await until(() => areServed(client));
}

async function areServed(client: Client): Promise<boolean> {
  try {
    for (const kind of kinds) await client.list<KubeObject>(kind);
    return true;
  } catch {
    return false;
  }
}
