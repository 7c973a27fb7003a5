import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { customResourceDefinitions, kindDefinitions } from '@sheaf/api/virtualization/kind-definitions';
import { silentLogger, sleep } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import { openQemu } from '@sheaf/drivers/qemu';
import { systemClock } from '@sheaf/drivers/system';
import type { Hypervisor } from '@sheaf/ports';
import { Manager } from '@sheaf/runtime';
import { SeededRandom, startTestServer } from '@sheaf/testkit';
import { extend, registerInstances, registerMachines } from './register.ts';
import type { VirtualMachine, VirtualMachineInstance } from './virtual-machine.ts';
import { instanceResource, machineResource } from './vm-resources.ts';

const place = { namespace: 'default', name: 'a' };
const kinds = [
  'virtualmachines.kubevirt.io',
  'virtualmachineinstances.kubevirt.io',
  'network-attachment-definitions.k8s.cni.cncf.io',
  'datavolumes.cdi.kubevirt.io',
];

interface Host {
  readonly client: Client;
  readonly hypervisor: Hypervisor;
  /** `PUT` on a subresource; the code of the answer. */
  put(path: string, body?: object): Promise<number>;
  until(claim: (machine?: VirtualMachine, instance?: VirtualMachineInstance) => boolean): Promise<void>;
}

async function withHost(context: TestContext, run: (host: Host) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'vm-'));
  const random = new SeededRandom(Number(process.pid));
  const hypervisor = openQemu({
    directory,
    clock: systemClock,
    random,
    logger: silentLogger,
    accelerator: 'tcg',
    mayWrite: () => Promise.resolve(true),
  });
  const { hypervisor: ability } = await hypervisor.probe(AbortSignal.timeout(30_000));
  if (!ability.isAvailable) {
    await rm(directory, { recursive: true, force: true });
    return context.skip(ability.reason);
  }
  const { client, close } = await startTestServer({
    clock: systemClock,
    extend: (api, own) => extend(api, { client: own, hypervisor, clock: systemClock, random }),
  });
  const manager = new Manager({ client, clock: systemClock, random, logger: silentLogger });
  const volumes = { find: () => Promise.resolve(undefined) };
  registerMachines(manager, {
    forgetPersistent: (uid, signal) => hypervisor.forgetPersistent(uid, signal),
    volumes,
    abilities: () => ({ canAddSockets: false, canAddMemory: false }),
  });
  registerInstances(manager, {
    hypervisor,
    volumes,
    files: {
      ensure: () => Promise.reject(new Error('no machine here has files of its own')),
      remove: () => Promise.resolve(),
      list: () => Promise.resolve([]),
    },
    nodeName: 'node-1',
    memoryBytes: () => 2 ** 30,
    hasBridge: () => false,
  });
  const until: Host['until'] = async (claim) => {
    const limit = systemClock.monotonic() + 60_000;
    while (!claim(await client.find(machineResource, place), await client.find(instanceResource, place))) {
      if (systemClock.monotonic() > limit)
        throw new Error(JSON.stringify(await client.find(instanceResource, place)));
      await sleep(systemClock, 20);
    }
  };
  const put: Host['put'] = async (path, body = {}) => {
    const target = `/apis/subresources.kubevirt.io/v1/namespaces/default/${path}`;
    const { status } = await client.send({ method: 'PUT', target, body: JSON.stringify(body) });
    return status;
  };
  try {
    await client.create(resources.namespaces, { metadata: { name: 'default' } });
    const definitions = kindDefinitions().filter(({ name }) => kinds.includes(name));
    for (const definition of customResourceDefinitions(definitions))
      await client.create(resources.customResourceDefinitions, definition);
    void manager.start();
    await run({ client, hypervisor, until, put });
  } finally {
    await manager.stop();
    for (const { id } of await hypervisor.list(AbortSignal.timeout(30_000)))
      await hypervisor.end(id, AbortSignal.timeout(30_000));
    await close();
    await rm(directory, { recursive: true, force: true });
  }
}

const newMachine: VirtualMachine = {
  metadata: place,
  spec: {
    runStrategy: 'RerunOnFailure',
    template: {
      spec: {
        domain: { memory: { guest: '64Mi' }, devices: { autoattachPodInterface: false } },
        terminationGracePeriodSeconds: 0,
      },
    },
  },
};

it('requests reach a real machine, and are refused where it is not in their state', async (context) => {
  await withHost(context, async ({ client, put, until }) => {
    const bad = { ...newMachine, spec: { ...newMachine.spec, running: true } };
    await assert.rejects(
      client.create(machineResource, bad),
      /Running and RunStrategy are mutually exclusive/,
    );
    await client.create(machineResource, newMachine);
    await until((machine) => machine?.status?.printableStatus === 'Running');
    assert.equal(await put('virtualmachines/a/start'), 409);
    assert.equal(await put('virtualmachineinstances/a/pause'), 202);
    await until((machine) => machine?.status?.printableStatus === 'Paused');
    assert.equal(await put('virtualmachineinstances/a/pause'), 409);
    assert.equal(await put('virtualmachineinstances/a/unpause'), 202);
    await until((machine) => machine?.status?.printableStatus === 'Running');
    assert.equal(await put('virtualmachineinstances/a/reset'), 202);
    const first = (await client.get(instanceResource, place)).metadata.uid;
    assert.equal(await put('virtualmachines/a/restart'), 202);
    await until(
      (machine, instance) =>
        instance?.metadata.uid !== first && machine?.status?.printableStatus === 'Running',
    );
    assert.equal(await put('virtualmachines/a/stop', { gracePeriod: -1 }), 400);
    assert.equal(await put('virtualmachines/a/stop'), 202);
    await until((machine, instance) => !instance && machine?.status?.printableStatus === 'Stopped');
    assert.equal(await put('virtualmachines/a/stop'), 409);
    assert.equal(await put('virtualmachines/a/start'), 202);
    await until((machine) => machine?.status?.printableStatus === 'Running');
    assert.equal(await put('virtualmachines/b/start'), 404);
  });
});

it('a real machine: started, started again after its process was killed, stopped, removed without a trace', async (context) => {
  await withHost(context, async ({ client, hypervisor, until }) => {
    await client.create(machineResource, newMachine);
    await until((machine) => machine?.status?.printableStatus === 'Running');
    const first = await client.get(instanceResource, place);
    const observation = await hypervisor.find(first.metadata.uid ?? '', AbortSignal.timeout(10_000));
    assert.equal(observation?.state, 'running');
    assert.equal(first.status?.nodeName, 'node-1');
    process.kill(observation.processId ?? 0, 'SIGKILL');
    await until(
      (machine, instance) =>
        instance?.metadata.uid !== first.metadata.uid && machine?.status?.printableStatus === 'Running',
    );
    const machine = await client.get(machineResource, place);
    await client.update(machineResource, { ...machine, spec: { ...machine.spec, runStrategy: 'Halted' } });
    await until((now, instance) => !instance && now?.status?.printableStatus === 'Stopped');
    await client.delete(machineResource, place);
    await until((now) => now === undefined);
    assert.deepEqual(await hypervisor.list(AbortSignal.timeout(10_000)), []);
  });
});
