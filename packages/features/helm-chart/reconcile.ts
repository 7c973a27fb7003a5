import type { KubeObject } from '@sheaf/api';
import type { HelmChart, HelmChartConfig } from '@sheaf/api/virtualization/index';
import type { Job, Pod } from '@sheaf/api/workload/index';
import { StatusError } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import type { ChartContents } from '@sheaf/ports';
import {
  again,
  done,
  type EventRecorder,
  type ObjectCache,
  parseKey,
  type ReconcileResult,
  type WrittenObjects,
  waitFor,
} from '@sheaf/runtime';
import { operationJob } from './chart-job.ts';
import { chartLabel, namesOf } from './chart-names.ts';
import { chartNeed } from './chart-need.ts';
import { ensureParts } from './chart-parts.ts';
import { planChartStatus } from './chart-status.ts';
import { referencesOf } from './chart-values.ts';
import { type HookAtWork, hooksAtWork, hookTrouble, newestRecord, recordSelector } from './hook-trouble.ts';
import { isFor, isOfChart, isOwnedBy, isWorking, podsOf, stateOf } from './operation-state.ts';
import { type ChartFacts, type ChartStep, planChart } from './plan.ts';
import { refusedPart } from './refused-part.ts';
import { releaseDrift, releaseOfRecord, revisionSelector } from './release-drift.ts';

export interface ChartParts {
  readonly client: Client;
  readonly recorder: EventRecorder;
  readonly charts: ObjectCache<HelmChart>;
  readonly configs: ObjectCache<HelmChartConfig>;
  readonly namespaces: ObjectCache<KubeObject>;
  /** With those that this controller has made and the watch has not told yet. */
  readonly jobs: WrittenObjects<Job>;
  readonly pods: ObjectCache<Pod>;
  /** Helm's records, without their content; absent: nothing is known of releases. */
  readonly records?: Readonly<Record<'secret' | 'configmap', ObjectCache<KubeObject>>> | undefined;
  /** What this host has of charts and images; absent: the operation finds out. */
  readonly contents?: ChartContents | undefined;
}

const transientMs = 5000;
const faultMs = 60_000;

/** One pass over a chart: one step, then its status. */
export async function reconcileChart(
  parts: ChartParts,
  key: string,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const chart = parts.charts.get(key);
  if (!chart) return forget(parts.client, key, signal);
  const read = await withDrift(parts, await readFacts(parts, chart, signal), signal);
  const facts = await withMissing(parts, read, signal);
  const step = await taken(parts, { step: planChart(facts), facts }, signal);
  if (step.action === 'claim' || step.action === 'release') return done;
  const next = planChartStatus(facts, step);
  if (next) await parts.client.updateStatus(resources.helmCharts, next, { signal });
  return resultOf(step, facts);
}

function resultOf(step: ChartStep, facts: ChartFacts): ReconcileResult {
  const waiting = 'waiting' in step ? step.waiting : undefined;
  // While Helm works, nobody tells of what its hooks come to.
  if (waiting)
    return waitFor(waiting.text, waiting.nature === 'fault' && !isAtWork(facts) ? faultMs : transientMs);
  if (step.action !== 'none') return again(0);
  // Nobody tells of events either.
  return podlessJob(facts.jobs, facts) || isAtWork(facts) ? again(transientMs) : done;
}

function isAtWork({ chart, pods }: Pick<ChartFacts, 'chart' | 'pods'>): boolean {
  return pods.some((pod) => isOfChart(pod, chart) && isWorking(pod));
}

/** What an installation needs is looked for once, before it begins; an image of one's own brings its own means. */
async function withMissing(
  { contents }: ChartParts,
  facts: ChartFacts,
  signal: AbortSignal,
): Promise<ChartFacts> {
  const { metadata, spec } = facts.chart;
  const isOwn = metadata.deletionTimestamp === undefined && !spec?.jobImage;
  if (!contents || !isOwn || planChart(facts).action !== 'begin') return facts;
  return { ...facts, missing: await contents.missing(chartNeed(facts), signal) };
}

/** Looked for where the last operation has succeeded, and believed when the server says the same: a cache may be behind. */
async function withDrift(
  { client, records }: ChartParts,
  facts: ChartFacts,
  signal: AbortSignal,
): Promise<ChartFacts> {
  const { chart, jobs } = facts;
  const { installJob, name, targetNamespace: namespace } = namesOf(chart);
  const job = jobs.find(({ metadata }) => metadata.name === installJob);
  const isRemoved = chart.metadata.deletionTimestamp !== undefined;
  if (!records || isRemoved || !job || stateOf(job) !== 'succeeded') return facts;
  const driver = chart.spec?.driver === 'configmap' ? 'configmap' : 'secret';
  const known = records[driver].list(namespace).filter((record) => releaseOfRecord(record) === name);
  if (!releaseDrift({ chart, job }, known)) return facts;
  const resource = driver === 'configmap' ? resources.configMaps : resources.secrets;
  const query = { namespace, labelSelector: revisionSelector(name), metadataOnly: true, signal };
  const { items } = await client.list(resource, query);
  return { ...facts, drift: releaseDrift({ chart, job }, items) };
}

/** What has no owner because it is in no namespace goes with the chart. */
async function forget(client: Client, key: string, signal: AbortSignal): Promise<ReconcileResult> {
  const { namespace, name } = parseKey(key);
  if (await client.find(resources.helmCharts, { namespace, name }, signal)) return done;
  await removeBinding(client, { metadata: { namespace, name } }, signal);
  return done;
}

async function removeBinding(client: Client, chart: HelmChart, signal: AbortSignal): Promise<void> {
  const { binding, name } = namesOf(chart);
  const found = await client.find(resources.clusterRoleBindings, { name: binding }, signal);
  if (found?.metadata.labels?.[chartLabel] !== name) return;
  const { uid = '' } = found.metadata;
  try {
    await client.delete(resources.clusterRoleBindings, { name: binding }, { uid, signal });
  } catch (error) {
    if (!StatusError.is(error, 'NotFound') && !StatusError.is(error, 'Conflict')) throw error;
  }
}

async function readFacts(
  { client, configs, namespaces, jobs, pods }: ChartParts,
  chart: HelmChart,
  signal: AbortSignal,
): Promise<ChartFacts> {
  const { namespace, name } = namesOf(chart);
  const config = configs.get(`${namespace}/${name}`);
  const referred = new Map<string, KubeObject>();
  for (const { kind, name: of } of referencesOf(chart, config)) {
    const resource = kind === 'Secret' ? resources.secrets : resources.configMaps;
    const found = await client.find(resource, { namespace, name: of }, signal);
    if (found) referred.set(`${kind}/${of}`, found);
  }
  const known = await jobs.list(namespace, signal);
  const own = pods.list(namespace);
  const podless = podlessJob(known, { chart, pods: own });
  const hooks = isAtWork({ chart, pods: own }) ? await findHooks(client, chart, signal) : [];
  return {
    chart,
    config,
    referred,
    jobs: known,
    pods: own,
    podRefusal: podless && (await refusalOf(client, podless, signal)),
    hooks,
    hookTrouble: hookTrouble(hooks, pods.list(namesOf(chart).targetNamespace)),
    isNamespaceEnding: namespaces.get(namespace)?.metadata.deletionTimestamp !== undefined,
  };
}

/** Its Job, if that is to run and nothing runs for it. */
function podlessJob(
  jobs: readonly Job[],
  { chart, pods }: { readonly chart: HelmChart; readonly pods: readonly Pod[] },
): Job | undefined {
  return jobs.find(
    (job) => isOwnedBy(job, chart) && stateOf(job) === 'running' && podsOf(pods, job).length === 0,
  );
}

/** The controller of Jobs tells it by an event alone. */
async function refusalOf(client: Client, job: Job, signal: AbortSignal): Promise<string | undefined> {
  const { namespace = '', uid } = job.metadata;
  const fieldSelector = `involvedObject.uid=${uid},reason=FailedCreate`;
  const { items } = await client.list(resources.events, { namespace, fieldSelector, signal });
  return items.at(-1)?.['message'] as string | undefined;
}

/** Helm writes down which hook it waits for, and tells nobody else. */
async function findHooks(
  client: Client,
  chart: HelmChart,
  signal: AbortSignal,
): Promise<readonly HookAtWork[]> {
  const { name, targetNamespace: namespace } = namesOf(chart);
  const resource = chart.spec?.driver === 'configmap' ? resources.configMaps : resources.secrets;
  const query = { namespace, labelSelector: recordSelector(name), signal };
  const { items } = await client.list(resource, query);
  const record = newestRecord(items);
  return record ? hooksAtWork(record) : [];
}

/** That nothing of an earlier operation is left, and the chart is, is the server's to say: a cache may be behind. */
async function asked(
  client: Client,
  facts: ChartFacts,
  signal: AbortSignal,
): Promise<ChartFacts | undefined> {
  const { namespace, name } = namesOf(facts.chart);
  const chart = await client.find(resources.helmCharts, { namespace, name }, signal);
  if (!chart || chart.metadata.uid !== facts.chart.metadata.uid) return undefined;
  const query = { namespace, labelSelector: `${chartLabel}=${name}`, signal };
  const { items: jobs } = await client.list(resources.jobs, query);
  const { items: pods } = await client.list(resources.pods, query);
  return { ...facts, chart, jobs, pods };
}

interface Taken {
  readonly step: ChartStep;
  readonly facts: ChartFacts;
}

/** The step, or what has kept it from being taken. */
async function taken(parts: ChartParts, { step, facts }: Taken, signal: AbortSignal): Promise<ChartStep> {
  try {
    await takeStep(parts, { step, facts }, signal);
    return step;
  } catch (error) {
    const refused = step.action === 'begin' || step.action === 'none' ? refusedPart(error) : undefined;
    if (!refused) throw error;
    return { action: 'none', waiting: refused };
  }
}

async function takeStep(parts: ChartParts, { step, facts }: Taken, signal: AbortSignal): Promise<void> {
  const { client } = parts;
  switch (step.action) {
    case 'none':
      return keepParts(parts, facts, signal);
    case 'claim':
      await client.update(resources.helmCharts, step.chart, { signal });
      return;
    case 'begin':
      return begin(parts, { job: step.job, facts }, signal);
    case 'suspend':
    case 'note':
      parts.jobs.note(await client.update(resources.jobs, step.job, { signal }));
      return;
    case 'drop':
      return drop(parts, { job: step.job, facts }, signal);
    case 'release':
      return release(parts, step, signal);
  }
}

/** What an operation at work has been robbed of comes back. */
async function keepParts({ client }: ChartParts, facts: ChartFacts, signal: AbortSignal): Promise<void> {
  const { chart, jobs } = facts;
  const job = jobs.find(({ metadata }) => metadata.name === namesOf(chart).installJob);
  const isRemoved = chart.metadata.deletionTimestamp !== undefined;
  if (!job || isRemoved || facts.isNamespaceEnding || stateOf(job) !== 'running') return;
  // The values of the next operation do not go under one that is at work.
  if (isFor(job, operationJob(facts, 'install'))) await ensureParts(client, facts, signal);
}

async function begin(
  { client, jobs, recorder }: ChartParts,
  { job, facts }: { readonly job: Job; readonly facts: ChartFacts },
  signal: AbortSignal,
): Promise<void> {
  const now = await asked(client, facts, signal);
  if (!now || planChart(now).action !== 'begin') return;
  await ensureParts(client, facts, signal);
  try {
    jobs.note(await client.create(resources.jobs, job, { signal }));
  } catch (error) {
    // One that the watch has not told of yet: it is looked at when that has.
    if (!StatusError.is(error, 'AlreadyExists')) throw error;
    return;
  }
  const message = `Applying HelmChart using Job ${job.metadata.namespace}/${job.metadata.name}`;
  recorder.record({ about: aboutOf(facts.chart), type: 'Normal', reason: 'ApplyJob', message });
}

async function drop(
  { client, jobs, recorder }: ChartParts,
  { job, facts }: { readonly job: Job; readonly facts: ChartFacts },
  signal: AbortSignal,
): Promise<void> {
  const { namespace = '', name = '', uid = '' } = job.metadata;
  try {
    await client.delete(
      resources.jobs,
      { namespace, name },
      { uid, propagationPolicy: 'Background', signal },
    );
  } catch (error) {
    if (!StatusError.is(error, 'NotFound') && !StatusError.is(error, 'Conflict')) throw error;
  }
  jobs.noteDeletion(job);
  const message = `Removing Job ${namespace}/${name}: another operation is wanted`;
  recorder.record({ about: aboutOf(facts.chart), type: 'Normal', reason: 'RemoveJob', message });
}

async function release(
  { client, recorder }: ChartParts,
  { chart, leftBehind }: Extract<ChartStep, { action: 'release' }>,
  signal: AbortSignal,
): Promise<void> {
  if (leftBehind !== undefined) {
    const message = `Its release was not uninstalled, for its namespace ends; to do so: ${leftBehind}`;
    recorder.record({ about: aboutOf(chart), type: 'Warning', reason: 'ReleaseLeftBehind', message });
  }
  await removeBinding(client, chart, signal);
  await client.update(resources.helmCharts, chart, { signal });
}

function aboutOf({ metadata }: HelmChart): Parameters<EventRecorder['record']>[0]['about'] {
  const { namespace = '', name = '', uid = '' } = metadata;
  return { resource: resources.helmCharts, namespace, name, uid };
}
