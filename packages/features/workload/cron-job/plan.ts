import type { CronJob, Job, ObjectReference } from '@sheaf/api/workload/index';
import { withStatus } from '../pods/changed-status.ts';
import { isControlledBy } from '../pods/ownership.ts';
import { readSchedule, type Schedule } from './schedule.ts';

export interface CronJobFacts {
  readonly cronJob: CronJob;
  /** All of its namespace. */
  readonly jobs: readonly Job[];
  readonly nowMs: number;
}

export interface CronEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

export type CronJobStep =
  | { readonly action: 'none'; readonly event?: CronEvent }
  /** Its turn at `dueMs` is taken, with or without a job. */
  | { readonly action: 'create'; readonly job: Job; readonly dueMs: number }
  | { readonly action: 'delete'; readonly jobs: readonly Job[] };

const none: CronJobStep = { action: 'none' };
const timeAnnotation = 'batch.kubernetes.io/cronjob-scheduled-timestamp';

/** The next step of a CronJob: its turn first, then what of its history goes. */
export function planCronJob(facts: CronJobFacts): CronJobStep {
  const { cronJob } = facts;
  if (cronJob.metadata.deletionTimestamp !== undefined) return none;
  const turn = planTurn(facts);
  if (turn.action !== 'none') return turn;
  const old = surplusJobs(facts);
  return old.length > 0 ? { action: 'delete', jobs: old } : turn;
}

/** How long until its next turn; `undefined` while it has none. */
export function nextTurnInMs({ cronJob, nowMs }: CronJobFacts): number | undefined {
  const schedule = scheduleOf(cronJob);
  if (!schedule || cronJob.spec.suspend) return undefined;
  const next = schedule.next(Math.max(lastTurn(cronJob), schedule.latest(lastTurn(cronJob), nowMs) ?? 0));
  return next === undefined ? undefined : Math.max(0, next - nowMs);
}

/** The CronJob with a status that is right; `undefined` if it has one. */
export function planCronJobStatus(
  { cronJob, jobs }: CronJobFacts,
  dueMs: number | undefined,
): CronJob | undefined {
  const own = jobs.filter((job) => isControlledBy(job, cronJob));
  const active = own.filter((job) => endOf(job) === undefined).map(referenceTo);
  const successes = own
    .filter((job) => endOf(job) === 'Complete')
    .map(({ status }) => status?.completionTime ?? '');
  const lastSuccess = [cronJob.status?.lastSuccessfulTime ?? '', ...successes].toSorted().at(-1);
  const lastTurnText = dueMs === undefined ? cronJob.status?.lastScheduleTime : timestamp(dueMs);
  return withStatus(cronJob, {
    ...(active.length > 0 && { active }),
    ...(lastTurnText !== undefined && { lastScheduleTime: lastTurnText }),
    ...(lastSuccess && { lastSuccessfulTime: lastSuccess }),
  });
}

/** What its users hear of jobs that are at work no more. */
export function endEvents({ cronJob, jobs }: CronJobFacts): readonly CronEvent[] {
  return (cronJob.status?.active ?? []).flatMap(({ uid, name }): CronEvent[] => {
    const job = jobs.find(({ metadata }) => metadata.uid === uid);
    if (!job) return [{ type: 'Normal', reason: 'MissingJob', message: `Active job went missing: ${name}` }];
    const end = endOf(job);
    const message = `Saw completed job: ${name}, condition: ${end}`;
    return end === undefined ? [] : [{ type: 'Normal', reason: 'SawCompletedJob', message }];
  });
}

function planTurn(facts: CronJobFacts): CronJobStep {
  const { cronJob, nowMs } = facts;
  const schedule = scheduleOf(cronJob);
  if (!schedule) return { action: 'none', event: unreadable(cronJob) };
  const dueMs = cronJob.spec.suspend ? undefined : dueTime(cronJob, schedule, nowMs);
  if (dueMs === undefined) return none;
  const { startingDeadlineSeconds: patience } = cronJob.spec;
  if (patience !== undefined && dueMs + patience * 1000 < nowMs)
    return {
      action: 'none',
      event: warning('MissSchedule', `Missed scheduled time to start a job: ${timestamp(dueMs)}`),
    };
  return planStart(facts, dueMs);
}

function planStart({ cronJob, jobs }: CronJobFacts, dueMs: number): CronJobStep {
  const active = jobs.filter((job) => isControlledBy(job, cronJob) && endOf(job) === undefined);
  const job = jobOf(cronJob, dueMs);
  if (jobs.some(({ metadata }) => metadata.name === job.metadata.name))
    return { action: 'create', job, dueMs };
  const { concurrencyPolicy } = cronJob.spec;
  if (active.length > 0 && concurrencyPolicy === 'Forbid')
    return {
      action: 'none',
      event: {
        type: 'Normal',
        reason: 'JobAlreadyActive',
        message: 'Not starting job because prior execution is running and concurrency policy is Forbid',
      },
    };
  const others = active.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  if (others.length > 0 && concurrencyPolicy === 'Replace') return { action: 'delete', jobs: others };
  return { action: 'create', job, dueMs };
}

/** The last turn that has come and has not been taken. */
function dueTime(cronJob: CronJob, schedule: Schedule, nowMs: number): number | undefined {
  return schedule.latest(lastTurn(cronJob), nowMs);
}

function lastTurn({ metadata, status }: CronJob): number {
  return Date.parse(status?.lastScheduleTime ?? metadata.creationTimestamp ?? '');
}

function scheduleOf({ spec }: CronJob): Schedule | undefined {
  return readSchedule(spec.schedule, spec.timeZone);
}

function unreadable({ spec }: CronJob): CronEvent {
  const zone = spec.timeZone === undefined ? '' : ` in time zone ${JSON.stringify(spec.timeZone)}`;
  return warning('UnparseableSchedule', `unparseable schedule: ${JSON.stringify(spec.schedule)}${zone}`);
}

function warning(reason: string, message: string): CronEvent {
  return { type: 'Warning', reason, message };
}

/** Named by its time: a turn that is taken twice makes no second job. */
function jobOf({ metadata, spec }: CronJob, dueMs: number): Job {
  const { namespace = '', name = '' } = metadata;
  const { metadata: template = {}, spec: work } = spec.jobTemplate;
  return {
    metadata: {
      namespace,
      name: `${name}-${Math.floor(dueMs / 60_000)}`,
      labels: { ...template.labels },
      annotations: { ...template.annotations, [timeAnnotation]: timestamp(dueMs) },
    },
    spec: work,
  };
}

function surplusJobs({ cronJob, jobs }: CronJobFacts): readonly Job[] {
  const { successfulJobsHistoryLimit: good = 3, failedJobsHistoryLimit: bad = 1 } = cronJob.spec;
  const own = jobs.filter(
    (job) => isControlledBy(job, cronJob) && job.metadata.deletionTimestamp === undefined,
  );
  const startOf = ({ metadata, status }: Job): string =>
    status?.startTime ?? metadata.creationTimestamp ?? '';
  const surplus = (end: string, limit: number): readonly Job[] => {
    const ended = own
      .filter((job) => endOf(job) === end)
      .toSorted((a, b) => startOf(a).localeCompare(startOf(b)));
    return ended.slice(0, Math.max(0, ended.length - limit));
  };
  return [...surplus('Complete', good), ...surplus('Failed', bad)];
}

function endOf({ status }: Job): 'Complete' | 'Failed' | undefined {
  const end = status?.conditions?.find(
    ({ type, status: is }) => (type === 'Complete' || type === 'Failed') && is === 'True',
  );
  return end?.type as 'Complete' | 'Failed' | undefined;
}

function referenceTo({ metadata }: Job): ObjectReference {
  const { namespace = '', name = '', uid = '', resourceVersion = '' } = metadata;
  return { apiVersion: 'batch/v1', kind: 'Job', namespace, name, uid, resourceVersion };
}

function timestamp(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;
}
