import type { CronJob, Job, Pod } from '@sheaf/api/workload/index';
import { resources } from '@sheaf/client';
import { isDeleting, nameOf } from '../objects.ts';
import type { GoalFacts } from './goals.ts';
import { isActive, isOwnedBy } from './pod-facts.ts';
import { isFinished } from './write-safety.ts';

/** Turns come every two minutes. */
const turnMs = 120_000;
/** Users ask for no more pods at once. */
const mostParallel = 3;
/** How late a turn may be noted. */
const latenessMs = 5_000;

/** Each job has come to its end or says why not, and has counted every pod once; CronJobs keep their times. */
export function jobComplaints(facts: GoalFacts): readonly string[] {
  const { objects } = facts;
  return [
    ...objects
      .all(resources.jobs)
      .filter((job) => !isDeleting(job))
      .flatMap((job) => prefixed(nameOf(resources.jobs, job), jobComplaint(job, facts))),
    ...objects
      .all(resources.cronJobs)
      .filter((cronJob) => !isDeleting(cronJob))
      .flatMap((cronJob) => prefixed(nameOf(resources.cronJobs, cronJob), cronJobComplaint(cronJob, facts))),
  ];
}

function prefixed(name: string, complaint: string | undefined): readonly string[] {
  return complaint === undefined ? [] : [`${name} ${complaint}`];
}

function jobComplaint(job: Job, facts: GoalFacts): string | undefined {
  const pods = facts.objects.all(resources.pods).filter((pod) => isOwnedBy(pod, job));
  const active = pods.filter(isActive).length;
  const said = job.status?.active ?? 0;
  if (said !== active) return `says ${said} pods at work, and ${active} are`;
  return countComplaint(job, facts) ?? (isFinished(job) ? endComplaint(pods) : waitComplaint(job));
}

function endComplaint(pods: readonly Pod[]): string | undefined {
  const held = pods.find(({ metadata }) => metadata.finalizers?.includes('batch.kubernetes.io/job-tracking'));
  if (held) return `has ended and keeps ${held.metadata.name}`;
  return pods.some(isActive) ? 'has ended and has pods at work' : undefined;
}

function waitComplaint(job: Job): string | undefined {
  const { suspend, parallelism } = job.spec;
  if (suspend) return has(job, 'Suspended') ? undefined : 'is suspended and does not say so';
  return parallelism === 0 ? undefined : 'has not ended';
}

/** What it has counted is what has happened. */
function countComplaint(job: Job, facts: GoalFacts): string | undefined {
  if (!isFinished(job)) return undefined;
  const { completions = 1, completionMode } = job.spec;
  const { succeeded = 0 } = job.status ?? {};
  if (has(job, 'Complete') && succeeded < completions)
    return `is complete with ${succeeded} of ${completions}`;
  if (completionMode === 'Indexed' || isDisturbed(job, facts)) return undefined;
  return successComplaint(job, facts) ?? failureComplaint(job, facts);
}

function isDisturbed({ metadata }: Job, { users }: GoalFacts): boolean {
  return users.disturbedJobs.has(metadata.uid ?? '');
}

function successComplaint(job: Job, { safety }: GoalFacts): string | undefined {
  const { succeeded = 0 } = job.status ?? {};
  const { wanted, all } = safety.history.successesOf(job);
  if (succeeded > all) return `says ${succeeded} successes of ${all}`;
  const isShort = has(job, 'Complete') && succeeded < wanted;
  return isShort ? `has counted ${succeeded} successes of ${wanted}` : undefined;
}

/** Where requests come late, there may be pods that nobody knew of when they were asked for again. */
function failureComplaint({ spec, status }: Job, { safety }: GoalFacts): string | undefined {
  if (!safety.isExact) return undefined;
  const { backoffLimit = 6 } = spec;
  const { failed = 0 } = status ?? {};
  return failed > backoffLimit + 1 + mostParallel ? `says ${failed} failures of ${backoffLimit}` : undefined;
}

function has({ status }: Job, type: string): boolean {
  return status?.conditions?.some((each) => each.type === type && each.status === 'True') === true;
}

function cronJobComplaint(cronJob: CronJob, { objects, nowMs }: GoalFacts): string | undefined {
  const { status = {}, spec, metadata } = cronJob;
  const jobs = objects.all(resources.jobs).filter((job) => isOwnedBy(job, cronJob));
  const open = jobs.filter((job) => !isFinished(job)).map((job) => job.metadata.uid ?? '');
  const said = (status.active ?? []).map(({ uid = '' }) => uid);
  if (open.toSorted().join() !== said.toSorted().join())
    return `says ${said.length} jobs at work of ${open.length}`;
  const isHeld = spec.concurrencyPolicy === 'Forbid' && open.length > 0;
  if (spec.suspend || isHeld) return undefined;
  const last = Date.parse(status.lastScheduleTime ?? metadata.creationTimestamp ?? '');
  return nowMs - last > turnMs + latenessMs ? 'has missed its turn' : undefined;
}
