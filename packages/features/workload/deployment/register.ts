import type { Pod, ReplicaSet } from '@sheaf/api/workload/index';
import { resources } from '@sheaf/client';
import { EventRecorder, type Manager } from '@sheaf/runtime';
import { OwnedObjects } from '../pods/owned-objects.ts';
import { controllerKeys } from '../pods/owner-keys.ts';
import { controllerOf } from '../pods/ownership.ts';
import { reconcileDeployment } from './reconcile.ts';

const concurrency = 4;

/** Brings the pods of a Deployment to its template, a few at a time. */
export function register(manager: Manager): void {
  const { client, clock, random, logger } = manager;
  const recorder = new EventRecorder({ client, clock, random, logger, component: 'deployment-controller' });
  const deployments = manager.informer(resources.deployments);
  const sets = manager.informer(resources.replicaSets);
  const pods = manager.informer(resources.pods);
  const parts = {
    client,
    clock,
    recorder,
    deployments: deployments.cache,
    sets: new OwnedObjects({ client, clock, informer: sets }),
    pods: pods.cache,
  };
  const keysOf = (set: ReplicaSet): readonly string[] =>
    controllerKeys(set, { kind: 'Deployment', owners: deployments.cache });
  manager
    .controller({
      name: 'deployment',
      concurrency,
      reconcile: (key, signal) => reconcileDeployment(parts, key, signal),
    })
    .watch(deployments)
    .watchMapped(sets, keysOf)
    // Who recreates waits for the end of pods.
    .watchMapped(pods, (pod) => {
      const set = setOf(pod);
      const known = set === undefined ? undefined : sets.cache.get(set);
      return known && deployments.cache.get(keysOf(known)[0] ?? '')?.spec.strategy?.type === 'Recreate'
        ? keysOf(known)
        : [];
    });
}

function setOf(pod: Pod): string | undefined {
  const controller = controllerOf(pod);
  return controller?.kind === 'ReplicaSet' ? `${pod.metadata.namespace}/${controller.name}` : undefined;
}
