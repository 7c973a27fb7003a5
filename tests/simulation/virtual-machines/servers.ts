import { storageDriver } from '@sheaf/api/virtualization/index';
import { type Client, type ResourceRef, resources } from '@sheaf/client';
import { ensureStorage } from '@sheaf/features/volume';
import { ensureSnapshotClasses } from '@sheaf/features/volume-snapshot';
import type { Ground } from '../kept-servers.ts';
import { definitionsOfKinds, namespaceNames, servedKinds } from './kinds.ts';

/** What is there before there are machines. */
export const ground: Ground = { servedKinds, prepare };

async function prepare(client: Client): Promise<void> {
  for (const name of namespaceNames) await client.create(resources.namespaces, { metadata: { name } });
  for (const definition of definitionsOfKinds())
    await client.create(resources.customResourceDefinitions, definition);
  await ensureStorage(client);
  await ensureSnapshotClasses(client);
  const driver = { provisioner: storageDriver, allowVolumeExpansion: true };
  const classes = resources.storageClasses as ResourceRef;
  await client.create(classes, { metadata: { name: 'kept' }, ...driver, reclaimPolicy: 'Retain' });
  const parameters = { 'sheaf.dev/provisioning': 'full' };
  await client.create(classes, { metadata: { name: 'full' }, ...driver, parameters });
}
