import { identityOf, type Waiting } from '@sheaf/api';
import { type AddonState, chartOperation, operationAnnotation } from '@sheaf/api/addon/index';
import type { Addon, HelmChart } from '@sheaf/api/virtualization/index';
import type { Job } from '@sheaf/api/workload/index';
import { helmFailures } from '@sheaf/ports';
import {
  adopted,
  changedChart,
  chartOf,
  isLeftOf,
  isOrphanOf,
  isOwnedBy,
  retriedChart,
  valuesOf,
} from './addon-chart.ts';

export interface AddonFacts {
  readonly addon: Addon;
  /** Of its name, in its namespace. */
  readonly chart: HelmChart | undefined;
  /** The Job that the chart names. */
  readonly job: Job | undefined;
  readonly isNamespaceEnding: boolean;
}

/** How far the add-on is on its way to what it says. */
export type AddonMark =
  | { readonly kind: 'in-progress'; readonly waiting?: Waiting; readonly words: string }
  | { readonly kind: 'completed'; readonly words?: string }
  /** Its last try has failed, or something stands in its way that does not pass by itself; it goes on trying. */
  | { readonly kind: 'failing'; readonly waiting: Waiting; readonly words: string }
  | { readonly kind: 'failed'; readonly waiting: Waiting };

export type AddonStep =
  | { readonly action: 'none' }
  | { readonly action: 'create-chart' | 'update-chart'; readonly chart: HelmChart }
  | { readonly action: 'delete-chart'; readonly chart: HelmChart };

/** The status is written before the step is taken: nobody sees an operation of an add-on that says it is done. */
export interface AddonPlan {
  readonly state: AddonState;
  readonly mark: AddonMark;
  readonly step: AddonStep;
}

const none: AddonStep = { action: 'none' };

/**
 * What an add-on is to do next. It follows from what is there now: which operation ended is told by the identity of the chart, of its
 * spec and of its Job. A wish that changes in the middle of an operation is the next goal.
 */
export function planAddon(facts: AddonFacts): AddonPlan {
  return facts.addon.spec.enabled ? planEnabled(facts) : planDisabled(facts);
}

export function stateOf({ status }: Addon): AddonState {
  return (status?.status ?? '') as AddonState;
}

function planEnabled(facts: AddonFacts): AddonPlan {
  const { addon, chart } = facts;
  const values = valuesOf(addon);
  const problem = enablingProblem(facts, values);
  if (problem) return { state: onTheWay(addon), mark: { kind: 'failed', waiting: problem }, step: none };
  if (chart?.metadata.deletionTimestamp !== undefined) return planEnding(facts, chart);
  if (!chart) return begun('AddonEnabling', { action: 'create-chart', chart: chartOf(addon, values ?? '') });
  if (!isOwnedBy(chart, addon))
    return begun(onTheWay(addon), { action: 'update-chart', chart: adopted(chart, addon) });
  const changed = changedChart(chart, addon, values ?? '');
  if (changed) return begun(onTheWay(addon), { action: 'update-chart', chart: changed });
  return planOperation(facts, chart);
}

function begun(state: AddonState, step: AddonStep): AddonPlan {
  const words = state === 'AddonUpdating' ? 'its update begins' : 'its installation begins';
  return { state, mark: { kind: 'in-progress', words }, step };
}

/** An update of what was deployed, else an installation. */
function onTheWay(addon: Addon): AddonState {
  const state = stateOf(addon);
  return state === 'AddonDeploySuccessful' || state === 'AddonUpdating' ? 'AddonUpdating' : 'AddonEnabling';
}

function enablingProblem(
  { addon, chart, isNamespaceEnding }: AddonFacts,
  values: string | undefined,
): Waiting | undefined {
  const { namespace, name } = identityOf(addon);
  if (isNamespaceEnding)
    return {
      reason: 'NamespaceTerminating',
      text: 'its namespace is being deleted, so nothing can be installed in it',
      nature: 'fault',
      wayOut: 'wait for the end of the namespace, and make the add-on in another one',
      object: { kind: 'Namespace', namespace: '', name: namespace },
    };
  if (values === undefined)
    return {
      reason: 'DefaultsUnreadable',
      text: 'its annotation harvesterhci.io/addon-defaults is not base64',
      nature: 'fault',
      wayOut: 'correct the annotation, or set valuesContent',
    };
  if (chart && !isOwnedBy(chart, addon) && !isOrphanOf(chart, addon) && !isLeftOf(chart, addon))
    return {
      reason: 'ChartOfOthers',
      text: 'the HelmChart of its name exists and is owned by someone else, cannot proceed',
      nature: 'fault',
      wayOut: 'delete that HelmChart, or make the add-on with another name',
      object: { kind: 'HelmChart', namespace, name },
    };
  return undefined;
}

/** The operation that the chart wants now, by its identity: an earlier Job of the same name says nothing. */
function planOperation({ addon, job }: AddonFacts, chart: HelmChart): AddonPlan {
  const current =
    job?.metadata.annotations?.[operationAnnotation] === chartOperation(chart) ? job : undefined;
  const waiting = deployedWaiting(chart);
  const end = current && endOf(current);
  if (end === 'succeeded')
    return waiting && drifts.has(waiting.reason)
      ? { state: 'AddonUpdating', mark: { kind: 'failed', waiting }, step: none }
      : { state: 'AddonDeploySuccessful', mark: { kind: 'completed' }, step: none };
  if (!current || end === undefined)
    return planUnfinished(addon, { job, current, waiting, podWords: podWordsOf(chart) });
  const failure = failureOf(current, waiting);
  return { state: onTheWay(addon), mark: { kind: 'failed', waiting: failure }, step: none };
}

/** What has become of a release after the operation that its chart wants: told of it until another one begins. */
const drifts: ReadonlySet<string> = new Set(['ReleaseRemoved', 'ReleaseChanged']);

/**
 * A Job that was deployed and is gone or made again (by its time, by hand, for a configuration that changed) takes nothing back, unless
 * something stands in its way.
 */
function planUnfinished(
  addon: Addon,
  { podWords, ...work }: Work & { readonly podWords: string },
): AddonPlan {
  const { current, waiting } = work;
  if (stateOf(addon) === 'AddonDeploySuccessful' && waiting === undefined)
    return { state: 'AddonDeploySuccessful', mark: { kind: 'completed' }, step: none };
  const state = onTheWay(addon);
  const words = wordsOf(state === 'AddonUpdating' ? 'update' : 'installation', current, podWords);
  return { state, mark: unfinishedMark(work, words), step: none };
}

/** What is under way. */
interface Work {
  /** Whichever the chart names. */
  readonly job: Job | undefined;
  /** The same, if it is the one of the operation that the chart wants now. */
  readonly current: Job | undefined;
  readonly waiting: Waiting | undefined;
}

/** What the chart says beside a Job of an earlier operation may be about that one, and is no failure of this one. */
function unfinishedMark({ job, current, waiting }: Work, words: string): AddonMark {
  if (!waiting) return { kind: 'in-progress', words };
  const isOfThis = current !== undefined || job === undefined;
  const isFailing = waiting.nature === 'fault' || failedTries.has(waiting.reason);
  return { kind: isOfThis && isFailing ? 'failing' : 'in-progress', waiting, words };
}

/** What a try of Helm may come to, also in an image of one's own, whose exit codes mean nothing here. */
const failedTries: ReadonlySet<string> = new Set([
  ...helmFailures.map(({ reason }) => reason),
  'OperationFailed',
]);

function planDisabled(facts: AddonFacts): AddonPlan {
  const { addon, chart } = facts;
  const done = (words?: string): AddonPlan => ({
    state: 'AddonDisabled',
    mark: { kind: 'completed', ...(words === undefined ? {} : { words }) },
    step: none,
  });
  if (!chart) return done();
  if (!isOwnedBy(chart, addon) && !isLeftOf(chart, addon)) {
    const { namespace, name } = identityOf(addon);
    return done(`the HelmChart ${namespace}/${name} is owned by someone else and stays`);
  }
  if (chart.metadata.deletionTimestamp !== undefined) return planEnding(facts, chart);
  return {
    state: 'AddonDisabling',
    mark: { kind: 'in-progress', words: 'its removal begins' },
    step: { action: 'delete-chart', chart },
  };
}

/** Its chart is being uninstalled; whatever is wanted comes after that. */
function planEnding({ addon, job }: AddonFacts, chart: HelmChart): AddonPlan {
  const mayRetry = isOwnedBy(chart, addon) || isLeftOf(chart, addon);
  const retried = mayRetry ? retriedChart(chart, addon) : undefined;
  if (retried)
    return {
      state: 'AddonDisabling',
      mark: { kind: 'in-progress', words: 'its removal is tried again' },
      step: { action: 'update-chart', chart: retried },
    };
  const waiting = deployedWaiting(chart);
  const current = removalOf(chart, job);
  if (current && endOf(current) === 'failed')
    return {
      state: 'AddonDisabling',
      mark: { kind: 'failed', waiting: failureOf(current, waiting) },
      step: none,
    };
  const words = wordsOf('removal', current, podWordsOf(chart));
  return {
    state: 'AddonDisabling',
    mark: unfinishedMark({ job, current, waiting }, words),
    step: none,
  };
}

/** The Job that uninstalls this very chart; for another try there is another one. */
function removalOf(chart: HelmChart, job: Job | undefined): Job | undefined {
  const isRemoval = job?.metadata.name?.startsWith('helm-delete-') === true;
  return isRemoval && job?.metadata.annotations?.[operationAnnotation] === chartOperation(chart)
    ? job
    : undefined;
}

/** A Job that has failed for whatever reason has failed. */
function endOf({ status }: Job): 'succeeded' | 'failed' | undefined {
  const has = (type: string): boolean =>
    status?.conditions?.some((condition) => condition.type === type && condition.status === 'True') === true;
  if (has('Failed')) return 'failed';
  return has('Complete') ? 'succeeded' : undefined;
}

function wordsOf(what: string, job: Job | undefined, podWords: string): string {
  if (!job) return `its ${what} begins`;
  const { namespace, name } = job.metadata;
  const since = job.status?.startTime === undefined ? '' : ` since ${job.status.startTime}`;
  return `its ${what} is at work${since} in the Job ${namespace}/${name}${podWords}`;
}

/** The chart names the pod that is at work. */
function podWordsOf({ status }: HelmChart): string {
  const deployed = status?.conditions?.find(({ type }) => type === 'Deployed');
  return deployed?.message?.startsWith('in the Pod ') ? `, ${deployed.message}` : '';
}

const usualReasons: ReadonlySet<string> = new Set(['Installing', 'Uninstalling', 'Deployed']);

/** What the chart says that it waits for; it has the whole sentence. */
function deployedWaiting({ status }: HelmChart): Waiting | undefined {
  const deployed = status?.conditions?.find(({ type }) => type === 'Deployed');
  const { reason = '', message = '' } = deployed ?? {};
  if (!deployed || deployed.status === 'True' || usualReasons.has(reason)) return undefined;
  return { reason, text: message, nature: message.includes('needs someone: ') ? 'fault' : 'transient' };
}

function failureOf(job: Job, waiting: Waiting | undefined): Waiting {
  if (waiting) return waiting;
  const failed = job.status?.conditions?.find(({ type, status }) => type === 'Failed' && status === 'True');
  const { reason = 'JobFailed', message = 'no reason was given' } = failed ?? {};
  return {
    reason,
    text: `the Job ${job.metadata.namespace}/${job.metadata.name} has failed: ${message}`,
    nature: 'fault',
    wayOut: 'change the values, or set the annotation sheaf.dev/retry to another text',
  };
}
