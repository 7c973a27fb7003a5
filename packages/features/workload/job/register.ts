import { resources } from '@sheaf/client';
import { EventRecorder, type Manager } from '@sheaf/runtime';
import { OwnedPods } from '../pods/owned-pods.ts';
import { controllerKeys } from '../pods/owner-keys.ts';
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
    pods: new OwnedPods({ client, clock, recorder, pods }),
  };
  manager
    .controller({ name: 'job', concurrency, reconcile: (key, signal) => reconcileJob(parts, key, signal) })
    .watch(jobs)
    .watchMapped(pods, (pod) => controllerKeys(pod, { kind: 'Job', owners: jobs.cache }));
}
