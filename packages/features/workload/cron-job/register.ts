import { resources } from '@sheaf/client';
import { EventRecorder, type Manager } from '@sheaf/runtime';
import { OwnedObjects } from '../pods/owned-objects.ts';
import { controllerOf } from '../pods/ownership.ts';
import { reconcileCronJob } from './reconcile.ts';

/** Makes a Job whenever the schedule of a CronJob says so. */
export function register(manager: Manager): void {
  const { client, clock, random, logger } = manager;
  const recorder = new EventRecorder({ client, clock, random, logger, component: 'cronjob-controller' });
  const cronJobs = manager.informer(resources.cronJobs);
  const jobs = manager.informer(resources.jobs);
  const parts = {
    client,
    clock,
    recorder,
    cronJobs: cronJobs.cache,
    jobs: new OwnedObjects({ client, clock, informer: jobs }),
  };
  manager
    .controller({ name: 'cron-job', reconcile: (key, signal) => reconcileCronJob(parts, key, signal) })
    .watch(cronJobs)
    .watchMapped(jobs, (job) => {
      const controller = controllerOf(job);
      return controller?.kind === 'CronJob' ? [`${job.metadata.namespace}/${controller.name}`] : [];
    });
}
