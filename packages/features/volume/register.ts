import type { KubeObject } from '@sheaf/api';
import type { PersistentVolumeClaim, VirtualMachineInstance } from '@sheaf/api/virtualization/index';
import { claimNamesOf as claimNamesOfPod, type Pod } from '@sheaf/api/workload/index';
import { DisposableStore } from '@sheaf/base';
import { resources } from '@sheaf/client';
import type { Hypervisor, Images, Volumes } from '@sheaf/ports';
import { EventRecorder, type Informer, keyOf, type Manager } from '@sheaf/runtime';
import { claimNamesOf } from './claim-users.ts';
import { copiedFor } from './copy-snapshot.ts';
import { reconcileClaim } from './reconcile.ts';
import { StorageKeeper } from './reconcile-storage.ts';
import { reconcileVolume } from './reconcile-volume.ts';

export { claimDisks } from './claim-disks.ts';
export { extend } from './extend.ts';
export { ensureStorage } from './reconcile-storage.ts';

export interface VolumeOptions {
  readonly volumes: Volumes;
  readonly images: Images;
  /** Machines let the files of their disks grow. */
  readonly hypervisor: Pick<Hypervisor, 'list' | 'resizeDisk'>;
}

const concurrency = 4;

/** Gives claims their volumes, lets them grow, and removes them with their claims. */
export function register(manager: Manager, options: VolumeOptions): void {
  const { client, clock, random, logger } = manager;
  const recorder = new EventRecorder({
    client,
    clock,
    random,
    logger,
    component: 'persistentvolume-controller',
  });
  const claims = manager.informer(resources.persistentVolumeClaims);
  const objects = manager.informer(resources.persistentVolumes);
  const classes = manager.informer(resources.storageClasses);
  const instances = manager.informer(resources.virtualMachineInstances);
  const pods = manager.informer(resources.pods);
  const images = manager.informer(resources.virtualMachineImages);
  const dataVolumes = manager.informer(resources.dataVolumes);
  const snapshots = manager.informer(resources.volumeSnapshots);
  const snapshotContents = manager.informer(resources.volumeSnapshotContents);
  const caches = {
    claims: claims.cache,
    volumes: objects.cache,
    classes: classes.cache,
    instances: instances.cache,
    pods: pods.cache,
    images: images.cache,
    dataVolumes: dataVolumes.cache,
    snapshots: snapshots.cache,
    snapshotContents: snapshotContents.cache,
  };
  const parts = { ...options, client, clock, recorder, caches };
  const pending = (): readonly string[] => claims.cache.list().filter(isPending).map(keyOf);
  const claimLoop = manager
    .controller({
      name: 'persistent-volume-claim',
      concurrency,
      reconcile: (key, signal) => reconcileClaim(parts, key, signal),
    })
    .watch(claims)
    .watchMapped(objects, ({ spec: { claimRef } }) =>
      claimRef ? [`${claimRef.namespace ?? ''}/${claimRef.name ?? ''}`] : pending(),
    )
    .watchMapped(instances, claimKeysOf)
    .watchMapped(pods, claimKeysOfPod);
  // A claim waits for few things, and few claims wait.
  for (const waitedFor of [classes, images, dataVolumes, snapshots, snapshotContents])
    claimLoop.watchMapped(waitedFor as unknown as Informer<KubeObject>, pending);
  claimLoop.watchMapped(snapshots, (snapshot) => [copiedFor(snapshot) ?? []].flat());
  claimLoop.watchMapped(claims, () => claims.cache.list().filter(isPending).filter(hasSource).map(keyOf));
  const volumeLoop = manager
    .controller({
      name: 'persistent-volume',
      concurrency,
      reconcile: (key, signal) =>
        reconcileVolume({ ...options, client, claims: claims.cache, objects: objects.cache }, key, signal),
    })
    .watch(objects)
    .watchMapped(claims, (claim) => volumeNamesOf(claim));
  const keeper = new StorageKeeper({ client, recorder, caches, volumes: options.volumes });
  const storageLoop = manager
    .controller({ name: 'storage', reconcile: (_key, signal) => keeper.reconcile(signal) })
    .watchMapped(classes, () => ['usual'])
    .watchMapped(claims, () => [])
    .watchMapped(objects, () => [])
    .watchMapped(images, () => [])
    .watchMapped(dataVolumes, () => [])
    .watchMapped(snapshots, () => [])
    .watchMapped(snapshotContents, () => []);
  storageLoop.queue.add('usual');
  const lifetime = new DisposableStore();
  lifetime.add(
    options.volumes.onChange((id) => {
      for (const claim of claims.cache.list())
        if (claim.metadata.uid === id) claimLoop.queue.add(keyOf(claim));
      for (const { metadata, spec } of objects.cache.list())
        if (spec.csi?.volumeHandle === id && metadata.name) volumeLoop.queue.add(metadata.name);
    }),
  );
  lifetime.add(
    options.images.onChange(() => {
      for (const key of pending()) claimLoop.queue.add(key);
    }),
  );
  manager.add({ start: () => Promise.resolve(), stop: () => Promise.resolve(lifetime.dispose()) });
}

function isPending({ status }: PersistentVolumeClaim): boolean {
  return status?.phase !== 'Bound';
}

function hasSource({ metadata, spec }: PersistentVolumeClaim): boolean {
  return (
    spec.dataSource !== undefined ||
    metadata.ownerReferences?.some(({ kind }) => kind === 'DataVolume') === true
  );
}

function claimKeysOf(instance: VirtualMachineInstance): readonly string[] {
  const { namespace = '' } = instance.metadata;
  return claimNamesOf(instance).map((name) => `${namespace}/${name}`);
}

function claimKeysOfPod(pod: Pod): readonly string[] {
  return claimNamesOfPod(pod).map((name) => `${pod.metadata.namespace ?? ''}/${name}`);
}

function volumeNamesOf({ metadata, spec }: PersistentVolumeClaim): readonly string[] {
  return [...new Set([spec.volumeName ?? '', `pvc-${metadata.uid ?? ''}`])].filter((name) => name !== '');
}
