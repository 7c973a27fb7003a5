import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type AdmissionRule, type ApiExtensions, allow, deny, findCondition } from '@sheaf/api';
import type { PersistentVolumeClaim } from '@sheaf/api/virtualization/index';
import { customResourceDefinitions, kindDefinitions } from '@sheaf/api/virtualization/kind-definitions';
import { silentLogger } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import { Manager } from '@sheaf/runtime';
import { allTasks, SeededRandom, settle, startTestServer, TestClock } from '@sheaf/testkit';
import { requestStart, requestStop } from './lifecycle-request.ts';
import { registerMachines } from './register.ts';
import {
  type InstancePhase,
  isDeleting,
  ownerUidOf,
  processFinalizer,
  type VirtualMachine,
  type VirtualMachineInstance,
} from './virtual-machine.ts';
import { instanceResource, machineResource, revisionResource } from './vm-resources.ts';

const kinds = [
  'virtualmachines.kubevirt.io',
  'virtualmachineinstances.kubevirt.io',
  'datavolumes.cdi.kubevirt.io',
];
const place = { namespace: 'default', name: 'a' };

class Cluster {
  readonly client: Client;
  readonly clock: TestClock;
  readonly manager: Manager;
  /** Machines whose persistent state was removed. */
  readonly forgotten: string[] = [];

  constructor(client: Client, clock: TestClock) {
    this.client = client;
    this.clock = clock;
    this.manager = new Manager({ client, clock, random: new SeededRandom(1), logger: silentLogger });
    registerMachines(this.manager, {
      volumes: { find: () => Promise.resolve(undefined) },
      abilities: () => ({ canAddSockets: false, canAddMemory: false }),
      forgetPersistent: (uid) => Promise.resolve(void this.forgotten.push(uid)),
    });
  }

  machine(): Promise<VirtualMachine> {
    return this.client.get(machineResource, place);
  }

  instance(): Promise<VirtualMachineInstance | undefined> {
    return this.client.find(instanceResource, place);
  }

  until(claim: (machine: VirtualMachine, instance?: VirtualMachineInstance) => boolean): Promise<void> {
    const { clock } = this;
    return settle({ clock, until: async () => claim(await this.machine(), await this.instance()) });
  }

  /** What the node of the instance would write. */
  async setPhase(phase: InstancePhase): Promise<void> {
    const instance = await this.client.get(instanceResource, place);
    const ready = { type: 'Ready', status: phase === 'Running' ? 'True' : 'False' } as const;
    const old = instance.status?.phaseTransitionTimestamps ?? [];
    const phaseTransitionTimestamps = [...old, { phase, phaseTransitionTimestamp: '2026-01-01T00:00:00Z' }];
    const status = { ...instance.status, phase, conditions: [ready], phaseTransitionTimestamps };
    await this.client.update(instanceResource, { ...instance, status });
  }

  async letGo(): Promise<void> {
    const instance = await this.instance();
    if (!instance) return;
    const finalizers = (instance.metadata.finalizers ?? []).filter((name) => name !== processFinalizer);
    await this.client.update(instanceResource, {
      ...instance,
      metadata: { ...instance.metadata, finalizers },
    });
  }
}

async function withCluster(
  run: (cluster: Cluster) => Promise<void>,
  extend: (api: ApiExtensions) => void = () => undefined,
): Promise<void> {
  const clock = new TestClock();
  const { client, close } = await startTestServer({ clock, extend });
  const definitions = kindDefinitions().filter(({ name }) => kinds.includes(name));
  await client.create(resources.namespaces, { metadata: { name: 'default' } });
  for (const definition of customResourceDefinitions(definitions))
    await client.create(resources.customResourceDefinitions, definition);
  await settle({
    clock,
    until: async () => {
      const all = await client.list(resources.customResourceDefinitions);
      return all.items.every((crd) =>
        JSON.stringify(crd['status'] ?? {}).includes('"Established","status":"True"'),
      );
    },
  });
  const cluster = new Cluster(client, clock);
  void cluster.manager.start();
  try {
    await run(cluster);
  } finally {
    await cluster.manager.stop();
    await close();
  }
}

async function startFirst(cluster: Cluster): Promise<VirtualMachineInstance> {
  await cluster.client.create(machineResource, {
    metadata: place,
    spec: {
      runStrategy: 'RerunOnFailure',
      template: { spec: { domain: { memory: { guest: '64Mi' }, devices: {} } } },
    },
  });
  await cluster.until((machine) => machine.status?.printableStatus === 'Starting');
  await cluster.setPhase('Running');
  await cluster.until(({ status }) => status?.printableStatus === 'Running' && status.ready === true);
  return cluster.client.get(instanceResource, place);
}

async function request(cluster: Cluster, decide: typeof requestStart | typeof requestStop): Promise<void> {
  const target = { machine: await cluster.machine(), instance: await cluster.instance() };
  const answer = decide(target, {});
  assert.ok(answer.isAccepted && answer.writes[0]?.target === 'machine-status');
  await cluster.client.updateStatus(machineResource, answer.writes[0].object);
}

it('an instance is made from its machine, and again after a failure', async () => {
  await withCluster(async (cluster) => {
    const first = await startFirst(cluster);
    const { metadata, status } = await cluster.machine();
    assert.equal(ownerUidOf(first), metadata.uid);
    assert.deepEqual(status && [status.created, status.runStrategy], [true, 'RerunOnFailure']);
    assert.equal(status?.observedGeneration, status?.desiredGeneration);
    await cluster.setPhase('Failed');
    await cluster.until((_, instance) => isDeleting(instance));
    assert.deepEqual((await cluster.machine()).status?.stateChangeRequests, [{ action: 'Start' }]);
    await cluster.letGo();
    await cluster.until(
      (_, instance) => instance !== undefined && instance.metadata.uid !== first.metadata.uid,
    );
    await cluster.setPhase('Running');
    await cluster.until(({ status: now }) => now?.stateChangeRequests === undefined);
  });
});

it('a machine is stopped, started and removed by requests', async () => {
  await withCluster(async (cluster) => {
    const { client } = cluster;
    await startFirst(cluster);
    await request(cluster, requestStop);
    await cluster.until((machine) => machine.status?.printableStatus === 'Stopping');
    await cluster.setPhase('Succeeded');
    await cluster.letGo();
    await cluster.until((machine, instance) => !instance && machine.status?.printableStatus === 'Stopped');
    await request(cluster, requestStart);
    await cluster.until((_, instance) => instance !== undefined);
    const revisions = await client.list(revisionResource, { namespace: 'default' });
    assert.equal(revisions.items.length, 1, 'older revisions are removed');
    await client.delete(machineResource, place, { propagationPolicy: 'Background' });
    await cluster.until((_, instance) => isDeleting(instance));
    assert.equal((await cluster.machine()).status?.printableStatus, 'Terminating');
    const { uid } = (await cluster.machine()).metadata;
    await cluster.setPhase('Succeeded');
    await cluster.letGo();
    await settle({ clock: cluster.clock, until: async () => !(await client.find(machineResource, place)) });
    assert.ok(cluster.forgotten.length > 0 && cluster.forgotten.every((each) => each === uid));
  });
});

it('a machine at rest is not written again', async () => {
  await withCluster(async (cluster) => {
    const { client, clock } = cluster;
    await client.create(machineResource, {
      metadata: place,
      spec: {
        runStrategy: 'Always',
        template: {
          spec: {
            domain: { memory: { guest: '64Mi' }, devices: { disks: [{ name: 'a' }] } },
            volumes: [{ name: 'a', persistentVolumeClaim: { claimName: 'c' } }],
          },
        },
      },
    });
    await cluster.until((machine) => machine.status?.printableStatus === 'Starting');
    await cluster.setPhase('Running');
    await cluster.until((machine) => machine.status?.printableStatus === 'Running');
    const before = (await cluster.machine()).metadata.resourceVersion;
    clock.advance(120_000);
    await allTasks();
    assert.equal((await cluster.machine()).metadata.resourceVersion, before);
  });
});

it('volumes are made from templates, grow with them, are tried again, and go with the machine if they are named', async () => {
  await withCluster(async (cluster) => {
    const { client, clock } = cluster;
    const claims = resources.persistentVolumeClaims;
    const claimOf = (name: string): Promise<PersistentVolumeClaim | undefined> =>
      client.find(claims, { namespace: 'default', name });
    const templatesOf = (storage: string): string =>
      JSON.stringify(
        ['root', 'data'].map((name) => ({
          metadata: { name },
          spec: {
            accessModes: ['ReadWriteMany'],
            resources: { requests: { storage } },
            storageClassName: 'growing',
          },
        })),
      );
    const annotate = async (annotations: Readonly<Record<string, string>>): Promise<void> => {
      const machine = await cluster.machine();
      const metadata = {
        ...machine.metadata,
        annotations: { ...machine.metadata.annotations, ...annotations },
      };
      await client.update(machineResource, { ...machine, metadata });
    };
    const key = 'harvesterhci.io/volumeClaimTemplates';
    await client.create(resources.storageClasses, {
      metadata: { name: 'growing' },
      provisioner: 'example.org/disks',
      allowVolumeExpansion: true,
    });
    await client.create(machineResource, {
      metadata: { ...place, annotations: { [key]: templatesOf('no size') } },
      spec: { runStrategy: 'Halted', template: { spec: { domain: { devices: {} } } } },
    });
    await cluster.until((machine) => findCondition(machine.status?.conditions, 'Failure') !== undefined);
    const { conditions } = (await cluster.machine()).status ?? {};
    assert.match(
      findCondition(conditions, 'Failure')?.message ?? '',
      /cannot be made: .*default\/root; needs someone: correct its template/,
    );
    await annotate({ [key]: templatesOf('1Gi') });
    await settle({ clock, until: async () => (await claimOf('data')) !== undefined });
    await cluster.until((machine) => findCondition(machine.status?.conditions, 'Failure') === undefined);
    await annotate({ [key]: templatesOf('2Gi') });
    const sizeOf = (claim?: PersistentVolumeClaim): string | undefined =>
      claim?.spec.resources?.requests?.['storage'];
    const { spec } = await client.get(claims, { namespace: 'default', name: 'root' });
    const bound = { metadata: { namespace: 'default', name: 'root' }, spec, status: { phase: 'Bound' } };
    await client.updateStatus(claims, bound);
    await settle({ clock, until: async () => sizeOf(await claimOf('root')) === '2Gi' });
    await annotate({ 'harvesterhci.io/removedPersistentVolumeClaims': 'root' });
    await client.delete(machineResource, place);
    await settle({ clock, until: async () => !(await client.find(machineResource, place)) });
    const left = await client.list(claims, { namespace: 'default' });
    const kept = left.items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    assert.deepEqual(
      kept.map(({ metadata }) => metadata.name),
      ['data'],
    );
  });
});

it('a machine whose start the rules of writing refuse says so, and starts when they do not any more', async () => {
  let isRefused = true;
  const rule: AdmissionRule = {
    name: 'refuses changes',
    targets: [{ group: 'kubevirt.io', resource: 'virtualmachines' }],
    operations: ['UPDATE'],
    validate: (object) =>
      isRefused && object?.['spec'] && JSON.stringify(object['spec']).includes('Always')
        ? deny({ reason: 'Invalid', message: 'its volume is used by another', wayOut: 'detach it there' })
        : allow(),
  };
  await withCluster(
    async (cluster) => {
      const { client } = cluster;
      await client.create(machineResource, {
        metadata: place,
        spec: {
          runStrategy: 'Halted',
          template: { spec: { domain: { memory: { guest: '64Mi' }, devices: {} } } },
        },
      });
      await cluster.until(({ metadata }) => (metadata.finalizers ?? []).length > 0);
      const machine = await cluster.machine();
      const stateChangeRequests = [{ action: 'Start' as const, data: { paused: 'true' } }];
      await client.updateStatus(machineResource, {
        ...machine,
        status: { ...machine.status, stateChangeRequests },
      });
      const failureOf = ({ status }: VirtualMachine) =>
        status?.conditions?.find(({ type }) => type === 'Failure');
      await cluster.until((now) => failureOf(now)?.reason === 'ChangeRefused');
      assert.match(failureOf(await cluster.machine())?.message ?? '', /its volume is used by another/);
      isRefused = false;
      await cluster.until((now, instance) => instance !== undefined && failureOf(now) === undefined);
    },
    (api) => api.addAdmission(rule),
  );
});
