import { type Waiting, waitingCondition } from '@sheaf/api';
import type { HelmChart } from '@sheaf/api/virtualization/index';
import type { Job, Pod } from '@sheaf/api/workload/index';
import { definitionsWords, helmFailures, readDefinitionsWords } from '@sheaf/ports';
import { namesOf } from './chart-names.ts';
import { isAlive, podsOf, stateOf } from './operation-state.ts';
import type { ChartFacts, ChartStep } from './plan.ts';

type ChartCondition = NonNullable<NonNullable<HelmChart['status']>['conditions']>[number];

/** The chart with what is to be seen of it; `undefined` if it says so already. */
export function planChartStatus(
  { chart, jobs, pods, hooks = [] }: ChartFacts,
  step: ChartStep,
): HelmChart | undefined {
  const { installJob, deleteJob } = namesOf(chart);
  const isRemoved = chart.metadata.deletionTimestamp !== undefined;
  const jobName = isRemoved ? deleteJob : installJob;
  const job = jobs.find(({ metadata }) => metadata.name === jobName);
  const waiting = waitingOf(chart, job, 'waiting' in step ? step.waiting : undefined);
  const isBegun = job !== undefined || step.action === 'begin';
  const claims = [
    ...(isBegun ? [createdClaim(chart, jobName)] : []),
    failedClaim(job, waiting),
    deployedClaim({ job, waiting, isRemoved, pods, hooks, before: deployedBefore(chart) }),
  ];
  const old = chart.status ?? {};
  const kept = (old.conditions ?? []).filter(({ type }) => !claims.some((claim) => claim.type === type));
  const status = {
    ...old,
    ...(isBegun ? { jobName } : {}),
    conditions: [...kept, ...claims].toSorted((a, b) => (a.type < b.type ? -1 : 1)),
  };
  return JSON.stringify(sorted(old)) === JSON.stringify(sorted(status)) ? undefined : { ...chart, status };
}

/** The pod of a Job that has failed is taken away, and its last words with it: what was told of them stands. */
function waitingOf(chart: HelmChart, job: Job | undefined, told: Waiting | undefined): Waiting | undefined {
  if (!job || stateOf(job) !== 'failed' || told?.object?.kind !== 'Job') return told;
  const { status, reason, message = '' } = deployedOf(chart);
  const failure = helmFailures.find((each) => each.reason === reason);
  if (status !== 'False' || !failure) return told;
  const [words = ''] = message.split('; waits for ');
  const text = words
    .replace(`; ${failure.wayOut}`, '')
    .replace(/; the next try (?:is at work|begins at \S+)$/, '');
  return { ...told, reason: failure.reason, text, wayOut: failure.wayOut };
}

function deployedOf({ status }: HelmChart): Partial<ChartCondition> {
  return status?.conditions?.find(({ type }) => type === 'Deployed') ?? {};
}

/** What it said of a deployed release. */
function deployedBefore(chart: HelmChart): string {
  const { status, message = '' } = deployedOf(chart);
  return status === 'True' ? message : '';
}

/** The definitions that it has brought, as its last words tell; pods may have been taken away since. */
function told(
  job: Job,
  { pods, before }: Pick<DeployedFacts, 'pods' | 'before'>,
): Pick<ChartCondition, 'message'> {
  const words = podsOf(pods, job).flatMap(({ status }) =>
    (status?.containerStatuses ?? []).flatMap(({ state }) =>
      state?.terminated?.exitCode === 0 ? [state.terminated.message ?? ''] : [],
    ),
  );
  const message = definitionsWords(words.flatMap(readDefinitionsWords)) || before;
  return message === '' ? {} : { message };
}

function livePod(job: Job | undefined, pods: readonly Pod[]): Pod | undefined {
  return job && podsOf(pods, job).find(isAlive);
}

function sorted({ jobName, conditions = [] }: NonNullable<HelmChart['status']>): readonly unknown[] {
  return [
    jobName,
    conditions
      .map(({ type, status, reason = '', message = '' }) => [type, status, reason, message])
      .toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1)),
  ];
}

function createdClaim({ metadata }: HelmChart, name: string): ChartCondition {
  return {
    type: 'JobCreated',
    status: 'True',
    reason: 'Job created',
    message: `Applying HelmChart using Job ${metadata.namespace}/${name}`,
  };
}

/** In the words of the original, for those who read only this one. */
function failedClaim(job: Job | undefined, waiting: Waiting | undefined): ChartCondition {
  if (waiting?.reason === 'UnsupportedVersion')
    return { type: 'Failed', status: 'True', reason: 'Unsupported version', message: waiting.text };
  if (job && stateOf(job) === 'failed')
    return { type: 'Failed', status: 'True', reason: 'Job failed', message: waiting?.text ?? '' };
  return { type: 'Failed', status: 'False' };
}

interface DeployedFacts {
  readonly job: Job | undefined;
  readonly pods: readonly Pod[];
  readonly hooks: NonNullable<ChartFacts['hooks']>;
  readonly waiting: Waiting | undefined;
  readonly isRemoved: boolean;
  readonly before: string;
}

function deployedClaim({ job, waiting, isRemoved, pods, hooks, before }: DeployedFacts): ChartCondition {
  if (waiting) {
    const isOver = job !== undefined && stateOf(job) === 'failed';
    const shown: Waiting = isOver
      ? { ...waiting, nature: 'fault', wayOut: retryWayOut(waiting) }
      : withHelp(waiting);
    return { ...waitingCondition({ type: 'Deployed', status: 'False' }, shown) };
  }
  if (!isRemoved && job && stateOf(job) === 'succeeded')
    return { type: 'Deployed', status: 'True', reason: 'Deployed', ...told(job, { pods, before }) };
  const pod = livePod(job, pods);
  const reason = isRemoved ? 'Uninstalling' : 'Installing';
  return {
    type: 'Deployed',
    status: 'False',
    reason,
    message: pod ? workWords(pod, hooks) : '',
  };
}

/** Where it is at work, and with what if that is known. */
function workWords({ metadata }: Pod, [hook]: DeployedFacts['hooks']): string {
  const place = `in the Pod ${metadata.namespace}/${metadata.name}`;
  return hook ? `${place}, which waits for its hook ${hook.kind} ${hook.name}` : place;
}

/** What passes by itself may pass sooner. */
function withHelp(waiting: Waiting): Waiting {
  const { nature, text, wayOut } = waiting;
  return nature === 'transient' && wayOut !== undefined
    ? { ...waiting, text: `${text}; ${wayOut}` }
    : waiting;
}

/** After the last try nothing comes by itself. */
function retryWayOut({ wayOut }: Waiting): string {
  const first = wayOut === undefined ? '' : `${wayOut}; then `;
  return `${first}change the chart, or set its annotation sheaf.dev/retry to another text`;
}
