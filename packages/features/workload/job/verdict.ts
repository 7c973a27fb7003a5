import type { Job, JobCondition, Pod } from '@sheaf/api/workload/index';
import { judgeFailure } from './failure-policy.ts';
import { parseIndexes } from './indexes.ts';
import { hasFailed, restartSum } from './job-pod.ts';
import type { Tally } from './tally.ts';

/** How a job ends: first it lets its pods go, then it is `Complete` or `Failed` with the same reason. */
export interface Verdict {
  readonly type: 'SuccessCriteriaMet' | 'FailureTarget';
  readonly reason: string;
  readonly message: string;
}

export interface VerdictFacts {
  readonly job: Job;
  readonly pods: readonly Pod[];
  readonly tally: Tally;
  readonly nowMs: number;
}

/** The verdict that stands, or comes now; `undefined` while the job goes on. */
export function verdictOf(facts: VerdictFacts): Verdict | undefined {
  return standing(facts.job) ?? rules.map((rule) => rule(facts)).find((verdict) => verdict !== undefined);
}

export function isFinished({ status }: Job): boolean {
  return status?.conditions?.some(({ type, status: is }) => isTerminal(type) && is === 'True') === true;
}

/** Milliseconds since 1970; `undefined` unless it is finished. */
export function finishedTime({ status }: Job): number | undefined {
  const end = status?.conditions?.find(({ type, status: is }) => isTerminal(type) && is === 'True');
  return end && Date.parse(end.lastTransitionTime ?? '');
}

/** How long until its deadline; `undefined` without one. */
export function deadlineInMs({ spec, status }: Job, nowMs: number): number | undefined {
  const { activeDeadlineSeconds: seconds, suspend } = spec;
  if (seconds === undefined || suspend || status?.startTime === undefined) return undefined;
  return Math.max(0, Date.parse(status.startTime) + seconds * 1000 - nowMs);
}

function isTerminal(type: string): boolean {
  return type === 'Complete' || type === 'Failed';
}

/** The verdict that its status tells. */
export function standing({ status }: Job): Verdict | undefined {
  const found = status?.conditions?.find(isVerdict);
  return found && { type: found.type, reason: found.reason ?? '', message: found.message ?? '' };
}

function isVerdict(condition: JobCondition): condition is JobCondition & { readonly type: Verdict['type'] } {
  const { type, status } = condition;
  return (type === 'SuccessCriteriaMet' || type === 'FailureTarget') && status === 'True';
}

function failure(reason: string, message: string): Verdict {
  return { type: 'FailureTarget', reason, message };
}

/** The first that applies. */
const rules: readonly ((facts: VerdictFacts) => Verdict | undefined)[] = [
  ({ job, pods }) => {
    const judged = pods.filter((pod) => hasFailed(pod, job)).map((pod) => judgeFailure(job, pod));
    const fatal = judged.find(({ action }) => action === 'FailJob');
    return fatal && failure('PodFailurePolicy', fatal.message);
  },
  ({ job, tally }) => {
    const position = (job.spec.successPolicy?.rules ?? []).findIndex((rule) => isMet(rule, tally));
    const message = `Matched rules at index ${position}`;
    return position < 0 ? undefined : { type: 'SuccessCriteriaMet', reason: 'SuccessPolicy', message };
  },
  ({ job, pods, tally }) =>
    tally.failed > (job.spec.backoffLimit ?? 6) || restartedTooOften(job, pods)
      ? failure('BackoffLimitExceeded', 'Job has reached the specified backoff limit')
      : undefined,
  ({ job, nowMs }) =>
    deadlineInMs(job, nowMs) === 0
      ? failure('DeadlineExceeded', 'Job was active longer than specified deadline')
      : undefined,
  ({ job, tally }) =>
    tally.failedIndexes.size > (job.spec.maxFailedIndexes ?? Number.POSITIVE_INFINITY)
      ? failure('MaxFailedIndexesExceeded', 'Job has exceeded the specified maximal number of failed indexes')
      : undefined,
  ({ job, tally }) =>
    tally.failedIndexes.size > 0 &&
    tally.failedIndexes.size + tally.completedIndexes.size >= (job.spec.completions ?? 0)
      ? failure('FailedIndexes', 'Job has failed indexes')
      : undefined,
  ({ job, tally }) =>
    isComplete(job, tally)
      ? {
          type: 'SuccessCriteriaMet',
          reason: 'CompletionsReached',
          message: 'Reached expected number of succeeded pods',
        }
      : undefined,
];

/** A job without a number of completions is complete when one pod has succeeded and none works any more. */
function isComplete({ spec }: Job, { succeeded, active }: Tally): boolean {
  if (spec.completions === undefined) return succeeded > 0 && active.length === 0;
  return succeeded >= spec.completions;
}

function isMet(
  {
    succeededIndexes,
    succeededCount,
  }: { readonly succeededIndexes?: string; readonly succeededCount?: number },
  { completedIndexes }: Tally,
): boolean {
  const wanted = succeededIndexes === undefined ? undefined : parseIndexes(succeededIndexes);
  const met = [...completedIndexes].filter((index) => wanted === undefined || wanted.has(index));
  return met.length >= (succeededCount ?? wanted?.size ?? Number.POSITIVE_INFINITY);
}

/** Containers that restart in their pods count like pods that fail. */
function restartedTooOften(job: Job, pods: readonly Pod[]): boolean {
  const { backoffLimit = 6, template } = job.spec;
  if (template.spec.restartPolicy !== 'OnFailure') return false;
  const live = pods.filter(({ status }) => status?.phase === 'Running' || status?.phase === 'Pending');
  const restarts = live.reduce((sum, pod) => sum + restartSum(pod), 0);
  return backoffLimit === 0 ? restarts > 0 : restarts >= backoffLimit;
}
