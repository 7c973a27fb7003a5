import { withCondition } from '@sheaf/api';
import type { Job, JobCondition, JobStatus } from '@sheaf/api/workload/index';
import { withStatus } from '../pods/changed-status.ts';
import { some } from '../pods/counts.ts';
import { formatIndexes } from './indexes.ts';
import { isIndexed } from './job-pod.ts';
import { type JobFacts, podsOf } from './plan.ts';
import { type Tally, tallyOf } from './tally.ts';
import { isFinished, type Verdict, verdictOf } from './verdict.ts';

type Claim = Omit<JobCondition, 'lastTransitionTime' | 'lastProbeTime'>;

/** The job with a status that is right; `undefined` if it has one. */
export function planJobStatus(facts: JobFacts, now: string): Job | undefined {
  const { job, nowMs } = facts;
  if (isFinished(job)) return undefined;
  const pods = podsOf(facts);
  const tally = tallyOf(job, pods);
  const verdict = verdictOf({ job, pods, tally, nowMs });
  const end = verdict && hasLetGo(tally) ? endOf(verdict) : undefined;
  const conditions = claimsOf(job, { verdict, end }).reduce<readonly JobCondition[]>(
    (list, claim) => withClaim(list, claim, now),
    job.status?.conditions ?? [],
  );
  return withStatus(job, {
    ...(conditions.length > 0 && { conditions }),
    ...startOf(job, now),
    ...(end?.type === 'Complete' && { completionTime: now }),
    ...countsOf(job, tally),
  });
}

/** It says when it was looked at last where something has changed. */
function withClaim(conditions: readonly JobCondition[], claim: Claim, now: string): readonly JobCondition[] {
  return withCondition(conditions, { ...claim, lastProbeTime: now } as Claim, now);
}

/** What the status of a job that has just begun, ended or been suspended is told with. */
export function changesOf(job: Job, next: Job): readonly JobCondition[] {
  const before = job.status?.conditions ?? [];
  const isNew = (condition: JobCondition): boolean =>
    !before.some(({ type, status }) => type === condition.type && status === condition.status);
  return (next.status?.conditions ?? []).filter(isNew);
}

/** No pod of it lives, and every end has been counted. */
function hasLetGo({ active, terminating, uncountedFailed, uncountedSucceeded }: Tally): boolean {
  return active.length + terminating + uncountedFailed.length + uncountedSucceeded.length === 0;
}

function endOf({ type, reason, message }: Verdict): Claim {
  return { type: type === 'FailureTarget' ? 'Failed' : 'Complete', status: 'True', reason, message };
}

function claimsOf(
  job: Job,
  { verdict, end }: { readonly verdict: Verdict | undefined; readonly end: Claim | undefined },
): readonly Claim[] {
  if (verdict) return [{ ...verdict, status: 'True' }, ...(end ? [end] : [])];
  const isSuspended = isTrue(job, 'Suspended');
  if (job.spec.suspend && !isSuspended)
    return [{ type: 'Suspended', status: 'True', reason: 'JobSuspended', message: 'Job suspended' }];
  if (!job.spec.suspend && isSuspended)
    return [{ type: 'Suspended', status: 'False', reason: 'JobResumed', message: 'Job resumed' }];
  return [];
}

function isTrue({ status }: Job, type: string): boolean {
  return (
    status?.conditions?.some((condition) => condition.type === type && condition.status === 'True') === true
  );
}

/** A job begins when it is first seen, and anew when it is resumed. */
function startOf(job: Job, now: string): { readonly startTime?: string } {
  if (job.spec.suspend) return {};
  const isResumed = isTrue(job, 'Suspended');
  return { startTime: isResumed ? now : (job.status?.startTime ?? now) };
}

function countsOf(job: Job, tally: Tally): JobStatus {
  const completed = formatIndexes(tally.completedIndexes);
  const failed = formatIndexes(tally.failedIndexes);
  return {
    ...some('active', tally.active.length),
    ...some('succeeded', tally.countedSucceeded),
    ...some('failed', tally.countedFailed),
    terminating: tally.terminating,
    ...(isIndexed(job) && completed !== '' && { completedIndexes: completed }),
    ...(job.spec.backoffLimitPerIndex !== undefined && { failedIndexes: failed }),
    uncountedTerminatedPods: {
      ...(tally.uncountedSucceeded.length > 0 && { succeeded: tally.uncountedSucceeded }),
      ...(tally.uncountedFailed.length > 0 && { failed: tally.uncountedFailed }),
    },
    ready: tally.ready,
  };
}
