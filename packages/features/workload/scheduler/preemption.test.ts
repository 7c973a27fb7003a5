import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '@sheaf/api/workload/index';
import { resources } from '@sheaf/client';
import { template, WorkloadWorld, waits } from '../workload-world.fixture.ts';
import { register } from './register.ts';

interface Wish {
  readonly cpu: string;
  readonly importance?: keyof typeof classes;
  readonly app?: string;
}

const classes = {
  small: { value: 1 },
  medium: { value: 5 },
  high: { value: 100 },
  patient: { value: 100, preemptionPolicy: 'Never' },
};

/** One node with one processor. */
function withNode(use: (world: WorkloadWorld) => Promise<void>): Promise<void> {
  return WorkloadWorld.run(register, async (world) => {
    world.fate = waits;
    const node = await world.client.create(resources.nodes, { metadata: { name: 'here' } });
    const bare = await world.client.update(resources.nodes, { ...node, spec: { taints: [] } });
    const allocatable = { cpu: '1', memory: '1Gi', pods: '9' };
    await world.client.updateStatus(resources.nodes, {
      ...bare,
      status: { allocatable, capacity: allocatable },
    });
    for (const [name, priority] of Object.entries(classes))
      await world.client.create(resources.priorityClasses, { metadata: { name }, ...priority });
    await use(world);
  });
}

async function addPod(world: WorkloadWorld, name: string, { cpu, importance, app }: Wish): Promise<void> {
  const containers = [{ name: 'c', image: 'i', resources: { requests: { cpu } } }];
  await world.client.create(resources.pods, {
    metadata: { namespace: 'default', name, labels: { app: app ?? name } },
    spec: { ...template().spec, containers, ...(importance && { priorityClassName: importance }) },
  });
}

const podOf = (world: WorkloadWorld, name: string): Promise<Pod> => world.get(resources.pods, name);

async function isPlaced(world: WorkloadWorld, name: string): Promise<boolean> {
  return (await podOf(world, name)).spec.nodeName === 'here';
}

async function isLeaving(world: WorkloadWorld, name: string): Promise<boolean> {
  return (await podOf(world, name)).metadata.deletionTimestamp !== undefined;
}

describe('a pod that is more important than others', () => {
  it('has the place of those that are less so, as few as will do, and nobody takes it meanwhile', () =>
    withNode(async (world) => {
      world.isLettingGo = false;
      await addPod(world, 'low', { cpu: '600m', importance: 'small' });
      await addPod(world, 'lowest', { cpu: '100m' });
      await addPod(world, 'medium', { cpu: '300m', importance: 'medium' });
      for (const name of ['low', 'lowest', 'medium']) await world.until(() => isPlaced(world, name));
      await addPod(world, 'high', { cpu: '500m', importance: 'high' });
      await world.until(() => isLeaving(world, 'low'));
      assert.deepEqual([await isLeaving(world, 'lowest'), await isLeaving(world, 'medium')], [false, false]);
      assert.equal((await podOf(world, 'high')).status?.nominatedNodeName, 'here');
      const [reason] = ((await podOf(world, 'low')).status?.conditions ?? [])
        .filter(({ type }) => type === 'DisruptionTarget')
        .map((condition) => condition.reason);
      assert.equal(reason, 'PreemptionByScheduler');
      await addPod(world, 'thief', { cpu: '600m', importance: 'small' });
      await world.client.delete(
        resources.pods,
        { namespace: 'default', name: 'low' },
        { gracePeriodSeconds: 0 },
      );
      await world.until(() => isPlaced(world, 'high'));
      assert.equal((await podOf(world, 'high')).status?.nominatedNodeName, undefined);
      assert.deepEqual([await isPlaced(world, 'thief'), await isLeaving(world, 'medium')], [false, false]);
      const { items } = await world.client.list(resources.events, { namespace: 'default' });
      assert.ok(items.some((event) => event['reason'] === 'Preempted'));
    }));

  it('ends nobody where that would not help, or where it does not want to', () =>
    withNode(async (world) => {
      await addPod(world, 'low', { cpu: '600m' });
      await world.until(() => isPlaced(world, 'low'));
      await addPod(world, 'huge', { cpu: '2', importance: 'high' });
      await addPod(world, 'patient', { cpu: '600m', importance: 'patient' });
      for (const name of ['huge', 'patient'])
        await world.until(async () => (await podOf(world, name)).status?.conditions !== undefined);
      assert.deepEqual([await isLeaving(world, 'low'), await isPlaced(world, 'patient')], [false, false]);
    }));

  it('takes from those first that no budget protects', () =>
    withNode(async (world) => {
      for (const name of ['a', 'b']) {
        await addPod(world, name, { cpu: '500m', app: name });
        await world.until(() => isPlaced(world, name));
      }
      await world.client.raw('/apis/policy/v1/namespaces/default/poddisruptionbudgets', {
        method: 'POST',
        body: JSON.stringify({
          apiVersion: 'policy/v1',
          kind: 'PodDisruptionBudget',
          metadata: { name: 'keep' },
          spec: { minAvailable: 1, selector: { matchLabels: { app: 'a' } } },
        }),
      });
      world.isLettingGo = false;
      await addPod(world, 'high', { cpu: '400m', importance: 'high' });
      await world.until(() => isLeaving(world, 'b'));
      assert.equal(await isLeaving(world, 'a'), false);
    }));
});
