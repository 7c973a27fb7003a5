import type { ApiExtensions } from '@sheaf/api';
import type { Clock, Random } from '@sheaf/base';
import type { Client } from '@sheaf/client';
import { extend as extendByDataVolumes, register as registerDataVolume } from '@sheaf/features/data-volume';
import {
  extend as extendByUploads,
  register as registerUploads,
  type UploadOptions,
} from '@sheaf/features/upload';
import { extend as extendByImages, register as registerImage } from '@sheaf/features/vm-image';
import { ensureStorage, extend as extendByVolumes, register as registerVolume } from '@sheaf/features/volume';
import {
  ensureSnapshotClasses,
  extend as extendBySnapshots,
  register as registerSnapshot,
} from '@sheaf/features/volume-snapshot';
import type { Manager } from '@sheaf/runtime';
import { type Bound, installBounded } from './install-bounded.ts';
import type { MachineHost } from './machine-host.ts';

interface StorageSurroundings {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly host: Pick<MachineHost, 'images' | 'uploads'>;
}

/** The rules and requests of volumes, images and snapshots. */
export function extendByStorage(api: ApiExtensions, { host, ...surroundings }: StorageSurroundings): void {
  const { client } = surroundings;
  const { images, uploads } = host;
  extendByVolumes(api, client);
  extendByImages(api, { ...surroundings, images, uploads });
  extendByUploads(api, { ...surroundings, images, uploads });
  extendByDataVolumes(api);
  extendBySnapshots(api, client);
}

/** The controllers of volumes, images and snapshots, with the disks of the host as their world. */
export function registerStorageControllers(
  manager: Manager,
  { host, address }: { readonly host: MachineHost; readonly address: UploadOptions['address'] },
): void {
  const { volumes, memories, images, uploads, hypervisor, containerDisks: containers } = host;
  registerVolume(manager, { volumes, images, hypervisor });
  registerImage(manager, { images, uploads });
  registerDataVolume(manager, { images, containers });
  registerUploads(manager, { images, address });
  registerSnapshot(manager, { volumes, hypervisor, memories });
}

/** The classes of volumes and snapshots that are missing, so that a claim which comes with the first request finds the default one. */
export async function installStorage(client: Client, bound: Bound): Promise<void> {
  await installBounded(bound, 'storage classes', async (signal) => {
    await ensureStorage(client, signal);
    await ensureSnapshotClasses(client, signal);
  });
}
