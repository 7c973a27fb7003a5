import assert from 'node:assert/strict';
import { it } from 'node:test';
import { findCondition } from '@sheaf/api';
import { resources } from '@sheaf/client';
import { type WholeHost, withWholeHost } from './whole-host.ts';

const place = (name: string) => ({ namespace: 'default', name });
const strategy = (value: string) => ({ 'harvesterhci.io/maintain-mode-strategy': value });

async function unschedulable({ client }: WholeHost, name: string): Promise<string> {
  const instance = await client.get(resources.virtualMachineInstances, place(name));
  const conditions = instance.status?.conditions as Parameters<typeof findCondition>[0];
  const { status, reason, message } = findCondition(conditions, 'PodScheduled') ?? {};
  return `${status} ${reason}: ${message}`;
}

it('a machine that does not fit says what is missing, and starts when there is room', async () => {
  await withWholeHost(async (host) => {
    const { client } = host;
    await host.create('big', { runStrategy: 'Always', guest: '15Gi' });
    await host.untilShown({ big: 'Running' });
    await host.create('second', { runStrategy: 'Always', guest: '9Gi' });
    await host.untilShown({ second: 'ErrorUnschedulable' });
    assert.match(
      await unschedulable(host, 'second'),
      /^False Unschedulable: 0\/1 nodes are available: 1 Insufficient memory \(6Gi wanted, 5Gi of 15Gi free\); stop another/,
    );
    await client.delete(resources.virtualMachines, place('big'));
    await host.untilShown({ second: 'Running' });
  });
});

it('instances of another node take no place on this one', async () => {
  await withWholeHost(async (host) => {
    for (const name of ['x', 'y', 'z'])
      await host.client.create(resources.virtualMachineInstances, {
        metadata: { namespace: 'default', name },
        spec: { domain: { memory: { guest: '15Gi' }, devices: { autoattachPodInterface: false } } },
        status: { phase: 'Running', nodeName: 'other' },
      });
    await host.create('own', { runStrategy: 'Always', guest: '15Gi' });
    await host.untilShown({ own: 'Running' });
    assert.deepEqual(
      [...host.processes.machines.values()].map(({ spec }) => spec.title),
      ['default/own'],
    );
  });
});

it('on a cordoned node nothing starts until it is open again, and what runs goes on', async () => {
  await withWholeHost(async (host) => {
    await host.create('first', { runStrategy: 'Always' });
    await host.untilShown({ first: 'Running' });
    const close = (unschedulable: boolean | null) =>
      host.client.patch(
        resources.nodes,
        { name: 'node-1' },
        { type: 'merge', body: { spec: { unschedulable } } },
      );
    await close(true);
    await host.create('second', { runStrategy: 'Always' });
    await host.untilShown({ first: 'Running', second: 'ErrorUnschedulable' });
    assert.match(
      await unschedulable(host, 'second'),
      /1 node\(s\) were unschedulable.*kubectl uncordon node-1/,
    );
    await close(null);
    await host.untilShown({ first: 'Running', second: 'Running' });
  });
});

it('after a power cut machines come back by their strategy, so many at a time', async () => {
  await withWholeHost(async (host) => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    for (const name of names) await host.create(name, { runStrategy: 'RerunOnFailure' });
    await host.create('manual', { runStrategy: 'Manual' });
    await host.create('halted', { runStrategy: 'Halted' });
    const running = Object.fromEntries(names.map((name) => [name, 'Running']));
    await host.untilShown(running);
    const uids = await uidsOf(host);
    await host.losePower();
    await host.start();
    await host.until(async () => (await uidsOf(host)).every((uid) => !uids.includes(uid)));
    await host.untilShown({ ...running, manual: 'Stopped', halted: 'Stopped' });
    assert.equal(host.mostStarting, 2);
  });
});

async function uidsOf({ client }: WholeHost): Promise<readonly string[]> {
  const { items } = await client.list(resources.virtualMachineInstances);
  return items.map(({ metadata }) => metadata.uid ?? '');
}

it('a server that stops leaves machines alone', async () => {
  await withWholeHost(async (host) => {
    await host.create('a', { runStrategy: 'Always' });
    await host.untilShown({ a: 'Running' });
    const before = [...host.processes.machines.values()].map(({ process }) => process?.pid);
    await host.stop();
    await host.start();
    await host.untilShown({ a: 'Running' });
    assert.deepEqual(
      [...host.processes.machines.values()].map(({ process }) => process?.pid),
      before,
    );
  });
});

it('a host that is shut down stops all machines in order, and its next boot brings back those that ran', async () => {
  await withWholeHost(async (host) => {
    await host.create('always', { runStrategy: 'Always' });
    await host.create('manual', { runStrategy: 'Manual' });
    await host.create('off', { runStrategy: 'RerunOnFailure', labels: strategy('Shutdown') });
    await host.create('never', { runStrategy: 'Halted' });
    await host.untilShown({ always: 'Running', off: 'Running', manual: 'Stopped', never: 'Stopped' });
    const target = '/apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachines/manual/start';
    await host.client.send({ method: 'PUT', target, body: '{}' });
    await host.untilShown({ manual: 'Running' });
    await host.annotate({
      'harvesterhci.io/drain-requested': 'true',
      'sheaf.dev/shutdown-boot-id': 'boot-1',
    });
    await host.untilMaintained('completed');
    await host.untilShown({ always: 'Stopped', manual: 'Stopped', off: 'Stopped', never: 'Stopped' });
    await host.losePower();
    await host.start();
    await host.untilMaintained(undefined);
    await host.untilShown({ always: 'Running', manual: 'Running', off: 'Stopped', never: 'Stopped' });
    const strategies = await Promise.all(['always', 'manual', 'off'].map(async (name) => host.machine(name)));
    assert.deepEqual(
      strategies.map(({ spec }) => spec.runStrategy),
      ['Always', 'Manual', 'Halted'],
    );
  });
});

it('maintenance waits for those that cannot move until it is forced, and its end brings back who shall come back', async () => {
  await withWholeHost(async (host) => {
    await host.create('back', { runStrategy: 'Always', labels: strategy('ShutdownAndRestartAfterDisable') });
    await host.create('moves', { runStrategy: 'Always' });
    await host.untilShown({ back: 'Running', moves: 'Running' });
    await host.annotate({ 'harvesterhci.io/drain-requested': 'true' });
    await host.untilShown({ back: 'Stopped', moves: 'Running' });
    await host.untilMaintained('running');
    await host.annotate({ 'harvesterhci.io/drain-forced': 'true' });
    await host.untilMaintained('completed');
    const target = '/v1/harvester/nodes/node-1?action=disableMaintenanceMode';
    const { status } = await host.client.send({ method: 'POST', target });
    assert.equal(status, 204);
    await host.untilShown({ back: 'Running', moves: 'Stopped' });
  });
});
