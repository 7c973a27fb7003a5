import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { HelmChart } from '@sheaf/api/virtualization/index';
import type { Job, Pod } from '@sheaf/api/workload/index';
import { planChartStatus } from './chart-status.ts';
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
