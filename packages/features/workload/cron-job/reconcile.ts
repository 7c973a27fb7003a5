import type { CronJob, Job } from '@sheaf/api/workload/index';
import { type Clock, StatusError, toError } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import { again, done, type EventRecorder, type ObjectCache, type ReconcileResult } from '@sheaf/runtime';
import { type OwnedObjects, type Owner, referenceTo } from '../pods/owned-objects.ts';
import { recheck } from '../pods/recheck.ts';
import {
  type CronEvent,
  type CronJobFacts,
  type CronJobStep,
  endEvents,
  nextTurnInMs,
  planCronJob,
  planCronJobStatus,
} from './plan.ts';

export interface CronJobParts {
  readonly client: Client;
  readonly clock: Clock;
  readonly recorder: EventRecorder;
  readonly cronJobs: ObjectCache<CronJob>;
  readonly jobs: OwnedObjects<Job>;
}

/** One pass over a CronJob: one step, then its status. */
export async function reconcileCronJob(
  parts: CronJobParts,
  key: string,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const cronJob = parts.cronJobs.get(key);
  if (!cronJob) return done;
  const before = await readFacts(parts, cronJob, signal);
  const step = planCronJob(before);
  const dueMs = await takeStep(parts, { cronJob, step }, signal);
  const facts = await readFacts(parts, cronJob, signal);
  const next = planCronJobStatus(facts, dueMs);
  if (next) {
    await parts.client.updateStatus(resources.cronJobs, next, { signal });
    for (const event of endEvents(facts)) tell(parts, cronJob, event);
    return recheck(parts.jobs.doubtInMs);
  }
  return step.action === 'none' ? recheck(nextTurnInMs(facts), parts.jobs.doubtInMs) : again(0);
}

async function readFacts(
  { jobs, clock }: CronJobParts,
  cronJob: CronJob,
  signal: AbortSignal,
): Promise<CronJobFacts> {
  return { cronJob, jobs: await jobs.list(cronJob.metadata.namespace ?? '', signal), nowMs: clock.now() };
}

/** Resolves to the turn that has been taken. */
async function takeStep(
  parts: CronJobParts,
  { cronJob, step }: { readonly cronJob: CronJob; readonly step: CronJobStep },
  signal: AbortSignal,
): Promise<number | undefined> {
  switch (step.action) {
    case 'none':
      if (step.event) tell(parts, cronJob, step.event);
      return undefined;
    case 'create':
      await start(parts, { cronJob, job: step.job }, signal);
      return step.dueMs;
    case 'delete':
      for (const job of step.jobs) {
        await parts.jobs.delete(job, signal);
        tell(parts, cronJob, {
          type: 'Normal',
          reason: 'SuccessfulDelete',
          message: `Deleted job ${job.metadata.name}`,
        });
      }
      return undefined;
  }
}

async function start(
  parts: CronJobParts,
  { cronJob, job }: { readonly cronJob: CronJob; readonly job: Job },
  signal: AbortSignal,
): Promise<void> {
  const owner: Owner = { object: cronJob, resource: resources.cronJobs };
  const owned = { ...job, metadata: { ...job.metadata, ownerReferences: [referenceTo(owner)] } };
  try {
    await parts.jobs.create(owned, signal);
    tell(parts, cronJob, {
      type: 'Normal',
      reason: 'SuccessfulCreate',
      message: `Created job ${job.metadata.name}`,
    });
  } catch (error) {
    // An earlier pass took this turn, and ended before it could say so.
    if (StatusError.is(error, 'AlreadyExists')) return;
    tell(parts, cronJob, {
      type: 'Warning',
      reason: 'FailedCreate',
      message: `Error creating job: ${toError(error).message}`,
    });
    throw error;
  }
}

function tell({ recorder }: CronJobParts, { metadata }: CronJob, event: CronEvent): void {
  const { namespace = '', name = '', uid = '' } = metadata;
  recorder.record({ about: { resource: resources.cronJobs, namespace, name, uid }, ...event });
}
