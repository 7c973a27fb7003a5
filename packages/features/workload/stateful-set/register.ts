import { resources } from '@sheaf/client';
import { EventRecorder, type Manager } from '@sheaf/runtime';
import { OwnedObjects } from '../pods/owned-objects.ts';
import { OwnedPods } from '../pods/owned-pods.ts';
import { controllerKeys } from '../pods/owner-keys.ts';
import { RevisionHistory } from '../pods/revision-history.ts';
import { reconcileStatefulSet } from './reconcile.ts';

const concurrency = 4;

/** Keeps pods that have a name and volumes of their own, one after the other. */
export function register(manager: Manager): void {
  const { client, clock, random, logger } = manager;
  const recorder = new EventRecorder({ client, clock, random, logger, component: 'statefulset-controller' });
  const sets = manager.informer(resources.statefulSets);
  const pods = manager.informer(resources.pods);
  const revisions = manager.informer(resources.controllerRevisions);
  const claims = manager.informer(resources.persistentVolumeClaims);
  const parts = {
    client,
    clock,
    recorder,
    sets: sets.cache,
    pods: new OwnedPods({ client, clock, recorder, pods }),
    history: new RevisionHistory(new OwnedObjects({ client, clock, informer: revisions })),
    claims: claims.cache,
  };
  const mine = { kind: 'StatefulSet', owners: sets.cache };
  manager
    .controller({
      name: 'stateful-set',
      concurrency,
      reconcile: (key, signal) => reconcileStatefulSet(parts, key, signal),
    })
    .watch(sets)
    .watchMapped(pods, (pod) => controllerKeys(pod, mine))
    .watchMapped(revisions, (revision) => controllerKeys(revision, mine))
    .watchMapped(claims, (claim) => controllerKeys(claim, mine));
}
