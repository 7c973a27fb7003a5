import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  addonDefaultsAnnotation,
  chartOperation,
  operationAnnotation,
  retryAnnotation,
} from '@sheaf/api/addon/index';
import type { Addon, HelmChart } from '@sheaf/api/virtualization/index';
import type { Job } from '@sheaf/api/workload/index';
import { chartOf } from './addon-chart.ts';
import { planAddonStatus } from './addon-status.ts';
import { type AddonFacts, planAddon } from './plan.ts';

const now = '2026-01-01T00:00:00Z';

function addon(enabled: boolean, state = '', changes: Partial<Addon['spec']> = {}, annotations = {}): Addon {
  return {
    metadata: { namespace: 'default', name: 'web', uid: 'addon', annotations },
    spec: { repo: 'http://r', chart: 'web', version: '1', valuesContent: 'a: 1', enabled, ...changes },
    status: { status: state },
  };
}

function chartFor(of: Addon, metadata: Partial<HelmChart['metadata']> = {}): HelmChart {
  const made = chartOf(of, of.spec.valuesContent);
  const status = { jobName: 'helm-install-web' };
  return { ...made, metadata: { ...made.metadata, uid: 'chart', generation: 1, ...metadata }, status };
}

function job(chart: HelmChart, ends?: 'Complete' | 'Failed', name = 'helm-install-web'): Job {
  return {
    metadata: {
      namespace: 'default',
      name,
      // Made before the add-on was switched on, by a clock that went back.
      creationTimestamp: '2000-01-01T00:00:00Z',
      annotations: { [operationAnnotation]: chartOperation(chart) },
      ownerReferences: [{ apiVersion: '', kind: 'HelmChart', name: 'web', uid: chart.metadata.uid ?? '' }],
    },
    spec: { template: { spec: { containers: [] } } },
    status: {
      startTime: '1999-12-31T00:00:00Z',
      conditions: ends
        ? [{ type: ends, status: 'True', reason: 'DeadlineExceeded', message: 'too late' }]
        : [],
    },
  };
}

function outcome(facts: Partial<AddonFacts> & Pick<AddonFacts, 'addon'>): string {
  const { state, mark, step } = planAddon({
    chart: undefined,
    job: undefined,
    isNamespaceEnding: false,
    ...facts,
  });
  const reason = 'waiting' in mark && mark.waiting ? ` ${mark.waiting.reason}` : '';
  return `${state} ${mark.kind}${reason}${step.action === 'none' ? '' : `, ${step.action}`}`;
}

describe('planAddon', () => {
  const on = addon(true);
  const enabling = addon(true, 'AddonEnabling');
  const deployed = addon(true, 'AddonDeploySuccessful');
  const chart = chartFor(on);
  const newer = addon(true, 'AddonDeploySuccessful', { valuesContent: 'a: 2' });
  const going = chartFor(on, { deletionTimestamp: now });
  const foreign = chartFor(on, { ownerReferences: [{ apiVersion: '', kind: 'Other', name: 'x', uid: 'x' }] });
  const left = chartFor(on, {
    deletionTimestamp: now,
    ownerReferences: [{ apiVersion: '', kind: 'Addon', name: 'web', uid: 'earlier' }],
  });
  const removal = { ...going, status: { jobName: 'helm-delete-web' } };
  const stuck = (reason: string, message: string): HelmChart => ({
    ...chart,
    status: {
      jobName: 'helm-install-web',
      conditions: [{ type: 'Deployed', status: 'False', reason, message }],
    },
  });
  const cases: readonly [string, Partial<AddonFacts> & Pick<AddonFacts, 'addon'>, string][] = [
    ['a new one, disabled', { addon: addon(false) }, 'AddonDisabled completed'],
    ['enabled', { addon: on }, 'AddonEnabling in-progress, create-chart'],
    ['its chart is there', { addon: enabling, chart }, 'AddonEnabling in-progress'],
    ['its Job works', { addon: enabling, chart, job: job(chart) }, 'AddonEnabling in-progress'],
    [
      'its Job is done, made before it was enabled',
      { addon: enabling, chart, job: job(chart, 'Complete') },
      'AddonDeploySuccessful completed',
    ],
    [
      'the Job of an earlier state is done',
      { addon: enabling, chart: chartFor(on, { generation: 2 }), job: job(chart, 'Complete') },
      'AddonEnabling in-progress',
    ],
    [
      'the Job of an earlier chart is done',
      { addon: enabling, chart: chartFor(on, { uid: 'other' }), job: job(chart, 'Complete') },
      'AddonEnabling in-progress',
    ],
    [
      'its Job has failed, for whatever reason',
      { addon: enabling, chart, job: job(chart, 'Failed') },
      'AddonEnabling failed DeadlineExceeded',
    ],
    [
      'it has failed and its values have changed',
      { addon: { ...newer, status: { status: 'AddonEnabling' } }, chart, job: job(chart, 'Failed') },
      'AddonEnabling in-progress, update-chart',
    ],
    [
      'it has failed and is to be tried again',
      {
        addon: addon(true, 'AddonEnabling', {}, { [retryAnnotation]: '1' }),
        chart,
        job: job(chart, 'Failed'),
      },
      'AddonEnabling in-progress, update-chart',
    ],
    [
      'somebody has uninstalled its release by hand',
      {
        addon: deployed,
        chart: stuck('ReleaseRemoved', 'not there; needs someone: retry'),
        job: job(chart, 'Complete'),
      },
      'AddonUpdating failed ReleaseRemoved',
    ],
    [
      'it waits',
      { addon: enabling, chart: stuck('Unschedulable', 'no room; tried again by itself'), job: job(chart) },
      'AddonEnabling in-progress Unschedulable',
    ],
    [
      'its values have changed',
      { addon: newer, chart, job: job(chart, 'Complete') },
      'AddonUpdating in-progress, update-chart',
    ],
    [
      'its update works',
      { addon: addon(true, 'AddonUpdating'), chart, job: job(chart) },
      'AddonUpdating in-progress',
    ],
    [
      'its update is done',
      { addon: addon(true, 'AddonUpdating'), chart, job: job(chart, 'Complete') },
      'AddonDeploySuccessful completed',
    ],
    ['its Job was deleted', { addon: deployed, chart }, 'AddonDeploySuccessful completed'],
    [
      'its Job was made again and fails',
      { addon: deployed, chart: stuck('HookFailed', 'no; needs someone: x'), job: job(chart) },
      'AddonUpdating failing HookFailed',
    ],
    [
      'its first try has failed, and is followed by others',
      {
        addon: enabling,
        chart: stuck('RepositoryUnreachable', 'no route; tried again by itself'),
        job: job(chart),
      },
      'AddonEnabling failing RepositoryUnreachable',
    ],
    [
      'its first try has failed in an image of its own',
      {
        addon: enabling,
        chart: stuck('OperationFailed', 'it ended with 3; tried again by itself'),
        job: job(chart),
      },
      'AddonEnabling failing OperationFailed',
    ],
    [
      'its chart refers to what is not there',
      { addon: enabling, chart: stuck('ReferenceMissing', 'no Secret; needs someone: make it') },
      'AddonEnabling failing ReferenceMissing',
    ],
    [
      'its chart still tells of the operation before',
      {
        addon: enabling,
        chart: stuck('HookFailed', 'no; needs someone: x'),
        job: job(chartFor(on, { generation: 2 }), 'Failed'),
      },
      'AddonEnabling in-progress HookFailed',
    ],
    [
      'the first try of its removal has failed',
      {
        addon: addon(false, 'AddonDisabling'),
        chart: { ...removal, status: { ...stuck('HookFailed', 'no; needs someone: x').status } },
        job: job(going, undefined, 'helm-delete-web'),
      },
      'AddonDisabling failing HookFailed',
    ],
    ['its chart was deleted by hand', { addon: deployed }, 'AddonEnabling in-progress, create-chart'],
    [
      'a chart of an earlier one of its name is being uninstalled',
      { addon: on, chart: left },
      'AddonDisabling in-progress',
    ],
    [
      'the same, disabled, and that has failed',
      { addon: addon(false), chart: left, job: job(left, 'Failed', 'helm-delete-web') },
      'AddonDisabling failed DeadlineExceeded',
    ],
    [
      'the same, and it is to be tried again',
      {
        addon: addon(false, 'AddonDisabling', {}, { [retryAnnotation]: '2' }),
        chart: left,
        job: job(left, 'Failed', 'helm-delete-web'),
      },
      'AddonDisabling in-progress, update-chart',
    ],
    ['its chart is that of others', { addon: on, chart: foreign }, 'AddonEnabling failed ChartOfOthers'],
    [
      "its chart is nobody's",
      { addon: on, chart: chartFor(on, { ownerReferences: [] }) },
      'AddonEnabling in-progress, update-chart',
    ],
    [
      'its namespace ends',
      { addon: enabling, isNamespaceEnding: true },
      'AddonEnabling failed NamespaceTerminating',
    ],
    [
      'its defaults are no base64',
      { addon: addon(true, '', { valuesContent: '' }, { [addonDefaultsAnnotation]: '***' }) },
      'AddonEnabling failed DefaultsUnreadable',
    ],
    [
      'disabled',
      { addon: addon(false, 'AddonDeploySuccessful'), chart, job: job(chart, 'Complete') },
      'AddonDisabling in-progress, delete-chart',
    ],
    [
      'disabled in the middle',
      { addon: addon(false, 'AddonEnabling'), chart, job: job(chart) },
      'AddonDisabling in-progress, delete-chart',
    ],
    [
      'disabled after a failure',
      { addon: addon(false, 'AddonEnabling'), chart, job: job(chart, 'Failed') },
      'AddonDisabling in-progress, delete-chart',
    ],
    [
      'its removal works',
      {
        addon: addon(false, 'AddonDisabling'),
        chart: removal,
        job: job(going, undefined, 'helm-delete-web'),
      },
      'AddonDisabling in-progress',
    ],
    [
      'its removal has failed',
      { addon: addon(false, 'AddonDisabling'), chart: removal, job: job(going, 'Failed', 'helm-delete-web') },
      'AddonDisabling failed DeadlineExceeded',
    ],
    [
      'its removal has failed and is to be tried again',
      {
        addon: addon(false, 'AddonDisabling', {}, { [retryAnnotation]: '1' }),
        chart: removal,
        job: job(going, 'Failed', 'helm-delete-web'),
      },
      'AddonDisabling in-progress, update-chart',
    ],
    [
      'its removal begins, its installation had failed',
      { addon: addon(false, 'AddonDisabling'), chart: going, job: job(going, 'Failed') },
      'AddonDisabling in-progress',
    ],
    ['its chart has gone', { addon: addon(false, 'AddonDisabling') }, 'AddonDisabled completed'],
    [
      'enabled while it is removed',
      { addon: addon(true, 'AddonDisabling'), chart: removal, job: job(going, undefined, 'helm-delete-web') },
      'AddonDisabling in-progress',
    ],
    [
      'enabled, and the removal is over',
      { addon: addon(true, 'AddonDisabling') },
      'AddonEnabling in-progress, create-chart',
    ],
    [
      'disabled, and the chart is that of others',
      { addon: addon(false), chart: foreign },
      'AddonDisabled completed',
    ],
  ];
  for (const [name, facts, expected] of cases)
    it(`${name}: ${expected}`, () => assert.equal(outcome(facts), expected));

  it('falls back to the values that it was published with', () => {
    const annotations = { [addonDefaultsAnnotation]: Buffer.from('b: 2').toString('base64') };
    const { step } = planAddon({
      addon: addon(true, '', { valuesContent: '' }, annotations),
      chart: undefined,
      job: undefined,
      isNamespaceEnding: false,
    });
    assert.equal(step.action === 'create-chart' && step.chart.spec?.valuesContent, 'b: 2');
  });
});

describe('planAddonStatus', () => {
  it('has the three marks, says who is at work, and says nothing twice', () => {
    const enabled = addon(true, 'AddonEnabling');
    const chart = chartFor(enabled);
    const facts = { addon: enabled, chart, job: job(chart), isNamespaceEnding: false };
    const next = planAddonStatus(enabled, planAddon(facts), now);
    assert.deepEqual(next?.status, {
      status: 'AddonEnabling',
      conditions: [
        { type: 'Completed', status: 'False', reason: '', message: '', lastUpdateTime: now },
        {
          type: 'InProgress',
          status: 'True',
          reason: '',
          message:
            'its installation is at work since 1999-12-31T00:00:00Z in the Job default/helm-install-web',
          lastUpdateTime: now,
        },
        { type: 'OperationFailed', status: 'False', reason: '', message: '', lastUpdateTime: now },
      ],
    });
    assert.equal(
      planAddonStatus(next ?? enabled, planAddon({ ...facts, addon: next ?? enabled }), 'later'),
      undefined,
    );
  });

  it('says after the first failed try what failed, and that it goes on', () => {
    const enabled = addon(true, 'AddonEnabling');
    const message = 'no route to host; the next try begins at 2026-01-01T00:00:10Z; tried again by itself';
    const made = chartFor(enabled);
    const conditions = [
      { type: 'Deployed', status: 'False' as const, reason: 'RepositoryUnreachable', message },
    ];
    const chart = { ...made, status: { ...made.status, conditions } };
    const plan = planAddon({ addon: enabled, chart, job: job(chart), isNamespaceEnding: false });
    const told = planAddonStatus(enabled, plan, now)?.status?.conditions ?? [];
    assert.deepEqual(
      told.map(({ type, status, reason, message: words }) => [type, status, reason, words]),
      [
        ['Completed', 'False', '', ''],
        [
          'InProgress',
          'True',
          'RepositoryUnreachable',
          `its installation is at work since 1999-12-31T00:00:00Z in the Job default/helm-install-web; ${message}`,
        ],
        ['OperationFailed', 'True', 'Error', `RepositoryUnreachable: ${message}`],
      ],
    );
  });

  it('says what failed and what to do', () => {
    const enabled = addon(true, 'AddonEnabling');
    const chart = chartFor(enabled);
    const plan = planAddon({ addon: enabled, chart, job: job(chart, 'Failed'), isNamespaceEnding: false });
    const failed = planAddonStatus(enabled, plan, now)?.status?.conditions?.find(
      ({ type }) => type === 'OperationFailed',
    );
    assert.deepEqual(failed, {
      type: 'OperationFailed',
      status: 'True',
      reason: 'Error',
      message:
        'DeadlineExceeded: the Job default/helm-install-web has failed: too late; needs someone: change the values, or set the annotation sheaf.dev/retry to another text',
      lastUpdateTime: now,
    });
  });
});
