import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DaemonSet, DaemonSetSpec } from '@sheaf/api/workload/index';
import { resources } from '@sheaf/client';
import { fails, labels, runs, template, WorkloadWorld, waits } from '../workload-world.fixture.ts';
import { register } from './register.ts';

function withSet(
  change: Partial<DaemonSetSpec>,
  use: (world: WorkloadWorld) => Promise<void>,
  nodes: readonly string[] = ['a', 'b', 'c'],
): Promise<void> {
  return WorkloadWorld.run(register, async (world) => {
    for (const name of nodes) await addNode(world, name);
    const spec = { selector: { matchLabels: labels }, template: template(), ...change };
    await world.create(resources.daemonSets, 'agent', { spec });
    await use(world);
  });
}

async function addNode(world: WorkloadWorld, name: string): Promise<void> {
  await world.client.create(resources.nodes, { metadata: { name, labels: { tier: name } } });
  // A new node has the taint of one that is not ready.
  await world.client.patch(resources.nodes, { name }, { type: 'merge', body: { spec: { taints: [] } } });
}

const setOf = (world: WorkloadWorld): Promise<DaemonSet> => world.get(resources.daemonSets, 'agent');

async function isReady(world: WorkloadWorld, count: number): Promise<boolean> {
  const { status, metadata } = await setOf(world);
  const counts = [status?.desiredNumberScheduled, status?.updatedNumberScheduled, status?.numberAvailable];
  return status?.observedGeneration === metadata.generation && counts.every((each) => each === count);
}

/** On which node each pod is to be, and its image. */
async function placesOf(world: WorkloadWorld): Promise<readonly string[]> {
  const pods = await world.pods();
  return pods
    .map(({ spec }) => {
      const terms =
        spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
      return `${terms?.[0]?.matchFields?.[0]?.values?.[0]} ${spec.containers[0]?.image}`;
    })
    .toSorted((a, b) => a.localeCompare(b));
}

describe('a daemon set', () => {
  it('has a pod on each node, also on one that comes later', () =>
    withSet({}, async (world) => {
      await world.until(() => isReady(world, 3));
      await addNode(world, 'd');
      await world.until(() => isReady(world, 4));
      assert.deepEqual(await placesOf(world), ['a web:1', 'b web:1', 'c web:1', 'd web:1']);
      const [pod] = await world.pods();
      assert.ok(pod?.spec.tolerations?.some(({ key }) => key === 'node.kubernetes.io/unschedulable'));
      await world.client.delete(resources.nodes, { name: 'd' });
      await world.until(async () => (await world.pods()).length === 3);
    }));

  it('goes by selectors and taints of nodes', () =>
    withSet({ template: template('web:1', { nodeSelector: { tier: 'b' } }) }, async (world) => {
      await world.until(() => isReady(world, 1));
      assert.deepEqual(await placesOf(world), ['b web:1']);
      const taints = [{ key: 'own', effect: 'NoExecute' }];
      await world.client.patch(resources.nodes, { name: 'b' }, { type: 'merge', body: { spec: { taints } } });
      await world.until(async () => (await world.pods()).length === 0);
      await world.until(async () => (await setOf(world)).status?.desiredNumberScheduled === 0);
    }));

  it('rolls node by node, and stops where a pod does not become ready', () =>
    withSet({}, async (world) => {
      await world.until(() => isReady(world, 3));
      world.fate = waits;
      await world.change(resources.daemonSets, 'agent', { spec: { template: template('web:2') } });
      await world.until(async () => (await placesOf(world)).some((place) => place.endsWith('web:2')));
      const begin = world.clock.now();
      await world.client.create(resources.configMaps, {
        metadata: { namespace: 'default', name: 'time-passes' },
      });
      await world.until(async () => {
        assert.equal((await placesOf(world)).filter((place) => place.endsWith('web:1')).length, 2);
        return world.clock.now() > begin + 30_000;
      });
      world.fate = runs;
      for (const pod of await world.pods())
        if (pod.status?.phase === 'Pending') await world.setStatus(pod, runs(pod) ?? {});
      await world.until(() => isReady(world, 3));
      assert.deepEqual(await placesOf(world), ['a web:2', 'b web:2', 'c web:2']);
    }));

  it('with surge, the old pod goes when the new one serves', () =>
    withSet(
      { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } },
      async (world) => {
        await world.until(() => isReady(world, 3));
        let fewest = 3;
        await world.change(resources.daemonSets, 'agent', { spec: { template: template('web:2') } });
        await world.until(async () => {
          const running = (await world.pods()).filter(({ status }) => status?.phase === 'Running');
          fewest = Math.min(fewest, running.length);
          return isReady(world, 3);
        });
        assert.equal(fewest, 3);
        await world.until(async () => (await world.pods()).length === 3);
        assert.deepEqual(await placesOf(world), ['a web:2', 'b web:2', 'c web:2']);
      },
    ));

  it('waits for users to delete pods where it is told to', () =>
    withSet({ updateStrategy: { type: 'OnDelete' } }, async (world) => {
      await world.until(() => isReady(world, 3));
      await world.change(resources.daemonSets, 'agent', { spec: { template: template('web:2') } });
      await world.until(async () => (await setOf(world)).status?.updatedNumberScheduled === undefined);
      const [pod] = await world.pods();
      await world.client.delete(resources.pods, { namespace: 'default', name: pod?.metadata.name ?? '' });
      await world.until(async () => (await setOf(world)).status?.updatedNumberScheduled === 1);
    }));

  it('makes pods that fail anew, later each time', () =>
    withSet(
      {},
      async (world) => {
        const times: number[] = [];
        world.fate = (pod) => {
          times.push(world.clock.now());
          return fails(pod);
        };
        await world.until(() => times.length >= 6);
        assert.ok((times.at(-1) ?? 0) - (times[0] ?? 0) >= 7000, times.join());
      },
      ['a'],
    ));
});
