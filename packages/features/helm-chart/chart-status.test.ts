import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { HelmChart } from '@sheaf/api/virtualization/index';
import type { Job, Pod } from '@sheaf/api/workload/index';
import { planChartStatus } from './chart-status.ts';
import { troubleOf } from './operation-trouble.ts';
import type { ChartFacts } from './plan.ts';

const chart: HelmChart = {
  metadata: { namespace: 'default', name: 'web', uid: 'c' },
  spec: { chart: 'web' },
};
const job = {
  metadata: { namespace: 'default', name: 'helm-install-web', uid: 'j' },
  spec: {},
  status: { conditions: [{ type: 'Complete', status: 'True' }] },
} as unknown as Job;

function podThatSays(message: string, exitCode = 0): Pod {
  return {
    metadata: { ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: 'x', uid: 'j' }] },
    status: { phase: 'Succeeded', containerStatuses: [{ state: { terminated: { exitCode, message } } }] },
  } as unknown as Pod;
}

it('tells which definitions the operation has brought, also when its pod has been taken away', () => {
  const facts = { chart, jobs: [job] } as unknown as ChartFacts;
  const told = (of: HelmChart, pods: readonly Pod[]): HelmChart | undefined =>
    planChartStatus({ ...facts, chart: of, pods }, { action: 'none' });
  const first = told(chart, [podThatSays('definitions: a.example, b.example')]);
  const deployed = first?.status?.conditions?.find(({ type }) => type === 'Deployed');
  assert.deepEqual(deployed, {
    type: 'Deployed',
    status: 'True',
    reason: 'Deployed',
    message: 'definitions: a.example, b.example',
  });
  assert.equal(told(first ?? chart, []), undefined);
  const silent = told(chart, [podThatSays('another word'), podThatSays('definitions: c.example', 1)]);
  assert.equal(silent?.status?.conditions?.find(({ type }) => type === 'Deployed')?.message, undefined);
});

const failedJob: Job = {
  ...job,
  status: {
    conditions: [{ type: 'Failed', status: 'True', reason: 'BackoffLimitExceeded', message: 'too often' }],
  },
} as unknown as Job;

it('keeps the last words of an operation whose pod has gone with its last try', () => {
  const facts = { chart, jobs: [failedJob], pods: [] } as unknown as ChartFacts;
  const waiting = troubleOf(failedJob, []);
  assert.equal(waiting?.reason, 'BackoffLimitExceeded');
  const message =
    'no route to host; the next try begins at 10:00; check the address of the repository and the network; waits for Pod default/x; tried again by itself';
  const before: HelmChart = {
    ...chart,
    status: { conditions: [{ type: 'Deployed', status: 'False', reason: 'RepositoryUnreachable', message }] },
  };
  const told = planChartStatus({ ...facts, chart: before }, { action: 'none', waiting });
  assert.deepEqual(
    told?.status?.conditions?.filter(({ type }) => type === 'Deployed'),
    [
      {
        type: 'Deployed',
        status: 'False',
        reason: 'RepositoryUnreachable',
        message:
          'no route to host; waits for Job default/helm-install-web; needs someone: check the address of the repository and the network; then change the chart, or set its annotation sheaf.dev/retry to another text',
      },
    ],
  );
  assert.equal(planChartStatus({ ...facts, chart: told ?? chart }, { action: 'none', waiting }), undefined);
  const silent = planChartStatus(facts, { action: 'none', waiting });
  assert.equal(
    silent?.status?.conditions?.find(({ type }) => type === 'Deployed')?.reason,
    'BackoffLimitExceeded',
  );
});

it('a run that was told to end with its Job does not hide the one that failed', () => {
  const ended = (exitCode: number, message: string) => ({ terminated: { exitCode, message } });
  const pod = (state: object, lastState: object): Pod =>
    ({
      metadata: {},
      status: { phase: 'Failed', containerStatuses: [{ state, lastState }] },
    }) as unknown as Pod;
  const reasonOf = (of: Pod): string | undefined => troubleOf(failedJob, [of])?.reason;
  assert.equal(reasonOf(pod(ended(143, ''), ended(67, 'no route'))), 'RepositoryUnreachable');
  assert.equal(reasonOf(pod(ended(143, ''), {})), 'Interrupted');
  assert.equal(reasonOf(pod(ended(65, 'values'), ended(67, 'no route'))), 'ValuesInvalid');
});

it('names the pod of an operation at work, and the hook that Helm waits for', () => {
  const running = { ...job, status: {} };
  const pod = {
    metadata: { namespace: 'default', name: 'x', ownerReferences: podThatSays('').metadata.ownerReferences },
    status: { phase: 'Running' },
  } as unknown as Pod;
  const told = (hooks: ChartFacts['hooks']): string | undefined => {
    const facts = { chart, jobs: [running], pods: [pod], hooks } as unknown as ChartFacts;
    const conditions = planChartStatus(facts, { action: 'none' })?.status?.conditions;
    return conditions?.find(({ type }) => type === 'Deployed')?.message;
  };
  assert.equal(told(undefined), 'in the Pod default/x');
  assert.equal(
    told([{ kind: 'Job', name: 'web-migrate' }]),
    'in the Pod default/x, which waits for its hook Job web-migrate',
  );
});
