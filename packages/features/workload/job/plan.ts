import type { Job, Pod } from '@sheaf/api/workload/index';
import { claimsOf, isControlledBy } from '../pods/ownership.ts';
import { isActive } from '../pods/pod-state.ts';
import { parseIndexes } from './indexes.ts';
import {
  earlierFailures,
  finishedAt,
  hasFailed,
  hasSucceeded,
  indexedPodOrder,
  indexOf,
  isIndexed,
  isTracked,
  type JobPodOrder,
  podOrder,
  removalOrder,
} from './job-pod.ts';
import { isIgnored, type Tally, tallyOf } from './tally.ts';
import { deadlineInMs, finishedTime, isFinished, standing, verdictOf } from './verdict.ts';

export interface JobFacts {
  readonly job: Job;
  /** All of its namespace. */
  readonly pods: readonly Pod[];
  readonly nowMs: number;
}

export type JobStep =
  | { readonly action: 'none' }
  | { readonly action: 'adopt' | 'release'; readonly pods: readonly Pod[] }
  /** Their ends are noted: nothing keeps them any more. */
  | { readonly action: 'free'; readonly pods: readonly Pod[] }
  | { readonly action: 'create'; readonly orders: readonly JobPodOrder[] }
  | { readonly action: 'delete'; readonly pods: readonly Pod[] }
  /** Without counting them as failed. */
  | { readonly action: 'drop'; readonly pods: readonly Pod[] }
  | { readonly action: 'expire' };

const none: JobStep = { action: 'none' };
const burst = 500;
const firstBackoffMs = 10_000;
const longestBackoffMs = 600_000;

/** Pods of a job, wherever they stand. */
export function podsOf({ job, pods }: Pick<JobFacts, 'job' | 'pods'>): readonly Pod[] {
  return claimsOf(job, pods).owned;
}

/** The next step of a job. */
export function planJob(facts: JobFacts): JobStep {
  const { job, pods, nowMs } = facts;
  const { owned, orphans, strays } = claimsOf(job, pods);
  if (strays.length > 0) return { action: 'release', pods: strays };
  if (orphans.length > 0) return { action: 'adopt', pods: orphans };
  const isDeleted = job.metadata.deletionTimestamp !== undefined;
  const isOver = isFinished(job) || isDeleted;
  // A job that goes has no say in labels any more: a pod that has lost its own keeps it from going like the others.
  const counted = isDeleted ? pods.filter((pod) => isControlledBy(pod, job)) : owned;
  const free = counted.filter((pod) => isTracked(pod) && (isOver || isNoted(job, pod)));
  if (free.length > 0) return { action: 'free', pods: free };
  if (isFinished(job)) return expiryInMs(job, nowMs) === 0 ? { action: 'expire' } : none;
  if (isDeleted) return none;
  return planPods(facts, owned);
}

/** When it is deleted because it has been finished for long enough; `undefined` if it is not to be. */
export function expiryInMs({ metadata, spec, ...job }: Job, nowMs: number): number | undefined {
  const end = finishedTime({ metadata, spec, ...job });
  const seconds = spec.ttlSecondsAfterFinished;
  if (end === undefined || seconds === undefined || metadata.deletionTimestamp !== undefined)
    return undefined;
  return Math.max(0, end + seconds * 1000 - nowMs);
}

/** When time alone changes what is to be done. */
export function recheckInMs(facts: JobFacts): number | undefined {
  const { job, nowMs } = facts;
  const owned = podsOf(facts);
  const waits = isFinished(job)
    ? [expiryInMs(job, nowMs)]
    : [deadlineInMs(job, nowMs), backoffInMs(job, owned, nowMs), ...indexBackoffs(facts, owned)];
  const later = waits.filter((wait) => wait !== undefined && wait > 0) as number[];
  return later.length === 0 ? undefined : Math.min(...later);
}

/** The status knows of its end, or need not know. */
function isNoted(job: Job, pod: Pod): boolean {
  const uncounted = Object.values(job.status?.uncountedTerminatedPods ?? {}) as (readonly string[])[];
  if (uncounted.some((uids) => uids.includes(pod.metadata.uid ?? ''))) return true;
  if (hasFailed(pod, job)) return isIgnored(job, pod);
  if (!isIndexed(job) || !hasSucceeded(pod)) return false;
  return parseIndexes(job.status?.completedIndexes).has(indexOf(pod) ?? -1);
}

function planPods(facts: JobFacts, owned: readonly Pod[]): JobStep {
  const { job, nowMs } = facts;
  const tally = tallyOf(job, owned);
  if (verdictOf({ job, pods: owned, tally, nowMs })) return planEnd(job, tally);
  if (job.spec.suspend) return tally.active.length > 0 ? { action: 'drop', pods: tally.active } : none;
  // It begins when its status says that it has: deadlines count from there.
  if (job.status?.startTime === undefined) return none;
  // One that was let go of to be ended, by a job that was suspended for a moment, would work for nothing: its end counts no more.
  const condemned = tally.active.filter((pod) => !isTracked(pod));
  if (condemned.length > 0) return { action: 'drop', pods: condemned };
  return isIndexed(job) ? planIndexes(facts, owned, tally) : planCount(facts, owned, tally);
}

/** Pods are ended when the status says why; those of a job that fails, when they have been noted as failed and let go of. */
function planEnd(job: Job, { active }: Tally): JobStep {
  const verdict = standing(job);
  if (verdict?.type === 'SuccessCriteriaMet')
    return active.length > 0 ? { action: 'drop', pods: active } : none;
  const noted = verdict ? active.filter((pod) => !isTracked(pod)) : [];
  return noted.length > 0 ? { action: 'delete', pods: noted } : none;
}

function planCount({ job, nowMs }: JobFacts, owned: readonly Pod[], tally: Tally): JobStep {
  const { parallelism = 1, completions } = job.spec;
  const { active, succeeded } = tally;
  const open = completions === undefined ? parallelism : completions - succeeded;
  const isWindingDown = completions === undefined && succeeded > 0;
  const wanted = isWindingDown
    ? Math.min(active.length, parallelism)
    : Math.max(0, Math.min(open, parallelism));
  if (active.length > wanted)
    return { action: 'drop', pods: removalOrder(active).slice(0, active.length - wanted) };
  const missing = wanted - active.length - held(job, tally);
  if (missing <= 0 || backoffInMs(job, owned, nowMs) > 0) return none;
  return { action: 'create', orders: Array.from({ length: Math.min(missing, burst) }, () => podOrder(job)) };
}

/** Places that are not free before a pod that is being deleted has ended. */
function held({ spec }: Job, { terminating }: Tally): number {
  return spec.podReplacementPolicy === 'Failed' ? terminating : 0;
}

function planIndexes(facts: JobFacts, owned: readonly Pod[], tally: Tally): JobStep {
  const { job } = facts;
  const { parallelism = 1, completions = 0 } = job.spec;
  const surplus = surplusPods(tally, completions);
  if (surplus.length > 0) return { action: 'drop', pods: surplus };
  if (tally.active.length > parallelism)
    return { action: 'drop', pods: removalOrder(tally.active).slice(0, tally.active.length - parallelism) };
  const room = Math.min(parallelism - tally.active.length - held(job, tally), burst);
  const ready = openIndexes(facts, owned, tally).filter(
    (index) => indexBackoffInMs(facts, owned, index) === 0,
  );
  if (room <= 0 || ready.length === 0) return none;
  return {
    action: 'create',
    orders: ready
      .slice(0, room)
      .map((index) => indexedPodOrder(job, { index, failures: failuresOf(job, owned, index) })),
  };
}

/** A second pod of an index, one of an index that is done, and those beyond the last index. */
function surplusPods(
  { active, completedIndexes, failedIndexes }: Tally,
  completions: number,
): readonly Pod[] {
  const seen = new Set<number>();
  return active.filter((pod) => {
    const index = indexOf(pod);
    if (index === undefined || index >= completions || seen.has(index)) return true;
    seen.add(index);
    return completedIndexes.has(index) || failedIndexes.has(index);
  });
}

function openIndexes({ job }: JobFacts, owned: readonly Pod[], tally: Tally): readonly number[] {
  const isHeld = (pod: Pod): boolean =>
    isActive(pod) || (job.spec.podReplacementPolicy === 'Failed' && isLeaving(pod));
  const taken = new Set(owned.filter(isHeld).map(indexOf));
  const all = Array.from({ length: job.spec.completions ?? 0 }, (_, index) => index);
  return all.filter(
    (index) => !taken.has(index) && !tally.completedIndexes.has(index) && !tally.failedIndexes.has(index),
  );
}

function isLeaving({ metadata, status }: Pod): boolean {
  return (
    metadata.deletionTimestamp !== undefined && status?.phase !== 'Succeeded' && status?.phase !== 'Failed'
  );
}

/** How long the next pod waits after failures: 10 s, doubled with each of them since the last success. */
function backoffInMs(job: Job, owned: readonly Pod[], nowMs: number): number {
  if (job.spec.backoffLimitPerIndex !== undefined) return 0;
  const lastSuccess = Math.max(0, ...owned.filter(hasSucceeded).map(finishedAt));
  const failures = owned
    .filter((pod) => hasFailed(pod, job))
    .map(finishedAt)
    .filter((time) => time > lastSuccess);
  return restAfter(failures, nowMs);
}

function indexBackoffs(facts: JobFacts, owned: readonly Pod[]): readonly number[] {
  if (facts.job.spec.backoffLimitPerIndex === undefined) return [];
  return openIndexes(facts, owned, tallyOf(facts.job, owned)).map((index) =>
    indexBackoffInMs(facts, owned, index),
  );
}

function indexBackoffInMs({ job, nowMs }: JobFacts, owned: readonly Pod[], index: number): number {
  if (job.spec.backoffLimitPerIndex === undefined) return backoffInMs(job, owned, nowMs);
  const failed = owned.filter((pod) => indexOf(pod) === index && hasFailed(pod, job));
  return restAfter(failed.map(finishedAt), nowMs);
}

function restAfter(failures: readonly number[], nowMs: number): number {
  if (failures.length === 0) return 0;
  const rest = Math.min(longestBackoffMs, firstBackoffMs * 2 ** Math.min(failures.length - 1, 10));
  return Math.max(0, Math.max(...failures) + rest - nowMs);
}

function failuresOf(job: Job, owned: readonly Pod[], index: number): number {
  const failed = owned.filter((pod) => indexOf(pod) === index && hasFailed(pod, job));
  return Math.max(0, ...failed.map((pod) => earlierFailures(pod) + 1));
}
