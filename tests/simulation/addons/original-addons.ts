import { timestampOf } from '@sheaf/api';
import type { Addon, HelmChart } from '@sheaf/api/virtualization/index';
import type { Job } from '@sheaf/api/workload/index';
import type { Clock } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import { again, done, keyOf, type Manager, type ReconcileResult } from '@sheaf/runtime';

type Condition = NonNullable<NonNullable<Addon['status']>['conditions']>[number];

interface Parts {
  readonly client: Client;
  readonly clock: Clock;
  readonly addon: Addon;
  readonly chart: HelmChart | undefined;
  readonly job: Job | undefined;
}

const pollMs = 5000;
const poll = again(pollMs);

/**
 * Add-ons by the rule of the original: a Job is that of the operation if it was made no earlier than the condition says that the
 * operation began, by the clock, in seconds. It is here to show that the schedules on which that rule hangs do hang it.
 */
export function registerOriginalAddons(manager: Manager): void {
  const { client, clock } = manager;
  const addons = manager.informer(resources.addons);
  const charts = manager.informer(resources.helmCharts);
  const jobs = manager.informer(resources.jobs);
  manager
    .controller({
      name: 'addon',
      async reconcile(key) {
        const addon = addons.cache.get(key);
        if (!addon || addon.metadata.deletionTimestamp !== undefined) return done;
        const chart = charts.cache.get(key);
        const job = jobs.cache.get(`${addon.metadata.namespace}/${chart?.status?.jobName}`);
        return await reconcile({ client, clock, addon, chart, job });
      },
    })
    .watch(addons)
    .watchMapped(charts, (chart) => [keyOf(chart)])
    .watchMapped(jobs, () => []);
}

function reconcile(parts: Parts): Promise<ReconcileResult> {
  return parts.addon.spec.enabled ? enabled(parts) : disabled(parts);
}

async function enabled(parts: Parts): Promise<ReconcileResult> {
  switch (parts.addon.status?.status ?? '') {
    case '':
    case 'AddonDisabled':
      return enable(parts);
    case 'AddonEnabling':
    case 'AddonUpdating':
      return watchInstall(parts);
    case 'AddonDeploySuccessful':
      return update(parts);
    default:
      return done;
  }
}

async function enable(parts: Parts): Promise<ReconcileResult> {
  const { chart } = parts;
  if (chart?.metadata.deletionTimestamp !== undefined) return poll;
  if (!isTrue(parts.addon, 'InProgress')) return write(parts, 'in-progress');
  if (!chart) await createChart(parts);
  return write(parts, undefined, 'AddonEnabling');
}

async function watchInstall(parts: Parts): Promise<ReconcileResult> {
  const { addon, chart, job } = parts;
  if (isTrue(addon, 'OperationFailed')) return done;
  if (!chart) return write(parts, 'completed', 'AddonDisabled');
  const began = conditionOf(addon, 'InProgress')?.lastUpdateTime;
  if (!isSince(job, began) || !isComplete(job)) return poll;
  if ((job.status?.succeeded ?? 0) > 0) return write(parts, 'completed', 'AddonDeploySuccessful');
  return write(parts, 'error');
}

async function update(parts: Parts): Promise<ReconcileResult> {
  const { addon, chart, client } = parts;
  if (!chart) {
    await createChart(parts);
    return poll;
  }
  if ((chart.spec?.valuesContent ?? '') === addon.spec.valuesContent) return done;
  if (!isTrue(addon, 'InProgress')) return write(parts, 'in-progress');
  const spec = { ...chart.spec, valuesContent: addon.spec.valuesContent };
  await client.update(resources.helmCharts, { ...chart, spec });
  return write(parts, undefined, 'AddonUpdating');
}

async function disabled(parts: Parts): Promise<ReconcileResult> {
  const { addon, chart } = parts;
  const state = addon.status?.status ?? '';
  if (state === 'AddonDisabled') return done;
  if (state !== 'AddonDisabling')
    return isTrue(addon, 'InProgress') ? poll : write(parts, undefined, 'AddonDisabling');
  if (!chart) return write(parts, 'completed', 'AddonDisabled');
  return remove(parts, chart);
}

async function remove(parts: Parts, { metadata }: HelmChart): Promise<ReconcileResult> {
  const { namespace = '', name = '', deletionTimestamp } = metadata;
  if (deletionTimestamp === undefined) {
    await parts.client.delete(resources.helmCharts, { namespace, name });
    return write(parts, 'in-progress');
  }
  const isOfRemoval = parts.job?.metadata.name?.startsWith('helm-delete') === true;
  if (!isOfRemoval || !isSince(parts.job, deletionTimestamp) || !isComplete(parts.job)) return poll;
  return write(parts, 'error');
}

/** This is the rule. */
function isSince(job: Job | undefined, time = ''): job is Job {
  return job !== undefined && (job.metadata.creationTimestamp ?? '') >= time;
}

/** Other reasons than too many tries never count. */
function isComplete({ status }: Job): boolean {
  const failed = status?.conditions?.find(({ type, status: is }) => type === 'Failed' && is === 'True');
  return status?.completionTime !== undefined || failed?.reason === 'BackoffLimitExceeded';
}

function conditionOf({ status }: Addon, type: string): Condition | undefined {
  return status?.conditions?.find((condition) => condition.type === type);
}

function isTrue(addon: Addon, type: string): boolean {
  return conditionOf(addon, type)?.status === 'True';
}

const marks = {
  'in-progress': { Completed: 'False', InProgress: 'True', OperationFailed: 'False' },
  completed: { Completed: 'True', InProgress: 'False', OperationFailed: 'False' },
  error: { Completed: 'False', InProgress: 'False', OperationFailed: 'True' },
} as const;

async function write(
  { client, clock, addon }: Parts,
  mark: keyof typeof marks | undefined,
  state = addon.status?.status ?? '',
): Promise<ReconcileResult> {
  const lastUpdateTime = timestampOf(clock);
  const conditions = mark
    ? Object.entries(marks[mark]).map(([type, status]) => ({
        type,
        status,
        lastUpdateTime,
        message: type === 'OperationFailed' && status === 'True' ? 'the job has failed' : '',
      }))
    : [...(addon.status?.conditions ?? [])];
  await client.updateStatus(resources.addons, { ...addon, status: { status: state, conditions } });
  return poll;
}

async function createChart({ client, addon }: Parts): Promise<void> {
  const { namespace = '', name = '', uid = '' } = addon.metadata;
  const { chart, repo, version, valuesContent } = addon.spec;
  const owner = { apiVersion: 'harvesterhci.io/v1beta1', kind: 'Addon', name, uid };
  await client.create(resources.helmCharts, {
    metadata: { namespace, name, ownerReferences: [owner] },
    spec: { chart, repo, version, valuesContent, backOffLimit: 5 },
  });
}
