import type { Job, Pod } from '@sheaf/api/workload/index';
import { resources } from '@sheaf/client';
import { EventRecorder, keyOf, type Manager, type ObjectCache, WrittenObjects } from '@sheaf/runtime';
import { OwnedPods } from '../pods/owned-pods.ts';
import { controllerKeys } from '../pods/owner-keys.ts';
import { controllerOf } from '../pods/ownership.ts';
import { isTracked, trackingFinalizer } from './job-pod.ts';
import { reconcileOrphanPod } from './orphan-pods.ts';
import { reconcileJob } from './reconcile.ts';

const concurrency = 4;

/** Runs pods until as many of them have succeeded as a Job asks for. */
export function register(manager: Manager): void {
  const { client, clock, random, logger } = manager;
  const recorder = new EventRecorder({ client, clock, random, logger, component: 'job-controller' });
  const jobs = manager.informer(resources.jobs);
  const pods = manager.informer(resources.pods);
  const parts = {
    client,
    clock,
    recorder,
    jobs: jobs.cache,
    written: new WrittenObjects({ client, clock, informer: jobs }),
    pods: new OwnedPods({ client, clock, recorder, pods, finalizer: trackingFinalizer }),
  };
  manager
    .controller({ name: 'job', concurrency, reconcile: (key, signal) => reconcileJob(parts, key, signal) })
    .watch(jobs)
    .watchMapped(pods, (pod) => controllerKeys(pod, { kind: 'Job', owners: jobs.cache }));
  const trackedPods = ({ metadata: { namespace, uid } }: Job): readonly string[] =>
    pods.cache
      .list(namespace)
      .filter((pod) => isTracked(pod) && controllerOf(pod)?.uid === uid)
      .map(keyOf);
  manager
    .controller({
      name: 'job-orphan-pods',
      concurrency,
      reconcile: (key, signal) => reconcileOrphanPod(parts, key, signal),
    })
    .watchMapped(jobs, trackedPods)
    .watchMapped(pods, (pod) => (isTracked(pod) && !isOfKnownJob(pod, jobs.cache) ? [keyOf(pod)] : []));
}

function isOfKnownJob(pod: Pod, jobs: ObjectCache<Job>): boolean {
  const controller = controllerOf(pod);
  return (
    controller !== undefined &&
    jobs.get(`${pod.metadata.namespace}/${controller.name}`)?.metadata.uid === controller.uid
  );
}
