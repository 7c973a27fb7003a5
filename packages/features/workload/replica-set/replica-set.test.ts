import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod, ReplicaSet } from '@sheaf/api/workload/index';
import { resources } from '@sheaf/client';
import { labels, template, WorkloadWorld, waits } from '../workload-world.fixture.ts';
import { deletionOrder } from './deletion-order.ts';
import { register } from './register.ts';

const spec = { replicas: 3, selector: { matchLabels: labels }, template: template() };

describe('a replica set', () => {
  const withSet = (use: (world: WorkloadWorld) => Promise<void>): Promise<void> =>
    WorkloadWorld.run(register, async (world) => {
      await world.create(resources.replicaSets, 'web', { spec });
      await world.until(async () => (await statusOf(world))?.readyReplicas === 3);
      await use(world);
    });

  it('has as many pods as it asks for, scaled up and down', () =>
    withSet(async (world) => {
      const [pod] = await world.pods();
      assert.match(pod?.metadata.name ?? '', /^web-[a-z0-9]{5}$/);
      assert.deepEqual(await statusOf(world), {
        replicas: 3,
        fullyLabeledReplicas: 3,
        readyReplicas: 3,
        availableReplicas: 3,
        terminatingReplicas: 0,
        observedGeneration: 1,
      });
      await world.change(resources.replicaSets, 'web', { spec: { replicas: 5 } });
      await world.until(async () => (await statusOf(world))?.availableReplicas === 5);
      await world.change(resources.replicaSets, 'web', { spec: { replicas: 0 } });
      await world.until(async () => (await statusOf(world))?.replicas === 0);
      assert.deepEqual(await world.pods(), []);
    }));

  it('replaces a pod that has failed or been deleted', () =>
    withSet(async (world) => {
      const [first, second] = await world.pods();
      await world.setStatus(first as Pod, { phase: 'Failed' });
      await world.client.delete(resources.pods, { namespace: 'default', name: second?.metadata.name ?? '' });
      await world.until(async () => {
        const pods = await world.pods();
        return pods.length === 4 && pods.filter(({ status }) => status?.phase === 'Running').length === 3;
      });
    }));

  it('adopts orphans that match, and lets go of pods that do not', () =>
    withSet(async (world) => {
      const [pod] = await world.pods();
      const name = pod?.metadata.name ?? '';
      await world.change(resources.pods, name, { metadata: { labels: { app: 'aside' } } });
      await world.until(async () => (await world.pods()).length === 4);
      await world.until(
        async () => (await world.get(resources.pods, name)).metadata.ownerReferences === undefined,
      );
      await world.change(resources.pods, name, { metadata: { labels } });
      await world.until(async () => {
        const pods = await world.pods();
        return (
          pods.length === 3 && pods.every(({ metadata }) => metadata.ownerReferences?.[0]?.name === 'web')
        );
      });
    }));

  it('says what refuses its pods, and goes on when nothing does', () =>
    WorkloadWorld.run(register, async (world) => {
      await world.create(resources.resourceQuotas, 'few', { spec: { hard: { pods: '1' } } });
      await world.client.updateStatus(resources.resourceQuotas, {
        ...(await world.get(resources.resourceQuotas, 'few')),
        status: { hard: { pods: '1' }, used: { pods: '0' } },
      });
      await world.create(resources.replicaSets, 'web', { spec });
      await world.until(async () => (await statusOf(world))?.conditions?.[0]?.reason === 'FailedCreate');
      assert.match((await statusOf(world))?.conditions?.[0]?.message ?? '', /exceeded quota: few/);
      await world.client.delete(resources.resourceQuotas, { namespace: 'default', name: 'few' });
      await world.until(async () => (await statusOf(world))?.readyReplicas === 3);
      assert.equal((await statusOf(world))?.conditions, undefined);
    }));

  it('counts a pod as available only after minReadySeconds', () =>
    WorkloadWorld.run(register, async (world) => {
      world.fate = waits;
      await world.create(resources.replicaSets, 'web', {
        spec: { ...spec, replicas: 1, minReadySeconds: 30 },
      });
      await world.until(async () => (await world.pods()).length === 1);
      const [pod] = await world.pods();
      const lastTransitionTime = new Date(world.clock.now()).toISOString();
      await world.setStatus(pod as Pod, {
        phase: 'Running',
        conditions: [{ type: 'Ready', status: 'True', lastTransitionTime }],
      });
      const readyAt = world.clock.now();
      await world.until(async () => (await statusOf(world))?.readyReplicas === 1);
      assert.equal((await statusOf(world))?.availableReplicas, undefined);
      await world.until(async () => (await statusOf(world))?.availableReplicas === 1);
      assert.ok(world.clock.now() - readyAt >= 29_000);
    }));
});

it('pods that are missed least are deleted first', () => {
  const nowMs = Date.parse('2026-01-01T01:00:00Z');
  const pod = (name: string, change: Partial<Pod> & { cost?: string; ready?: string } = {}): Pod => ({
    metadata: {
      name,
      uid: name,
      creationTimestamp: '2026-01-01T00:00:00Z',
      ...(change.cost !== undefined && {
        annotations: { 'controller.kubernetes.io/pod-deletion-cost': change.cost },
      }),
    },
    spec: { containers: [], nodeName: 'n', ...change.spec },
    status: {
      phase: 'Running',
      ...(change.ready !== undefined && {
        conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: change.ready }],
      }),
      ...change.status,
    },
  });
  const ready = '2026-01-01T00:00:30Z';
  const pods = [
    pod('long-ready', { ready }),
    pod('just-ready', { ready: '2026-01-01T00:59:50Z' }),
    pod('dear', { ready, cost: '5' }),
    pod('cheap', { ready, cost: '-5' }),
    pod('not-ready'),
    pod('pending', { status: { phase: 'Pending' } }),
    pod('unscheduled', { spec: { containers: [], nodeName: '' } }),
  ];
  assert.deepEqual(
    deletionOrder(pods, nowMs).map(({ metadata }) => metadata.name),
    ['unscheduled', 'pending', 'not-ready', 'cheap', 'just-ready', 'long-ready', 'dear'],
  );
});

async function statusOf(world: WorkloadWorld): Promise<ReplicaSet['status']> {
  return (await world.get(resources.replicaSets, 'web')).status;
}
