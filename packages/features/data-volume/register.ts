import type { ApiExtensions } from '@sheaf/api';
import { type DataVolume } from '@sheaf/api/virtualization/index';
import { DisposableStore } from '@sheaf/base';
import { resources } from '@sheaf/client';
import type { ContainerDisks, Images } from '@sheaf/ports';
import { EventRecorder, keyOf, type Manager } from '@sheaf/runtime';
import { dataVolumeRule } from './admission.ts';
import { reconcileDataVolume } from './reconcile.ts';

const concurrency = 4;

export interface DataVolumeOptions {
  readonly images: Images;
  /** Disks in container images; absent: this host has none. */
  readonly containers?: ContainerDisks;
}

/** Fetches what data volumes name, and makes their claims. */
export function register(manager: Manager, { images, containers }: DataVolumeOptions): void {
  const { client, clock, random, logger } = manager;
  const recorder = new EventRecorder({
    client,
    clock,
    random,
    logger,
    component: 'datavolume-import-controller',
  });
  const dataVolumes = manager.informer(resources.dataVolumes);
  const claims = manager.informer(resources.persistentVolumeClaims);
  const volumes = manager.informer(resources.persistentVolumes);
  const snapshots = manager.informer(resources.volumeSnapshots);
  const parts = {
    client,
    clock,
    recorder,
    images,
    containers,
    dataVolumes: dataVolumes.cache,
    claims: claims.cache,
    volumes: volumes.cache,
    snapshots: snapshots.cache,
  };
  const loop = manager
    .controller({
      name: 'data-volume',
      concurrency,
      reconcile: (key, signal) => reconcileDataVolume(parts, key, signal),
    })
    .watch(dataVolumes)
    .watch(claims)
    // What has no size of its own waits for that of its source; what is deleted for the volume that takes its image along.
    .watchMapped(snapshots, () => dataVolumes.cache.list().filter(isUnfinished).map(keyOf))
    .watchMapped(volumes, () => dataVolumes.cache.list().filter(isUnfinished).map(keyOf));
  const lifetime = new DisposableStore();
  lifetime.add(
    images.onChange((id) => {
      for (const dataVolume of dataVolumes.cache.list())
        if (dataVolume.metadata.uid === id) loop.queue.add(keyOf(dataVolume));
    }),
  );
  if (containers)
    lifetime.add(
      containers.onChange((reference) => {
        for (const dataVolume of dataVolumes.cache.list())
          if (dataVolume.spec.source?.registry?.url?.endsWith(reference)) loop.queue.add(keyOf(dataVolume));
      }),
    );
  manager.add({ start: () => Promise.resolve(), stop: () => Promise.resolve(lifetime.dispose()) });
}

function isUnfinished({ metadata, status }: DataVolume): boolean {
  return metadata.deletionTimestamp !== undefined || status?.phase !== 'Succeeded';
}

/** What is refused of data volumes. */
export function extend(api: ApiExtensions): void {
  api.addAdmission(dataVolumeRule);
}
