import assert from 'node:assert/strict';
import { it } from 'node:test';
import { findCondition } from '@sheaf/api';
import type { NodeObject } from '@sheaf/api/node/index';
import { resources } from '@sheaf/client';
import { settle } from '@sheaf/testkit';
import type { InstanceSpec } from './instance-spec.ts';
import { type Node, place, withNode } from './node-world.fixture.ts';
import { instanceResource, machineResource } from './vm-resources.ts';

const other = { namespace: 'default', name: 'b' };

async function haveNode({ client }: Node, cpu: string): Promise<void> {
  const status: NodeObject['status'] = { allocatable: { cpu, memory: '1Gi', pods: '0' } };
  const object: NodeObject = { metadata: { name: 'node-1' } };
  const made = await client.create<NodeObject>(resources.nodes, object);
  // It is made with the taint of a node that has not reported yet.
  const ready = await client.update<NodeObject>(resources.nodes, { ...made, spec: { taints: [] } });
  await client.updateStatus<NodeObject>(resources.nodes, { ...ready, status });
}

it('a machine that asks for another node waits in the words of the scheduler, until the node is what it asks for', async () => {
  await withNode(async (node) => {
    await haveNode(node, '4');
    await node.create('Always', { nodeSelector: { disk: 'ssd' } });
    await node.start();
    await node.untilShown('ErrorUnschedulable');
    const instance = await node.instance();
    const scheduled = findCondition(instance?.status?.conditions, 'PodScheduled');
    assert.deepEqual([instance?.status?.phase, scheduled?.reason], ['Scheduling', 'Unschedulable']);
    assert.match(
      scheduled?.message ?? '',
      /^0\/1 nodes are available: 1 node\(s\) didn't match Pod's node affinity\/selector; /,
    );
    const body = { metadata: { labels: { disk: 'ssd' } } };
    await node.client.patch(resources.nodes, { name: 'node-1' }, { type: 'merge', body });
    await node.untilShown('Running');
  });
});

it('of two machines that are made at one moment on one claim one runs, and the other names it until it ends', async () => {
  await withNode(async (node) => {
    const { client, clock, volumeFiles } = node;
    const claim = await client.create(resources.persistentVolumeClaims, {
      metadata: { namespace: 'default', name: 'c' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Mi' } } },
    });
    await client.updateStatus(resources.persistentVolumeClaims, { ...claim, status: { phase: 'Bound' } });
    volumeFiles.set(claim.metadata.uid ?? '', { path: '/v/c', format: 'qcow2' });
    const spec: Partial<InstanceSpec> = {
      domain: {
        memory: { guest: '64Mi' },
        devices: { autoattachPodInterface: false, disks: [{ name: 'root' }] },
      },
      volumes: [{ name: 'root', persistentVolumeClaim: { claimName: 'c' } }],
    };
    await Promise.all([node.create('Manual', spec), node.create('Manual', spec, other)]);
    await node.start();
    for (const at of [place, other]) {
      await settle({
        clock,
        until: async () => (await client.find(machineResource, at))?.status?.printableStatus === 'Stopped',
      });
      const machine = await client.get(machineResource, at);
      const status = { ...machine.status, stateChangeRequests: [{ action: 'Start' as const }] };
      await client.updateStatus(machineResource, { ...machine, status });
    }
    const heldBy = async (at: typeof place): Promise<string | undefined> => {
      const { conditions } = (await client.find(instanceResource, at))?.status ?? {};
      const synchronized = findCondition(conditions, 'Synchronized');
      return synchronized?.reason === 'VolumeInUse' ? synchronized.message : undefined;
    };
    const isRunning = async (at: typeof place): Promise<boolean> =>
      (await client.find(instanceResource, at))?.status?.phase === 'Running';
    let [first, second] = [place, other];
    await settle({
      clock,
      until: async () => {
        if (await isRunning(other)) [first, second] = [other, place];
        return (await isRunning(first)) && (await heldBy(second)) !== undefined;
      },
    });
    const message = (await heldBy(second)) ?? '';
    assert.ok(
      message.startsWith(`The volume c is held by the virtual machine default/${first.name};`),
      message,
    );
    await client.delete(instanceResource, first);
    await settle({ clock, until: () => isRunning(second) });
  });
});

it('a machine grows when the node has room for it, and says until then what is missing', async () => {
  await withNode(async (node) => {
    await haveNode(node, '150m');
    const memory = { guest: '64Mi' };
    const devices = { autoattachPodInterface: false };
    await node.create('Always', { domain: { cpu: { sockets: 1, maxSockets: 4 }, memory, devices } });
    await node.start();
    await node.untilShown('Running');
    const body = { spec: { template: { spec: { domain: { cpu: { sockets: 2 } } } } } };
    await node.client.patch(machineResource, place, { type: 'merge', body });
    const hot = async (): Promise<string | undefined> =>
      findCondition((await node.machine())?.status?.conditions, 'HotVCPUChange')?.message;
    await settle({ clock: node.clock, until: async () => (await hot()) !== undefined });
    assert.match(
      (await hot()) ?? '',
      /1 Insufficient cpu \(200m wanted, 150m of 150m free\).*tried again by itself$/,
    );
    const patch = { status: { allocatable: { cpu: '1' } } };
    await node.client.patch(
      resources.nodes,
      { name: 'node-1' },
      { type: 'merge', body: patch, subresource: 'status' },
    );
    const has = async (): Promise<number | undefined> =>
      (await node.instance())?.status?.currentCPUTopology?.sockets;
    await settle({
      clock: node.clock,
      until: async () => (await has()) === 2 && (await hot()) === undefined,
    });
  });
});
