import { type KubeObject, timestampOf, type Waiting } from '@sheaf/api';
import type { Addon, HelmChart } from '@sheaf/api/virtualization/index';
import type { Job } from '@sheaf/api/workload/index';
import { type Clock, StatusError } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import {
  again,
  done,
  type EventRecorder,
  type ObjectCache,
  type ReconcileResult,
  type WrittenObjects,
  waitFor,
} from '@sheaf/runtime';
import { planAddonStatus } from './addon-status.ts';
import { noteDefinitions, noteLeftovers } from './note-leftovers.ts';
import { type AddonFacts, type AddonPlan, type AddonStep, planAddon, stateOf } from './plan.ts';

export interface AddonParts {
  readonly client: Client;
  readonly clock: Clock;
  readonly recorder: EventRecorder;
  readonly addons: ObjectCache<Addon>;
  /** With those that this controller has written and the watch has not told yet. */
  readonly charts: WrittenObjects<HelmChart>;
  readonly jobs: ObjectCache<Job>;
  readonly namespaces: ObjectCache<KubeObject>;
}

const transientMs = 5000;
const faultMs = 60_000;

/** One pass over an add-on: first its status, then one step with its chart. */
export async function reconcileAddon(
  parts: AddonParts,
  key: string,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const addon = parts.addons.get(key);
  // Its chart goes with it, and has its own finalizer.
  if (!addon || addon.metadata.deletionTimestamp !== undefined) return done;
  const facts = await factsOf(parts, addon, signal);
  const plan = planAddon(facts);
  // Nobody sees an operation of one that says it is done. What was refused in the last pass still stands there.
  const isTold = isUnderWay(addon, plan);
  if (!isTold) await writeStatus(parts, { addon, plan }, signal);
  if (facts.chart) await noteDefinitions(parts.client, { addon, chart: facts.chart }, signal);
  const refused = await taken(parts, { addon, plan }, signal);
  if (isTold && refused) await writeStatus(parts, { addon, plan: refused }, signal);
  return resultOf(refused ?? plan);
}

function isUnderWay(addon: Addon, { state, step }: AddonPlan): boolean {
  const progress = addon.status?.conditions?.find(({ type }) => type === 'InProgress');
  return step.action !== 'none' && stateOf(addon) === state && progress?.status === 'True';
}

/** Takes the step of a plan; the plan as it is told if the server refuses that. */
async function taken(
  parts: AddonParts,
  { addon, plan }: { readonly addon: Addon; readonly plan: AddonPlan },
  signal: AbortSignal,
): Promise<AddonPlan | undefined> {
  try {
    await takeStep(parts, { addon, step: plan.step }, signal);
    return undefined;
  } catch (error) {
    const waiting = refusedStep(error);
    if (!waiting) throw error;
    const words = plan.mark.kind === 'in-progress' ? plan.mark.words : 'it goes on';
    return { ...plan, mark: { kind: 'failing', waiting, words }, step: { action: 'none' } };
  }
}

/** A quota, a policy or a webhook stands in the way; what may be taken soon is tried again like anything else. */
function refusedStep(error: unknown): Waiting | undefined {
  if (!StatusError.is(error) || passing.has(error.reason)) return undefined;
  const isRefusal = error.code >= 400 && error.code < 500;
  if (!isRefusal && !error.message.includes('webhook')) return undefined;
  return {
    reason: 'ChartRefused',
    text: `its HelmChart is refused: ${error.message}`,
    nature: 'fault',
    wayOut: 'take away what refuses it: a quota, a policy, a webhook; or correct the add-on',
  };
}

const passing: ReadonlySet<string> = new Set(['Conflict', 'AlreadyExists', 'NotFound', 'TooManyRequests']);

async function factsOf(
  { charts, jobs, namespaces }: AddonParts,
  addon: Addon,
  signal: AbortSignal,
): Promise<AddonFacts> {
  const { namespace = '', name = '' } = addon.metadata;
  const chart = (await charts.list(namespace, signal)).find(({ metadata }) => metadata.name === name);
  const jobName = chart?.status?.jobName ?? '';
  return {
    addon,
    chart,
    job: jobName === '' ? undefined : jobs.get(`${namespace}/${jobName}`),
    isNamespaceEnding: namespaces.get(namespace)?.metadata.deletionTimestamp !== undefined,
  };
}

async function writeStatus(
  { client, clock, recorder }: AddonParts,
  { addon, plan }: { readonly addon: Addon; readonly plan: AddonPlan },
  signal: AbortSignal,
): Promise<void> {
  const next = planAddonStatus(addon, plan, timestampOf(clock));
  if (!next) return;
  await client.updateStatus(resources.addons, next, { signal });
  const { namespace = '', name = '', uid = '' } = addon.metadata;
  const about = { resource: resources.addons, namespace, name, uid };
  if (plan.mark.kind === 'failed' || plan.mark.kind === 'failing')
    recorder.record({
      about,
      type: 'Warning',
      reason: plan.mark.waiting.reason,
      message: plan.mark.waiting.text,
    });
  else if (stateOf(addon) !== plan.state && plan.state !== '')
    recorder.record({
      about,
      type: 'Normal',
      reason: plan.state,
      message: `The add-on is ${plan.state.slice(5)}`,
    });
}

async function takeStep(
  { client, charts, recorder }: AddonParts,
  { addon, step }: { readonly addon: Addon; readonly step: AddonStep },
  signal: AbortSignal,
): Promise<void> {
  switch (step.action) {
    case 'none':
      return;
    case 'create-chart':
      charts.note(await client.create(resources.helmCharts, step.chart, { signal }));
      return;
    case 'update-chart':
      charts.note(await client.update(resources.helmCharts, step.chart, { signal }));
      return;
    case 'delete-chart':
      await noteLeftovers({ client, recorder }, { addon, chart: step.chart }, signal);
      return deleteChart(client, step.chart, signal);
  }
}

/** This very chart, as it was looked at. */
async function deleteChart(client: Client, { metadata }: HelmChart, signal: AbortSignal): Promise<void> {
  const { namespace = '', name = '', uid = '' } = metadata;
  try {
    await client.delete(resources.helmCharts, { namespace, name }, { uid, signal });
  } catch (error) {
    if (!StatusError.is(error, 'NotFound')) throw error;
  }
}

/** Watches tell of everything that it waits for; looking again costs nothing and forgives a watch that was late. */
function resultOf({ step, mark }: AddonPlan): ReconcileResult {
  if (step.action !== 'none') return again(transientMs);
  if (mark.kind === 'in-progress' || mark.kind === 'failing')
    return waitFor(mark.waiting?.text ?? mark.words, transientMs);
  return mark.kind === 'failed' ? waitFor(mark.waiting.text, faultMs) : done;
}
