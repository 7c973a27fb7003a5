import { identityOf } from '@sheaf/api';
import { resources } from '@sheaf/client';
import type { ContainerImage, ContainerImages, Containers, PodVolumes } from '@sheaf/ports';
import { EventRecorder, type Manager } from '@sheaf/runtime';
import { type DiskRoom, UnusedImages } from './image-collection.ts';
import { reconcileRoom } from './reconcile.ts';

export interface RoomHost {
  readonly nodeName: string;
  readonly containers: Containers;
  readonly images: ContainerImages;
  readonly volumes: PodVolumes;
  /** Of the file system that has images and pods; `undefined` where that cannot be told. */
  readonly disk: (signal: AbortSignal) => Promise<DiskRoom | undefined>;
  readonly isBundled: (image: ContainerImage) => boolean;
}

/** Keeps the disk of this node from running full: collects images, and ends pods that have too much on it. */
export function register(manager: Manager, host: RoomHost): void {
  const { client, clock, random, logger } = manager;
  const { nodeName } = host;
  const recorder = new EventRecorder({ client, clock, random, logger, component: 'kubelet' });
  const pods = manager.informer(resources.pods);
  const nodes = manager.informer(resources.nodes);
  const parts = {
    ...host,
    client,
    clock,
    logger,
    pods: () => pods.cache.list(),
    unused: new UnusedImages(),
    tellPod: (pod: Parameters<typeof identityOf>[0], reason: string, message: string): void =>
      recorder.record({
        about: { resource: resources.pods, ...identityOf(pod) },
        type: 'Warning',
        reason,
        message,
      }),
    tellNode(reason: string, message: string): void {
      const node = nodes.cache.get(nodeName);
      if (node)
        recorder.record({
          about: { resource: resources.nodes, ...identityOf(node), namespace: '' },
          type: 'Warning',
          reason,
          message,
        });
    },
  };
  manager
    .controller({
      name: 'room',
      reconcile: (_, signal) => reconcileRoom(parts, signal),
      ready: () => pods.synced(),
    })
    .queue.add('host');
}
