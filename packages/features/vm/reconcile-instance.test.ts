import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { KubeObject } from '@sheaf/api';
import { resources } from '@sheaf/client';
import { allTasks, settle, type TestClock } from '@sheaf/testkit';
import type { InstanceSpec } from './instance-spec.ts';
import { type Node, place, withNode } from './node-world.fixture.ts';
import type { RunStrategy, VirtualMachineInstance } from './virtual-machine.ts';
import { instanceResource, machineResource } from './vm-resources.ts';

const withDisk: Partial<InstanceSpec> = {
  domain: {
    memory: { guest: '64Mi' },
    devices: { autoattachPodInterface: false, disks: [{ name: 'root' }, { name: 'seed', cdrom: {} }] },
  },
  volumes: [
    { name: 'root', persistentVolumeClaim: { claimName: 'c' } },
    { name: 'seed', cloudInitNoCloud: { secretRef: { name: 's' } } },
  ],
};

it('a machine that is there before the control plane, its claim, volume and Secret starts when they come', async () => {
  await withNode(async (node) => {
    const { client, volumeFiles } = node;
    await node.create('RerunOnFailure', withDisk);
    await node.start();
    await node.untilShown('ErrorPvcNotFound');
    const claim = await client.create(resources.persistentVolumeClaims, {
      metadata: { namespace: 'default', name: 'c' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Mi' } } },
    });
    await node.untilShown('WaitingForVolumeBinding');
    await client.updateStatus(resources.persistentVolumeClaims, {
      metadata: { namespace: 'default', name: 'c' },
      spec: claim.spec,
      status: { phase: 'Bound' },
    });
    await node.untilShown('Provisioning');
    await node.stop();
    await node.start();
    volumeFiles.set(claim.metadata.uid ?? '', { path: '/v/c', format: 'qcow2' });
    const isWaitingFor = (reason: string) => (_: unknown, instance?: VirtualMachineInstance) =>
      instance?.status?.conditions?.some((condition) => condition.reason === reason) === true;
    await node.until(isWaitingFor('ObjectNotFound'));
    const secret = {
      metadata: { namespace: 'default', name: 's' },
      data: { userdata: 'I2Nsb3VkLWNvbmZpZw==' },
    };
    await client.create(resources.secrets, secret);
    await node.untilShown('Running');
    const uid = await node.uid();
    const disks = node.host.machines.get(uid)?.spec.disks.map(({ name, file }) => [name, file?.path]);
    assert.deepEqual(disks, [
      ['root', '/v/c'],
      ['seed', `/m/${uid}/seed`],
    ]);
    node.host.shutDownGuest(uid);
    await node.until((machine, instance) => !instance && machine?.status?.printableStatus === 'Stopped');
    assert.deepEqual([node.host.machines.size, node.ownFiles.size], [0, 0]);
  });
});

it('a machine and files that no instance accounts for any more are shut down and removed', async () => {
  await withNode(async (node) => {
    const { client, clock, host } = node;
    await node.create('Always');
    await node.start();
    await node.untilShown('Running');
    const uid = await node.uid();
    node.ownFiles.set(`${uid}/scratch`, { kind: 'blank', name: 'scratch', sizeBytes: 1 });
    await node.stop();
    for (const resource of [machineResource, instanceResource]) {
      const { metadata, ...rest } = await client.get<KubeObject>(resource, place);
      await client.update<KubeObject>(resource, { ...rest, metadata: { ...metadata, finalizers: [] } });
      await client.delete(resource, place);
    }
    await node.start();
    const isClean = (): boolean => host.machines.size + node.ownFiles.size === 0;
    await settle({ clock, until: isClean, limitMs: 400_000 });
  });
});

it('a machine is started again after a crash, a killed process and a restart of the host, and adopted after ours', async () => {
  await withNode(async (node) => {
    await node.create('RerunOnFailure');
    await node.start();
    await node.untilShown('Running');
    const first = await node.uid();
    await node.stop();
    await node.start();
    await node.untilShown('Running');
    assert.equal(await node.uid(), first);
    const faults: readonly ((id: string) => void)[] = [
      (id) => node.host.panicGuest(id),
      (id) => node.host.killProcess(id),
      () => node.host.restart(),
    ];
    for (const fault of faults) {
      const uid = await node.uid();
      fault(uid);
      await node.untilOther(uid);
    }
    assert.equal(node.host.machines.size, 1, 'nothing is left of those before');
  });
});

it('at rest nothing is written; what the guest says is, once', async () => {
  await withNode(async (node) => {
    await node.create('Always', { domain: { memory: { guest: '64Mi' }, devices: {} } });
    await node.start();
    await node.untilShown('Running');
    const [nic] = node.host.machines.get(await node.uid())?.spec.nics ?? [];
    node.host.setAgent(await node.uid(), ({ execute }) =>
      execute === 'guest-get-osinfo'
        ? { id: 'debian' }
        : [{ name: 'eth0', 'hardware-address': nic?.mac, 'ip-addresses': [{ 'ip-address': '10.0.2.15' }] }],
    );
    await node.until((_, instance) => instance?.status?.interfaces?.[0]?.ipAddress === '10.0.2.15');
    await pass(node.clock, 60_000);
    const before = await versions(node);
    await pass(node.clock, 300_000);
    assert.deepEqual(await versions(node), before);
  });
});

async function pass(clock: TestClock, milliseconds: number): Promise<void> {
  for (let passed = 0; passed < milliseconds; passed += 10_000) {
    clock.advance(10_000);
    await allTasks();
  }
}

async function versions(node: Node): Promise<readonly unknown[]> {
  const objects = [await node.machine(), await node.instance()];
  return objects.map((object) => object?.metadata.resourceVersion);
}

it('what ended while the control plane was away is told apart when it comes back', async () => {
  await withNode(async (node) => {
    await node.create('Manual');
    await node.start();
    await node.untilShown('Stopped');
    const machine = await node.machine();
    assert.ok(machine);
    const status = { ...machine.status, stateChangeRequests: [{ action: 'Start' as const }] };
    await node.client.updateStatus(machineResource, { ...machine, status });
    await node.untilShown('Running');
    await node.stop();
    node.host.killProcess(await node.uid());
    await node.start();
    await node.until((_, instance) => instance?.status?.phase === 'Failed');
    assert.equal((await node.instance())?.status?.reason, 'ProcessDied');
  });
});

it('a deaf guest is ended when its grace is over; a program that refuses is shown with its words', async () => {
  await withNode(async (node) => {
    await node.create('Always');
    node.host.faults.startFailure = () => 'no such machine type';
    await node.start();
    await node.untilShown('CrashLoopBackOff');
    node.host.faults.startFailure = () => undefined;
    await node.untilShown('Running');
    node.host.freezeProcess(await node.uid());
    const machine = await node.machine();
    assert.ok(machine);
    await node.client.update(machineResource, {
      ...machine,
      spec: { ...machine.spec, runStrategy: 'Halted' },
    });
    await node.until((now, instance) => !instance && now?.status?.printableStatus === 'Stopped');
    assert.equal(node.host.machines.size, 0);
  });
});

async function eventsOf(node: Node): Promise<readonly string[]> {
  const { items } = await node.client.list(resources.events, { namespace: 'default' });
  const textOf = (event: KubeObject): string => {
    const { kind } = event['involvedObject'] as { readonly kind: string };
    return `${kind} ${String(event['reason'])}`;
  };
  return items.map(textOf).sort();
}

it('what happens is told in events, once, also by another life of the control plane', async () => {
  await withNode(async (node) => {
    await node.create('Halted');
    await node.start();
    await node.untilShown('Stopped');
    const setStrategy = (runStrategy: RunStrategy): Promise<unknown> =>
      node.client.patch(machineResource, place, { type: 'merge', body: { spec: { runStrategy } } });
    await setStrategy('Always');
    await node.untilShown('Running');
    await pass(node.clock, 20_000);
    await node.stop();
    await node.start();
    await pass(node.clock, 60_000);
    const started = ['VirtualMachine SuccessfulCreate', 'VirtualMachineInstance Created'];
    assert.deepEqual(await eventsOf(node), [...started, 'VirtualMachineInstance Started']);
    await setStrategy('Halted');
    await node.untilShown('Stopped');
    await pass(node.clock, 20_000);
    assert.deepEqual(
      await eventsOf(node),
      [
        ...started,
        'VirtualMachine SuccessfulDelete',
        'VirtualMachineInstance ShuttingDown',
        'VirtualMachineInstance Started',
        'VirtualMachineInstance Stopped',
      ].sort(),
    );
  });
});

it('a delete with a grace of 0 ends a machine at once, also one that is shutting down already', async () => {
  const long = { terminationGracePeriodSeconds: 3600 };
  const startDeaf = async (node: Node): Promise<void> => {
    await node.create('Manual', long);
    await node.start();
    await node.untilShown('Stopped');
    const machine = await node.machine();
    assert.ok(machine);
    const status = { ...machine.status, stateChangeRequests: [{ action: 'Start' as const }] };
    await node.client.updateStatus(machineResource, { ...machine, status });
    await node.untilShown('Running');
    node.host.machines.get(await node.uid())?.process?.guest.type('D');
  };
  const isGone = (_: unknown, instance?: VirtualMachineInstance): boolean => instance === undefined;
  for (const resource of [instanceResource, machineResource])
    for (const isAskedFirst of [false, true])
      await withNode(async (node) => {
        await startDeaf(node);
        if (isAskedFirst) {
          await node.client.delete(resource, place);
          await pass(node.clock, 60_000);
          assert.equal((await node.instance())?.status?.phase, 'Running');
        }
        const sinceMs = node.clock.now();
        await node.client.delete(resource, place, { gracePeriodSeconds: 0 });
        await node.until(isGone);
        assert.ok(node.clock.now() - sinceMs < 60_000);
        assert.equal(node.host.machines.size, 0);
      });
});
