import type { Waiting } from '@sheaf/api';
import { chartOperation, longestChartName, operationAnnotation } from '@sheaf/api/addon/index';
import type { HelmChart } from '@sheaf/api/virtualization/index';
import type { Job, Pod } from '@sheaf/api/workload/index';
import type { MissingContent } from '@sheaf/ports';
import { type OperationFacts, operationJob } from './chart-job.ts';
import { isOfOthers, managerAnnotation, managerName, namesOf, removalFinalizer } from './chart-names.ts';
import { problemOf, referencesOf } from './chart-values.ts';
import type { HookAtWork } from './hook-trouble.ts';
import { missingContent } from './missing-content.ts';
import {
  isAlive,
  isFor,
  isGoing,
  isOfChart,
  isOwnedBy,
  isSuspended,
  isWorking,
  podsOf,
  stateOf,
} from './operation-state.ts';
import { troubleOf } from './operation-trouble.ts';

export interface ChartFacts extends OperationFacts {
  /** All of its namespace. */
  readonly jobs: readonly Job[];
  /** All of its namespace. */
  readonly pods: readonly Pod[];
  readonly isNamespaceEnding: boolean;
  /** What an installation would need and cannot get, where one is to begin. */
  readonly missing?: MissingContent | undefined;
  /** Why no pod could be made for its Job, in the words of the server. */
  readonly podRefusal?: string | undefined;
  /** Those of its release that Helm waits for. */
  readonly hooks?: readonly Pick<HookAtWork, 'kind' | 'name'>[] | undefined;
  /** What keeps a hook of its release from its end, while Helm waits for that. */
  readonly hookTrouble?: Waiting | undefined;
  /** What somebody has done with its release since its Job has succeeded. */
  readonly drift?: Waiting | undefined;
}

export type ChartStep =
  | { readonly action: 'none'; readonly waiting?: Waiting }
  /** Takes it on: nothing is begun for a chart that could go without being uninstalled. */
  | { readonly action: 'claim'; readonly chart: HelmChart }
  /** Makes what the operation works with, then its Job. */
  | { readonly action: 'begin'; readonly job: Job }
  /** The same operation is what another state of the spec wants. */
  | { readonly action: 'note'; readonly job: Job }
  /** Its controller makes no more pods for it once it has seen that; only then may it go. */
  | { readonly action: 'suspend'; readonly job: Job; readonly waiting: Waiting }
  | { readonly action: 'drop'; readonly job: Job; readonly waiting: Waiting }
  | { readonly action: 'release'; readonly chart: HelmChart; readonly leftBehind?: string };

const none: ChartStep = { action: 'none' };

/** The next step of a chart. Never are there two operations on a release: the next one begins when nothing of the last one is left. */
export function planChart(facts: ChartFacts): ChartStep {
  const { chart } = facts;
  const { deletionTimestamp } = chart.metadata;
  if (isOfOthers(chart)) return none;
  if (deletionTimestamp !== undefined) return planRemoval(facts);
  if (isClaimed(chart)) return planInstall(facts);
  return facts.isNamespaceEnding ? none : { action: 'claim', chart: claimed(chart) };
}

function isClaimed({ metadata }: HelmChart): boolean {
  const isKept = metadata.finalizers?.includes(removalFinalizer) === true;
  return isKept && metadata.annotations?.[managerAnnotation] === managerName;
}

function claimed(chart: HelmChart): HelmChart {
  const { metadata } = chart;
  const { finalizers = [] } = metadata;
  return {
    ...chart,
    metadata: {
      ...metadata,
      annotations: { ...metadata.annotations, [managerAnnotation]: managerName },
      finalizers: [...new Set([...finalizers, removalFinalizer])],
    },
  };
}

function planInstall(facts: ChartFacts): ChartStep {
  const problem = facts.isNamespaceEnding ? endingNamespace(facts.chart) : orderProblem(facts);
  if (problem) return { action: 'none', waiting: problem };
  const step = planOperation(facts, operationJob(facts, 'install'));
  if (step.action !== 'begin' || !facts.missing) return step;
  return { action: 'none', waiting: missingContent(facts.chart, facts.missing) };
}

/**
 * The Job that is wanted is there, or comes when what stands in its way has gone. Another one beside it was asked for by somebody who
 * is dead, and came late: as nobody knows which of the two did what, both go, and the operation begins anew.
 */
function planOperation(facts: ChartFacts, wanted: Job): ChartStep {
  const { chart } = facts;
  const current = facts.jobs.find(({ metadata }) => metadata.name === wanted.metadata.name);
  const others = facts.jobs.filter((job) => job !== current && isOfChart(job, chart));
  if (current && others.length === 0 && isCurrent(current, { chart, wanted }))
    return planCurrent(facts, current);
  const [obstacle] = [...(current ? [current] : []), ...others];
  if (obstacle) return planObstacle(facts, obstacle);
  const left = facts.pods.find((pod) => isOfChart(pod, chart) && isAlive(pod));
  if (left) return { action: 'none', waiting: endingPod(left) };
  return { action: 'begin', job: wanted };
}

/** One that was told to rest is for what was wanted before. */
function isCurrent(
  job: Job,
  { chart, wanted }: { readonly chart: HelmChart; readonly wanted: Job },
): boolean {
  return !isGoing(job) && !job.spec.suspend && isOwnedBy(job, chart) && isFor(job, wanted);
}

function planCurrent({ chart, pods, podRefusal, hookTrouble, drift }: ChartFacts, job: Job): ChartStep {
  const operation = chartOperation(chart);
  if (job.metadata.annotations?.[operationAnnotation] !== operation) {
    const annotations = { ...job.metadata.annotations, [operationAnnotation]: operation };
    return { action: 'note', job: { ...job, metadata: { ...job.metadata, annotations } } };
  }
  if (stateOf(job) === 'succeeded') return drift ? { action: 'none', waiting: drift } : none;
  const waiting = hookTrouble ?? troubleOf(job, podsOf(pods, job)) ?? refusedPod(job, podRefusal);
  return waiting ? { action: 'none', waiting } : none;
}

/** What is at work is let come to its end; what only waits is given up, and so is what waits for a hook that cannot begin. */
function planObstacle({ chart, pods, hookTrouble }: ChartFacts, job: Job): ChartStep {
  const own = podsOf(pods, job);
  const working = own.find(isWorking);
  const waiting = obstacleWaiting(job, working);
  if (isGoing(job)) return { action: 'none', waiting };
  const isRunning = stateOf(job) === 'running';
  const isGivenUp = chart.metadata.deletionTimestamp !== undefined || hookTrouble !== undefined;
  if (working && isRunning && !isGivenUp) return { action: 'none', waiting };
  if (!isRunning || isSuspended(job)) return { action: 'drop', job, waiting };
  if (job.spec.suspend) return { action: 'none', waiting };
  return { action: 'suspend', job: { ...job, spec: { ...job.spec, suspend: true } }, waiting };
}

function planRemoval(facts: ChartFacts): ChartStep {
  const { chart } = facts;
  const { finalizers = [] } = chart.metadata;
  if (!finalizers.includes(removalFinalizer)) return none;
  const released: HelmChart = {
    ...chart,
    metadata: { ...chart.metadata, finalizers: finalizers.filter((name) => name !== removalFinalizer) },
  };
  if (facts.isNamespaceEnding) return { action: 'release', chart: released, ...leftBehind(chart) };
  // It was made before such names were refused: nothing could ever be installed for it.
  if (namesOf(chart).name.length > longestChartName) return { action: 'release', chart: released };
  const step = planOperation(facts, operationJob(facts, 'delete'));
  const job = facts.jobs.find(({ metadata }) => metadata.name === namesOf(chart).deleteJob);
  const isDone = step.action === 'none' && job && isOwnedBy(job, chart) && stateOf(job) === 'succeeded';
  return isDone && !step.waiting ? { action: 'release', chart: released } : step;
}

/** No Job can be made in a namespace that ends; a release in it goes with it. */
function leftBehind(chart: HelmChart): { readonly leftBehind?: string } {
  const { namespace, name, targetNamespace } = namesOf(chart);
  if (targetNamespace === namespace) return {};
  return { leftBehind: `helm uninstall ${name} --namespace ${targetNamespace}` };
}

function refusedPod({ metadata }: Job, text: string | undefined): Waiting | undefined {
  if (text === undefined) return undefined;
  const { namespace = '', name = '' } = metadata;
  return {
    reason: 'FailedCreate',
    text,
    nature: 'transient',
    wayOut: 'take away what refuses its pod: a quota, a policy, a webhook',
    object: { kind: 'Job', namespace, name },
  };
}

function endingNamespace({ metadata }: HelmChart): Waiting {
  const { namespace = '' } = metadata;
  return {
    reason: 'NamespaceTerminating',
    text: 'its namespace is being deleted, so no operation can begin in it',
    nature: 'fault',
    wayOut: 'wait for the end of the namespace, and make the chart in another one',
    object: { kind: 'Namespace', namespace: '', name: namespace },
  };
}

/** What is wrong with what the chart asks for, before anything is begun. */
function orderProblem({ chart, config, referred }: OperationFacts): Waiting | undefined {
  const { helmVersion = '', chart: name = '', chartContent = '' } = chart.spec ?? {};
  if (helmVersion !== '' && helmVersion !== 'v3')
    return fault(
      'UnsupportedVersion',
      `helmVersion ${helmVersion} is not supported`,
      'leave helmVersion out',
    );
  if (name === '' && chartContent === '')
    return fault('ChartNotNamed', 'it names no chart', 'set chart, or chartContent');
  return referenceProblem({ chart, config, referred });
}

function referenceProblem({ chart, config, referred }: OperationFacts): Waiting | undefined {
  const { namespace = '' } = chart.metadata;
  for (const reference of referencesOf(chart, config)) {
    const { kind, name, field } = reference;
    const text = problemOf(reference, referred.get(`${kind}/${name}`));
    if (text === undefined) continue;
    const wayOut = `make the ${kind} ${name} in the namespace ${namespace}, or take it out of ${field}`;
    return { ...fault('ReferenceMissing', text, wayOut), object: { kind, namespace, name } };
  }
  return undefined;
}

function fault(reason: string, text: string, wayOut: string): Waiting {
  return { reason, text, nature: 'fault', wayOut };
}

function endingPod({ metadata }: Pod): Waiting {
  const { namespace = '', name = '' } = metadata;
  return {
    reason: 'EarlierOperationEnding',
    text: 'the pod of an earlier operation has not ended',
    nature: 'transient',
    object: { kind: 'Pod', namespace, name },
  };
}

function obstacleWaiting({ metadata, status }: Job, working: Pod | undefined): Waiting {
  const { namespace = '', name = '' } = metadata;
  const since = status?.startTime === undefined ? '' : ` since ${status.startTime}`;
  const text =
    working === undefined
      ? `an earlier operation is being taken away`
      : `an earlier operation is at work${since} in the pod ${working.metadata.name}; the next one follows it`;
  return {
    reason: working ? 'OperationInProgress' : 'EarlierOperationEnding',
    text,
    nature: 'transient',
    object: { kind: 'Job', namespace, name },
  };
}
