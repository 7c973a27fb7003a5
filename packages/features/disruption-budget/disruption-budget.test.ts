import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { KubeObject } from '@sheaf/api';
import { silentLogger } from '@sheaf/base';
import { type ResourceRef, resources } from '@sheaf/client';
import { Manager } from '@sheaf/runtime';
import { SeededRandom, settle, startTestServer, TestClock } from '@sheaf/testkit';
import { type Budget, planBudget } from './plan.ts';
import { budgetResource } from './reconcile.ts';
import { register } from './register.ts';

const replicaSets: ResourceRef = {
  group: 'apps',
  version: 'v1',
  plural: 'replicasets',
  kind: 'ReplicaSet',
  namespaced: true,
};
const labels = { app: 'a' };
const containers = [{ name: 'c', image: 'x' }];

it('the status follows pods and what their controller wants', async () => {
  const clock = new TestClock();
  const { client, close } = await startTestServer({ clock });
  await client.create(resources.namespaces, { metadata: { name: 'default' } });
  await client.create(resources.serviceAccounts, { metadata: { namespace: 'default', name: 'default' } });
  const manager = new Manager({ client, clock, random: new SeededRandom(3), logger: silentLogger });
  register(manager);
  void manager.start();
  const place = { namespace: 'default', name: 'a' };
  const find = (): Promise<Budget> => client.get(budgetResource, place);
  const until = (claim: (budget: Budget) => boolean): Promise<void> =>
    settle({ clock, until: async () => claim(await find()) });
  try {
    const set = await client.create(replicaSets, {
      metadata: place,
      spec: {
        replicas: 4,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers } },
      },
    });
    const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'a', controller: true };
    const spec = { selector: { matchLabels: labels }, maxUnavailable: '50%' };
    await client.create(budgetResource, { metadata: place, spec });
    await until(({ status }) => status?.conditions?.[0]?.reason === 'InsufficientPods');
    for (const name of ['p1', 'p2', 'p3']) {
      const pod = await client.create(resources.pods, {
        metadata: {
          namespace: 'default',
          name,
          labels,
          ownerReferences: [{ ...owner, uid: set.metadata.uid ?? '' }],
        },
        spec: { containers },
      });
      const status = { conditions: [{ type: 'Ready', status: 'True' as const }] };
      await client.updateStatus(resources.pods, { ...pod, status });
    }
    await until(({ status }) => status?.currentHealthy === 3);
    const { conditions, ...status } = (await find()).status ?? {};
    assert.deepEqual(status, {
      currentHealthy: 3,
      desiredHealthy: 2,
      disruptionsAllowed: 1,
      expectedPods: 4,
      observedGeneration: 1,
    });
    assert.deepEqual(
      conditions?.map((condition) => [condition.type, condition.status, condition.reason]),
      [['DisruptionAllowed', 'True', 'SufficientPods']],
    );
    await client.delete(replicaSets, place, { propagationPolicy: 'Background' });
    await until((budget) => budget.status?.conditions?.[0]?.reason === 'SyncFailed');
    assert.equal((await find()).status?.disruptionsAllowed, 0);
  } finally {
    await manager.stop();
    await close();
  }
});

it('a pod being evicted is not healthy, for two minutes', () => {
  const now = '2026-01-01T00:02:00Z';
  const ready = { conditions: [{ type: 'Ready', status: 'True' }] };
  const pods: KubeObject[] = ['a', 'b'].map((name) => ({ metadata: { name }, status: ready }));
  const facts = { pods, wantedPods: 0, nowMs: Date.parse(now), now };
  const plan = (time: string): unknown => {
    const budget = { metadata: {}, spec: { minAvailable: 1 }, status: { disruptedPods: { a: time } } };
    const { conditions: _, ...rest } = planBudget(budget, facts)?.status ?? {};
    return rest;
  };
  const common = { desiredHealthy: 1, expectedPods: 2, observedGeneration: 0 };
  const recent = '2026-01-01T00:01:00Z';
  assert.deepEqual(plan(recent), {
    ...common,
    currentHealthy: 1,
    disruptionsAllowed: 0,
    disruptedPods: { a: recent },
  });
  assert.deepEqual(plan('2025-12-31T23:59:00Z'), { ...common, currentHealthy: 2, disruptionsAllowed: 1 });
});
