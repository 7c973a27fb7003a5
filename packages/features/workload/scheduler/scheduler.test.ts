import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PodSpec } from '@sheaf/api/workload/index';
import { resources } from '@sheaf/client';
import { template, WorkloadWorld, waits } from '../workload-world.fixture.ts';
import { register } from './register.ts';

function withNodes(
  sizes: Readonly<Record<string, { readonly cpu: string; readonly memory: string }>>,
  use: (world: WorkloadWorld) => Promise<void>,
): Promise<void> {
  return WorkloadWorld.run(register, async (world) => {
    world.fate = waits;
    for (const [name, size] of Object.entries(sizes)) {
      const node = await world.client.create(resources.nodes, { metadata: { name, labels: { tier: name } } });
      // A new node has the taint of one that is not ready.
      const bare = await world.client.update(resources.nodes, { ...node, spec: { taints: [] } });
      const allocatable = { ...size, pods: '3' };
      await world.client.updateStatus(resources.nodes, {
        ...bare,
        status: { allocatable, capacity: allocatable },
      });
    }
    await use(world);
  });
}

const large = { cpu: '4', memory: '4Gi' };
const small = { cpu: '1', memory: '1Gi' };

async function addPod(
  world: WorkloadWorld,
  name: string,
  { requests = {}, ...spec }: Partial<PodSpec> & { readonly requests?: Record<string, string> } = {},
): Promise<void> {
  const containers = [{ name: 'c', image: 'i', resources: { requests } }];
  await world.create(resources.pods, name, { spec: { ...template().spec, containers, ...spec } });
}

async function nodeOf(world: WorkloadWorld, name: string): Promise<string | undefined> {
  await world.until(async () => (await world.get(resources.pods, name)).status?.conditions !== undefined);
  return (await world.get(resources.pods, name)).spec.nodeName;
}

async function messageOf(world: WorkloadWorld, name: string): Promise<string | undefined> {
  await nodeOf(world, name);
  const { status } = await world.get(resources.pods, name);
  const condition = status?.conditions?.find(({ type }) => type === 'PodScheduled');
  return condition?.status === 'False' ? `${condition.reason}: ${condition.message}` : undefined;
}

describe('the scheduler', () => {
  it('ends a pod that is deleted before it got a node, for whoever keeps it until it is counted', () =>
    withNodes({ small }, async (world) => {
      const place = { namespace: 'default', name: 'held' };
      await world.client.create(resources.pods, {
        metadata: { ...place, finalizers: ['example.com/count'] },
        spec: { ...template().spec, nodeSelector: { tier: 'none' } },
      });
      await messageOf(world, 'held');
      world.isLettingGo = false;
      await world.client.delete(resources.pods, place);
      await world.until(async () => (await world.get(resources.pods, 'held')).status?.phase === 'Failed');
    }));

  it('counts what a whole pod asks for before the sum of its containers', () =>
    withNodes({ small }, async (world) => {
      await addPod(world, 'whole', {
        requests: { cpu: '100m', memory: '64Mi' },
        resources: { requests: { cpu: '2' } },
      });
      assert.equal(
        await messageOf(world, 'whole'),
        'Unschedulable: 0/1 nodes are available: 1 Insufficient cpu.',
      );
    }));

  it('gives pods to the node with the most room, and says what is missing when none has any', () =>
    withNodes({ large, small }, async (world) => {
      await addPod(world, 'first', { requests: { cpu: '3', memory: '1Gi' } });
      assert.equal(await nodeOf(world, 'first'), 'large');
      await addPod(world, 'second', { requests: { cpu: '500m' } });
      assert.equal(await nodeOf(world, 'second'), 'small');
      await addPod(world, 'third', { requests: { cpu: '2', memory: '2Gi' } });
      assert.equal(
        await messageOf(world, 'third'),
        'Unschedulable: 0/2 nodes are available: 1 Insufficient memory, 2 Insufficient cpu.',
      );
      await world.client.delete(
        resources.pods,
        { namespace: 'default', name: 'first' },
        { gracePeriodSeconds: 0 },
      );
      await world.until(async () => (await world.get(resources.pods, 'third')).spec.nodeName === 'large');
    }));

  it('gives no pod to a node that cannot run containers, says what its node says, and goes on when it can', () =>
    withNodes({ small }, async (world) => {
      const tell = async (status: 'True' | 'False'): Promise<void> => {
        const node = await world.client.get(resources.nodes, { name: 'small' });
        const claim = { type: 'ContainersRunnable', status, message: 'no podman; needs someone: install it' };
        await world.client.updateStatus(resources.nodes, {
          ...node,
          status: { ...node.status, conditions: [claim] },
        });
      };
      await tell('False');
      await addPod(world, 'a');
      assert.equal(
        await messageOf(world, 'a'),
        'Unschedulable: 0/1 nodes are available: 1 node(s) cannot run containers: no podman; needs someone: install it.',
      );
      await tell('True');
      await world.until(async () => (await world.get(resources.pods, 'a')).spec.nodeName === 'small');
    }));

  it('takes no more pods than a node may have', () =>
    withNodes({ small }, async (world) => {
      for (const name of ['a', 'b', 'c']) await addPod(world, name);
      for (const name of ['a', 'b', 'c']) assert.equal(await nodeOf(world, name), 'small');
      await addPod(world, 'd');
      assert.equal(await messageOf(world, 'd'), 'Unschedulable: 0/1 nodes are available: 1 Too many pods.');
    }));

  it('goes by selectors, taints and ports', () =>
    withNodes({ large, small }, async (world) => {
      await addPod(world, 'chosen', { nodeSelector: { tier: 'small' } });
      assert.equal(await nodeOf(world, 'chosen'), 'small');
      await addPod(world, 'nowhere', { nodeSelector: { tier: 'huge' } });
      assert.equal(
        await messageOf(world, 'nowhere'),
        "Unschedulable: 0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector.",
      );
      const containers = [{ name: 'c', image: 'i', ports: [{ containerPort: 80, hostPort: 80 }] }];
      for (const name of ['p1', 'p2', 'p3']) await addPod(world, name, { containers });
      assert.deepEqual(
        new Set([await nodeOf(world, 'p1'), await nodeOf(world, 'p2')]),
        new Set(['large', 'small']),
      );
      assert.match((await messageOf(world, 'p3')) ?? '', /2 node\(s\) didn't have free ports/);
    }));

  it('waits for claims and gates, and goes on when they are there', () =>
    withNodes({ large }, async (world) => {
      await addPod(world, 'pod', { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }] });
      assert.match((await messageOf(world, 'pod')) ?? '', /persistentvolumeclaim "data" not found/);
      const claim = await world.client.create(resources.persistentVolumeClaims, {
        metadata: { namespace: 'default', name: 'data' },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
      });
      await world.until(async () => (await messageOf(world, 'pod'))?.includes('unbound immediate') === true);
      await world.client.updateStatus(resources.persistentVolumeClaims, {
        ...claim,
        status: { phase: 'Bound' },
      });
      await world.until(async () => (await world.get(resources.pods, 'pod')).spec.nodeName === 'large');
      await addPod(world, 'gated', { schedulingGates: [{ name: 'example.com/later' }] });
      assert.match((await messageOf(world, 'gated')) ?? '', /^SchedulingGated/);
    }));

  it('leaves pods of other schedulers alone', () =>
    withNodes({ large }, async (world) => {
      await addPod(world, 'foreign', { schedulerName: 'mine' });
      await addPod(world, 'own');
      assert.equal(await nodeOf(world, 'own'), 'large');
      assert.equal((await world.get(resources.pods, 'foreign')).spec.nodeName, undefined);
    }));
});
