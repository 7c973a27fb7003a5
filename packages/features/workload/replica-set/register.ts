import { resources } from '@sheaf/client';
import { EventRecorder, type Manager } from '@sheaf/runtime';
import { OwnedPods } from '../pods/owned-pods.ts';
import { controllerKeys } from '../pods/owner-keys.ts';
import { reconcileReplicaSet } from './reconcile.ts';

const concurrency = 4;

/** Keeps as many pods of one template as a ReplicaSet asks for. */
export function register(manager: Manager): void {
  const { client, clock, random, logger } = manager;
  const recorder = new EventRecorder({ client, clock, random, logger, component: 'replicaset-controller' });
  const sets = manager.informer(resources.replicaSets);
  const pods = manager.informer(resources.pods);
  const parts = { client, clock, sets: sets.cache, pods: new OwnedPods({ client, clock, recorder, pods }) };
  manager
    .controller({
      name: 'replica-set',
      concurrency,
      reconcile: (key, signal) => reconcileReplicaSet(parts, key, signal),
    })
    .watch(sets)
    .watchMapped(pods, (pod) => controllerKeys(pod, { kind: 'ReplicaSet', owners: sets.cache }));
}
