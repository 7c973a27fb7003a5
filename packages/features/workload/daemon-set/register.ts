import { resources } from '@sheaf/client';
import { EventRecorder, keyOf, type Manager } from '@sheaf/runtime';
import { OwnedObjects } from '../pods/owned-objects.ts';
import { OwnedPods } from '../pods/owned-pods.ts';
import { controllerKeys } from '../pods/owner-keys.ts';
import { RevisionHistory } from '../pods/revision-history.ts';
import { reconcileDaemonSet } from './reconcile.ts';
import { RestAfterFailure } from './rest-after-failure.ts';

/** Keeps a pod on each node that a DaemonSet means. */
export function register(manager: Manager): void {
  const { client, clock, random, logger } = manager;
  const recorder = new EventRecorder({ client, clock, random, logger, component: 'daemonset-controller' });
  const sets = manager.informer(resources.daemonSets);
  const pods = manager.informer(resources.pods);
  const nodes = manager.informer(resources.nodes);
  const revisions = manager.informer(resources.controllerRevisions);
  const parts = {
    client,
    clock,
    recorder,
    sets: sets.cache,
    nodes: nodes.cache,
    pods: new OwnedPods({ client, clock, recorder, pods }),
    history: new RevisionHistory(new OwnedObjects({ client, clock, informer: revisions })),
    rests: new RestAfterFailure(clock),
  };
  const mine = { kind: 'DaemonSet', owners: sets.cache };
  manager
    .controller({ name: 'daemon-set', reconcile: (key, signal) => reconcileDaemonSet(parts, key, signal) })
    .watch(sets)
    .watchMapped(pods, (pod) => controllerKeys(pod, mine))
    .watchMapped(revisions, (revision) => controllerKeys(revision, mine))
    .watchMapped(nodes, () => sets.cache.list().map(keyOf));
}
