import type { Job, Pod } from '@sheaf/api/workload/index';
import { isReady } from '../pods/pod-state.ts';
import { judgeFailure } from './failure-policy.ts';
import { parseIndexes } from './indexes.ts';
import { earlierFailures, hasFailed, hasSucceeded, indexOf, isIndexed, isTracked } from './job-pod.ts';
import { standing } from './verdict.ts';

/** How a job stands: what has been counted, and what its pods add to it. */
export interface Tally {
  /** Neither at their end nor being deleted. */
  readonly active: readonly Pod[];
  readonly terminating: number;
  readonly ready: number;
  readonly succeeded: number;
  readonly failed: number;
  /** Ends that are noted in the status as not counted yet, by pod UID. */
  readonly uncountedSucceeded: readonly string[];
  readonly uncountedFailed: readonly string[];
  /** Without those. */
  readonly countedSucceeded: number;
  readonly countedFailed: number;
  readonly completedIndexes: ReadonlySet<number>;
  readonly failedIndexes: ReadonlySet<number>;
}

/** `pods` are those of the job. */
export function tallyOf(job: Job, pods: readonly Pod[]): Tally {
  const live = pods.filter(isLive);
  const active = live.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const noted = job.status?.uncountedTerminatedPods;
  const isFailing = standing(job)?.type === 'FailureTarget';
  // Each end is counted once: what has been noted stays, whatever the pod says later.
  const failed = settle(noted?.failed, pods, (pod) => {
    const isFailure = hasFailed(pod, job) || (isFailing && isLive(pod));
    return isFailure && !isIgnored(job, pod) && !isAmong(noted?.succeeded, pod);
  });
  const succeeded = settle(
    noted?.succeeded,
    pods,
    (pod) => hasSucceeded(pod) && !isAmong(noted?.failed, pod),
  );
  const countedFailed = (job.status?.failed ?? 0) + failed.counted;
  const completedIndexes = completedOf(job, pods);
  return {
    active,
    terminating: live.length - active.length,
    ready: active.filter(isReady).length,
    ...successOf(job, completedIndexes, succeeded),
    uncountedFailed: failed.uncounted,
    countedFailed,
    failed: countedFailed + failed.uncounted.length,
    completedIndexes,
    failedIndexes: failedOf(job, pods, completedIndexes),
  };
}

function isAmong(uids: readonly string[] = [], { metadata }: Pod): boolean {
  return uids.includes(metadata.uid ?? '');
}

/** A failure that the policy does not count. */
export function isIgnored(job: Job, pod: Pod): boolean {
  return judgeFailure(job, pod).action === 'Ignore';
}

/** Indexes count, not pods, where there are indexes. */
function successOf(
  job: Job,
  completed: ReadonlySet<number>,
  { counted, uncounted }: Settled,
): Pick<Tally, 'succeeded' | 'countedSucceeded' | 'uncountedSucceeded'> {
  if (isIndexed(job))
    return { succeeded: completed.size, countedSucceeded: completed.size, uncountedSucceeded: [] };
  const countedSucceeded = (job.status?.succeeded ?? 0) + counted;
  return {
    succeeded: countedSucceeded + uncounted.length,
    countedSucceeded,
    uncountedSucceeded: uncounted,
  };
}

interface Settled {
  readonly counted: number;
  readonly uncounted: readonly string[];
}

function isLive({ status }: Pod): boolean {
  return status?.phase !== 'Succeeded' && status?.phase !== 'Failed';
}

/** What was noted and whose pod has been let go of since is counted; what is new is noted. */
function settle(noted: readonly string[] = [], pods: readonly Pod[], isEnd: (pod: Pod) => boolean): Settled {
  const tracked = new Set(pods.filter(isTracked).map(({ metadata }) => metadata.uid ?? ''));
  const open = noted.filter((uid) => tracked.has(uid));
  const ended = pods.filter((pod) => isTracked(pod) && isEnd(pod)).map(({ metadata }) => metadata.uid ?? '');
  return {
    counted: noted.length - open.length,
    uncounted: [...open, ...ended.filter((uid) => !open.includes(uid))],
  };
}

function completedOf(job: Job, pods: readonly Pod[]): ReadonlySet<number> {
  const indexes = new Set(parseIndexes(job.status?.completedIndexes));
  if (!isIndexed(job)) return indexes;
  const { completions = 0 } = job.spec;
  const failed = job.status?.uncountedTerminatedPods?.failed;
  for (const pod of pods.filter((each) => isTracked(each) && hasSucceeded(each) && !isAmong(failed, each))) {
    const index = indexOf(pod);
    if (index !== undefined && index < completions) indexes.add(index);
  }
  return new Set([...indexes].filter((index) => index < completions));
}

function failedOf(job: Job, pods: readonly Pod[], completed: ReadonlySet<number>): ReadonlySet<number> {
  const { backoffLimitPerIndex: limit, completions = 0 } = job.spec;
  const indexes = new Set(parseIndexes(job.status?.failedIndexes));
  if (limit === undefined) return indexes;
  const isOver = (pod: Pod): boolean => {
    const { action } = judgeFailure(job, pod);
    return action === 'FailIndex' || (action === 'Count' && earlierFailures(pod) >= limit);
  };
  for (const pod of pods.filter((each) => hasFailed(each, job) && isOver(each))) {
    const index = indexOf(pod) ?? completions;
    if (index < completions && !completed.has(index)) indexes.add(index);
  }
  return indexes;
}
