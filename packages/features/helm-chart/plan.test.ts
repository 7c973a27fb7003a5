import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Waiting } from '@sheaf/api';
import { retryAnnotation } from '@sheaf/api/addon/index';
import type { ContainerState, Job, Pod, PodStatus } from '@sheaf/api/workload/index';
import { annotated, chart, factsOf, fresh, going, withSpec } from './chart-facts.fixture.ts';
import { operationJob } from './chart-job.ts';
import { chartLabel, managerAnnotation } from './chart-names.ts';
import { planChartStatus } from './chart-status.ts';
import { type ChartFacts, type ChartStep, planChart } from './plan.ts';

/** As the server has it. */
function job(kind: 'install' | 'delete' = 'install', of = factsOf(), ends?: 'Complete' | 'Failed'): Job {
  const planned = operationJob(of, kind);
  const conditions = ends ? [{ type: ends, status: 'True' as const, reason: 'BackoffLimitExceeded' }] : [];
  return { ...planned, metadata: { ...planned.metadata, uid: kind }, status: { conditions } };
}

function resting(type?: string): Job {
  const made = job();
  const conditions = type ? [{ type, status: 'True' as const }] : [];
  return { ...made, spec: { ...made.spec, suspend: true }, status: { conditions } };
}

function pod(of: string, status: PodStatus): Pod {
  return {
    metadata: {
      namespace: 'default',
      name: `helm-${of}-web-x`,
      labels: { [chartLabel]: 'web' },
      ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: of, uid: of }],
    },
    spec: { containers: [] },
    status,
  };
}

const container = { name: 'helm', image: '', imageID: '', ready: false, restartCount: 0 };
const working: PodStatus = {
  phase: 'Running',
  containerStatuses: [{ ...container, state: { running: {} } }],
};

function ended(exitCode: number, message: string): PodStatus {
  return {
    phase: 'Running',
    containerStatuses: [
      {
        ...container,
        state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off' } },
        lastState: { terminated: { exitCode, message } },
      },
    ],
  };
}

/** Its next try rests, or is at work. */
function again(state: ContainerState, finishedAt = '2026-01-01T00:00:00Z'): PodStatus {
  const lastState = { terminated: { exitCode: 67, message: 'no route to host', finishedAt } };
  return { phase: 'Running', containerStatuses: [{ ...container, state, lastState }] };
}

const stuckHook: Waiting = { reason: 'ErrImagePull', text: 'no such host', nature: 'transient' };

function wordOf(step: ChartStep): string {
  return 'waiting' in step && step.waiting ? `${step.action} ${step.waiting.reason}` : step.action;
}

describe('planChart', () => {
  const newer = withSpec({ valuesContent: 'a: 2' });
  const secrets = withSpec({ valuesSecrets: [{ name: 'more', keys: ['values'] }] });
  const more = { metadata: { name: 'more' }, data: { other: '' } };
  const cases: readonly [string, Partial<ChartFacts>, string][] = [
    ['a new one', { chart: fresh }, 'claim'],
    ['nobody is to care for it', { chart: annotated('helmcharts.helm.cattle.io/unmanaged', 'true') }, 'none'],
    ['someone else cares for it', { chart: annotated(managerAnnotation, 'other') }, 'none'],
    ['a new one in a namespace that ends', { chart: fresh, isNamespaceEnding: true }, 'none'],
    ['one in a namespace that ends', { isNamespaceEnding: true }, 'none NamespaceTerminating'],
    [
      'a version of Helm that is not there',
      { chart: withSpec({ helmVersion: 'v2' }) },
      'none UnsupportedVersion',
    ],
    ['it names no chart', { chart: withSpec({ chart: '' }) }, 'none ChartNotNamed'],
    ['its values are missing', { chart: secrets }, 'none ReferenceMissing'],
    [
      'a key is missing',
      { chart: secrets, referred: new Map([['Secret/more', more]]) },
      'none ReferenceMissing',
    ],
    ['nothing stands in the way', {}, 'begin'],
    ['its Job is there', { jobs: [job()] }, 'none'],
    [
      'its Job is for an earlier state of the same',
      { chart: { ...chart, metadata: { ...chart.metadata, generation: 3 } }, jobs: [job()] },
      'note',
    ],
    [
      'another operation is at work',
      { chart: newer, jobs: [job()], pods: [pod('install', working)] },
      'none OperationInProgress',
    ],
    [
      'another operation is at work, and its hook cannot begin',
      { chart: newer, jobs: [job()], pods: [pod('install', working)], hookTrouble: stuckHook },
      'suspend OperationInProgress',
    ],
    [
      'its hook cannot begin',
      { jobs: [job()], pods: [pod('install', working)], hookTrouble: stuckHook },
      'none ErrImagePull',
    ],
    [
      'another operation only waits',
      { chart: newer, jobs: [job()], pods: [pod('install', { phase: 'Pending' })] },
      'suspend EarlierOperationEnding',
    ],
    ['another operation is to rest', { chart: newer, jobs: [resting()] }, 'none EarlierOperationEnding'],
    [
      'another operation rests',
      { chart: newer, jobs: [resting('Suspended')] },
      'drop EarlierOperationEnding',
    ],
    [
      'its own Job rests, for another was wanted',
      { jobs: [resting('Suspended')] },
      'drop EarlierOperationEnding',
    ],
    [
      'another operation has failed before',
      { chart: newer, jobs: [job('install', factsOf(), 'Failed')] },
      'drop EarlierOperationEnding',
    ],
    [
      'another operation is done',
      { chart: newer, jobs: [job('install', factsOf(), 'Complete')] },
      'drop EarlierOperationEnding',
    ],
    ['the pod of another one has not ended', { pods: [pod('gone', working)] }, 'none EarlierOperationEnding'],
    ['the pod of another one has ended', { pods: [pod('gone', { phase: 'Succeeded' })] }, 'begin'],
    [
      'the Job of an earlier chart of its name',
      { chart: { ...chart, metadata: { ...chart.metadata, uid: 'other' } }, jobs: [job()] },
      'suspend EarlierOperationEnding',
    ],
    [
      'the removal of an earlier chart of its name',
      {
        jobs: [
          job('delete', factsOf({ chart: { ...going, metadata: { ...going.metadata, uid: 'other' } } })),
        ],
      },
      'suspend EarlierOperationEnding',
    ],
    ['no pod can be made for it', { jobs: [job()], podRefusal: 'exceeded quota' }, 'none FailedCreate'],
    ['it has failed', { jobs: [job('install', factsOf(), 'Failed')] }, 'none BackoffLimitExceeded'],
    [
      'it has failed and is to be tried again',
      { chart: annotated(retryAnnotation, '2'), jobs: [job('install', factsOf(), 'Failed')] },
      'drop EarlierOperationEnding',
    ],
    ['deleted', { chart: going }, 'begin'],
    [
      'deleted at work',
      { chart: going, jobs: [job()], pods: [pod('install', working)] },
      'suspend OperationInProgress',
    ],
    [
      'deleted, the last pod ends',
      { chart: going, pods: [pod('install', working)] },
      'none EarlierOperationEnding',
    ],
    [
      'deleted, being uninstalled',
      { chart: going, jobs: [job('delete', factsOf({ chart: going }))] },
      'none',
    ],
    [
      'deleted and uninstalled',
      { chart: going, jobs: [job('delete', factsOf({ chart: going }), 'Complete')] },
      'release',
    ],
    [
      'deleted and uninstalled, and an installation came late',
      { chart: going, jobs: [job('delete', factsOf({ chart: going }), 'Complete'), job()] },
      'drop EarlierOperationEnding',
    ],
    [
      'deleted, and an installation came late that nothing runs for any more',
      { chart: going, jobs: [job()] },
      'suspend EarlierOperationEnding',
    ],
    [
      'deleted, uninstalling failed',
      { chart: going, jobs: [job('delete', factsOf({ chart: going }), 'Failed')] },
      'none BackoffLimitExceeded',
    ],
    [
      'deleted, and of a name that no Job can bear',
      { chart: { ...going, metadata: { ...going.metadata, name: 'x'.repeat(51) } } },
      'release',
    ],
    ['deleted with its namespace', { chart: going, isNamespaceEnding: true }, 'release'],
  ];
  for (const [name, facts, word] of cases)
    it(`${name}: ${word}`, () => assert.equal(wordOf(planChart(factsOf(facts))), word));

  it('says which release stays when its own namespace ends before', () => {
    const elsewhere = { ...going, spec: { ...going.spec, targetNamespace: 'apps' } };
    const step = planChart(factsOf({ chart: elsewhere, isNamespaceEnding: true }));
    assert.equal(step.action === 'release' && step.leftBehind, 'helm uninstall web --namespace apps');
  });
});

describe('what an operation waits for', () => {
  const cases: readonly [string, PodStatus, string, string][] = [
    [
      'no room',
      {
        phase: 'Pending',
        conditions: [
          { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/1 nodes' },
        ],
      },
      'Unschedulable',
      '0/1 nodes; make room, or take away what keeps pods from the node; waits for Pod default/helm-install-web-x; tried again by itself',
    ],
    [
      'an image that cannot be pulled',
      {
        phase: 'Pending',
        containerStatuses: [
          { ...container, state: { waiting: { reason: 'ImagePullBackOff', message: 'no such image' } } },
        ],
      },
      'ImagePullBackOff',
      'no such image; see that the image can be pulled, or name another one with jobImage; waits for Pod default/helm-install-web-x; tried again by itself',
    ],
    [
      'an image name that is none',
      {
        phase: 'Pending',
        containerStatuses: [
          { ...container, state: { waiting: { reason: 'InvalidImageName', message: 'no name' } } },
        ],
      },
      'InvalidImageName',
      'no name; waits for Pod default/helm-install-web-x; needs someone: see that the image can be pulled, or name another one with jobImage',
    ],
    [
      'a repository out of reach',
      ended(67, 'no route to host'),
      'RepositoryUnreachable',
      'no route to host; check the address of the repository and the network; waits for Pod default/helm-install-web-x; tried again by itself',
    ],
    [
      'the rest before the next try',
      again({
        waiting: { reason: 'CrashLoopBackOff', message: 'back-off 1m20s restarting failed container=helm' },
      }),
      'RepositoryUnreachable',
      'no route to host; the next try begins at 2026-01-01T00:01:20Z; check the address of the repository and the network; waits for Pod default/helm-install-web-x; tried again by itself',
    ],
    [
      'the next try',
      again({ running: {} }),
      'RepositoryUnreachable',
      'no route to host; the next try is at work; check the address of the repository and the network; waits for Pod default/helm-install-web-x; tried again by itself',
    ],
    [
      'values that the chart refuses',
      ended(65, 'values do not meet the schema'),
      'ValuesInvalid',
      'values do not meet the schema; waits for Pod default/helm-install-web-x; needs someone: correct the values, or use a version of the chart that takes them',
    ],
    [
      'a program that was killed',
      ended(137, ''),
      'Killed',
      'it ended with 137; it is taken up by the next try; waits for Pod default/helm-install-web-x; tried again by itself',
    ],
  ];
  for (const [name, status, reason, message] of cases)
    it(name, () => {
      const facts = factsOf({ jobs: [job()], pods: [pod('install', status)] });
      const next = planChartStatus(facts, planChart(facts));
      assert.deepEqual(
        next?.status?.conditions?.find(({ type }) => type === 'Deployed'),
        {
          type: 'Deployed',
          status: 'False',
          reason,
          message,
        },
      );
    });

  it('tells how to try again after the last try, also where the cause may pass', () => {
    const facts = factsOf({
      jobs: [job('install', factsOf(), 'Failed')],
      pods: [pod('install', { ...ended(67, 'no route to host'), phase: 'Failed' })],
    });
    const conditions = planChartStatus(facts, planChart(facts))?.status?.conditions ?? [];
    assert.match(
      conditions.find(({ type }) => type === 'Deployed')?.message ?? '',
      /needs someone: .*sheaf.dev\/retry/,
    );
    assert.equal(conditions.find(({ type }) => type === 'Failed')?.status, 'True');
  });

  it('is deployed when its Job is, and says nothing twice', () => {
    const facts = factsOf({ jobs: [job('install', factsOf(), 'Complete')] });
    const next = planChartStatus(facts, planChart(facts));
    assert.deepEqual(next?.status, {
      jobName: 'helm-install-web',
      conditions: [
        { type: 'Deployed', status: 'True', reason: 'Deployed' },
        { type: 'Failed', status: 'False' },
        {
          type: 'JobCreated',
          status: 'True',
          reason: 'Job created',
          message: 'Applying HelmChart using Job default/helm-install-web',
        },
      ],
    });
    assert.equal(planChartStatus({ ...facts, chart: next ?? chart }, { action: 'none' }), undefined);
  });
});
