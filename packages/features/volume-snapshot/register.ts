import type { ApiExtensions, KubeObject } from '@sheaf/api';
import { DisposableStore, StatusError } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import type { Hypervisor, MachineMemories, Volumes } from '@sheaf/ports';
import { done, EventRecorder, type Informer, keyOf, type Manager } from '@sheaf/runtime';
import { Freezes } from './frozen-guest.ts';
import { contentNamesOfMoment } from './moment.ts';
import { reconcileSnapshot } from './reconcile.ts';
import { reconcileContent } from './reconcile-content.ts';
import { snapshotRoutes } from './routes.ts';
import { usualSnapshotClasses } from './snapshot-objects.ts';

export interface SnapshotOptions {
  readonly volumes: Volumes;
  /** Machines go on in new files while what they have written so far is kept. */
  readonly hypervisor: Pick<Hypervisor, 'list' | 'switchDisks' | 'askAgent' | 'saveMemory'>;
  readonly memories: Pick<MachineMemories, 'list' | 'prepare' | 'keep'>;
}

const concurrency = 4;

/** Makes the usual snapshot classes where they are missing. */
export async function ensureSnapshotClasses(client: Client, signal?: AbortSignal): Promise<void> {
  const query = signal ? { signal } : {};
  for (const wanted of usualSnapshotClasses) {
    const name = wanted.metadata.name ?? '';
    if (await client.find(resources.volumeSnapshotClasses, { name }, signal)) continue;
    await client.create(resources.volumeSnapshotClasses, wanted, query).catch((error: unknown) => {
      if (!StatusError.is(error, 'AlreadyExists')) throw error;
    });
  }
}

/** Takes and removes snapshots of volumes. */
export function register(manager: Manager, options: SnapshotOptions): void {
  const { client, clock, random, logger } = manager;
  const recorder = new EventRecorder({ client, clock, random, logger, component: 'snapshot-controller' });
  const snapshots = manager.informer(resources.volumeSnapshots);
  const contents = manager.informer(resources.volumeSnapshotContents);
  const classes = manager.informer(resources.volumeSnapshotClasses);
  const claims = manager.informer(resources.persistentVolumeClaims);
  const volumes = manager.informer(resources.persistentVolumes);
  const instances = manager.informer(resources.virtualMachineInstances);
  const caches = {
    snapshots: snapshots.cache,
    contents: contents.cache,
    classes: classes.cache,
    claims: claims.cache,
    volumes: volumes.cache,
  };
  const unfinished = (): readonly string[] =>
    snapshots.cache
      .list()
      .filter(
        ({ status, metadata }) => status?.readyToUse !== true || metadata.deletionTimestamp !== undefined,
      )
      .map(keyOf);
  const loop = manager
    .controller({
      name: 'volume-snapshot',
      concurrency,
      reconcile: (key, signal) =>
        reconcileSnapshot({ client, clock, recorder, caches, volumes: options.volumes }, key, signal),
    })
    .watch(snapshots)
    .watchMapped(contents, ({ spec: { volumeSnapshotRef: ref } }) => [
      `${ref.namespace ?? ''}/${ref.name ?? ''}`,
    ]);
  for (const waitedFor of [classes, claims, volumes])
    loop.watchMapped(waitedFor as unknown as Informer<KubeObject>, unfinished);
  const parts = {
    ...options,
    client,
    clock,
    recorder,
    freezes: new Freezes(),
    contents: contents.cache,
    snapshots: snapshots.cache,
    instances: instances.cache,
  };
  const contentLoop = manager
    .controller({
      name: 'volume-snapshot-content',
      concurrency,
      reconcile: (key, signal) => reconcileContent(parts, key, signal),
    })
    .watch(contents)
    .watchMapped(contents, (content) => contentNamesOfMoment(content, parts))
    .watchMapped(instances, () => [])
    .watchMapped(snapshots, ({ status }) => [status?.boundVolumeSnapshotContentName ?? []].flat());
  const lifetime = new DisposableStore();
  lifetime.add(
    // What one snapshot of a volume has waited for may be the end of another.
    options.volumes.onChange((id) => {
      for (const content of contents.cache.list())
        if (content.spec.source.volumeHandle === id) contentLoop.queue.add(keyOf(content));
    }),
  );
  manager.add({ start: () => Promise.resolve(), stop: () => Promise.resolve(lifetime.dispose()) });
  const classLoop = manager
    .controller({
      name: 'volume-snapshot-class',
      async reconcile(_key, signal) {
        await ensureSnapshotClasses(client, signal);
        return done;
      },
    })
    .watchMapped(classes, () => ['usual']);
  classLoop.queue.add('usual');
}

/** The action on snapshots. */
export function extend(api: ApiExtensions, client: Client): void {
  for (const route of snapshotRoutes(client)) api.addRoute(route);
}
