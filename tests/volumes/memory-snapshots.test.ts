import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { KubeObject } from '@sheaf/api';
import type { VirtualMachineRestore } from '@sheaf/api/virtualization/index';
import { resources } from '@sheaf/client';
import { haltedMachine, snapshotOf } from './halted-machine.ts';
import { StorageWorld } from './storage-world.ts';

const namespace = 'default';
const place = (name: string) => ({ namespace, name });
const withMemory = { 'sheaf.dev/memory': 'true' };
const { virtualMachineBackups: backups, virtualMachineRestores: restores, virtualMachines } = resources;

async function begin(world: StorageWorld): Promise<string> {
  for (const claim of ['a', 'b']) {
    await world.createClaim(claim);
    await world.untilPhase(claim, 'Bound');
  }
  await world.client.create(virtualMachines, haltedMachine('m', { claims: ['a', 'b'] }));
  return await run(world);
}

async function run(world: StorageWorld): Promise<string> {
  const id = await world.startMachine('m', 'a', 'b');
  const instance = await world.client.get<KubeObject>(resources.virtualMachineInstances, place('m'));
  await world.client.update(resources.virtualMachineInstances, {
    ...instance,
    status: { phase: 'Running' },
  } as never);
  return id;
}

async function take(world: StorageWorld, name: string, annotations: Record<string, string>): Promise<void> {
  const wanted = snapshotOf('m', name, 'snapshot');
  await world.client.create(backups, { ...wanted, metadata: { ...wanted.metadata, annotations } });
}

async function untilTaken(world: StorageWorld, name: string): Promise<void> {
  await world.until(async () => (await world.client.get(backups, place(name))).status?.readyToUse === true);
}

/** Changes after the machine has gone on in its new files. */
const changesThen = { keep: 1, tellFirst: 2, tellSecond: 3 };

async function takeAndDieBefore(world: StorageWorld, change: keyof typeof changesThen): Promise<void> {
  world.machines.onMoment = () => {
    world.diesBefore = world.changes + changesThen[change];
    world.machines.onMoment = () => {};
  };
  await take(world, 's', withMemory);
  await world.untilDead();
}

async function clear(world: StorageWorld): Promise<void> {
  for (const resource of [restores, backups, virtualMachines] as const)
    await world.client.deleteCollection(resource, { namespace });
  await world.clear();
  await world.until(() => Promise.resolve(world.medium.memories.size === 0));
  assert.equal(world.medium.files.size, 0);
  world.machines.moments.length = 0;
  world.machines.done.length = 0;
}

/** Resolves to the number of changes from the snapshot on. */
async function tell(world: StorageWorld, diesAfter?: number): Promise<number> {
  const machine = await begin(world);
  world.machines.installAgent(machine);
  const begun = world.changes;
  if (diesAfter !== undefined) world.diesBefore = begun + diesAfter;
  await take(world, 's', withMemory);
  await untilTaken(world, 's');
  const changes = world.changes - begun;
  world.diesBefore = undefined;
  const { uid = '' } = (await world.client.get(backups, place('s'))).metadata;
  assert.equal(world.machines.done.join(' '), 'memory switch switch');
  assert.deepEqual(world.machines.moments, [['b', 'root']], 'both disks were switched at one moment');
  assert.deepEqual(
    [...world.medium.memories.values()].map(({ id, state }) => [id, state]),
    [[uid, 'kept']],
  );
  await clear(world);
  return changes;
}

describe('snapshots with the memory of a machine', { timeout: 300_000 }, () => {
  let world: StorageWorld;
  beforeEach(async () => {
    world = await StorageWorld.open({ hasBackups: true });
  });
  afterEach(() => world.close());

  it('keep memory and disks at one moment and go as one, whatever dies before any of its changes', async (context) => {
    const changes = await tell(world);
    const { lives } = world;
    for (let at = 1; at <= changes; at++)
      await tell(world, at).catch((error: unknown) => {
        throw new Error(`dying before change ${at}`, { cause: error });
      });
    const deaths = world.lives - lives;
    assert.ok(deaths > changes / 2, 'it has hardly died');
    context.diagnostic(`died in ${deaths} of ${changes} places`);
  });

  it('have their memory also when the process dies after the guest has gone on', async () => {
    const id = await begin(world);
    await takeAndDieBefore(world, 'keep');
    await world.machines.write(id, 0, 1);
    await world.restart();
    await untilTaken(world, 's');
    assert.deepEqual(
      [...world.medium.memories.values()].map(({ state }) => state),
      ['kept'],
    );
    assert.equal(world.machines.done.join(' '), 'memory switch switch');
    await clear(world);
  });

  it('are of the moment of their memory also when the machine ends before anybody was told', async () => {
    await begin(world);
    await takeAndDieBefore(world, 'tellFirst');
    await world.stopMachine('m');
    await world.restart();
    await untilTaken(world, 's');
    await clear(world);
  });

  for (const change of ['tellFirst', 'tellSecond'] as const)
    for (const endsAgain of [false, true])
      it(`are never of disks that their machine has written to since: ${change}, ${endsAgain ? 'it is off' : 'it runs'}`, async () => {
        await begin(world);
        await takeAndDieBefore(world, change);
        await world.stopMachine('m');
        await world.restart({ hasControllers: false });
        await run(world);
        if (endsAgain) await world.stopMachine('m');
        await world.restart();
        const find = async () => (await world.client.get(backups, place('s'))).status?.error?.message ?? '';
        await world.until(async () => /MomentLost/.test(await find()));
        assert.match(
          await find(),
          /not of one moment any more; .*needs someone: delete it and take it again/,
        );
        await clear(world);
      });

  it('say what stands against them, and what can be done', async () => {
    await begin(world);
    const { client } = world;
    const words = async (name: string): Promise<string> => {
      const find = async () => (await client.get(backups, place(name))).status?.error?.message;
      await world.until(async () => (await find()) !== undefined);
      return (await find()) ?? '';
    };
    await assert.rejects(take(world, 'odd', { 'sheaf.dev/memory': 'yes' }), {
      message: /neither "true" nor "false".*leave it out/,
    });
    await world.stopMachine('m');
    await take(world, 'off', withMemory);
    assert.match(await words('off'), /^MachineNotRunning: .*needs someone: start it, or .*without memory/);
    // It goes on by itself when its machine runs.
    await run(world);
    await untilTaken(world, 'off');
    const machine = await client.get(virtualMachines, place('m'));
    const { spec = { domain: { devices: {} } } } = machine.spec.template;
    const scratch = { name: 'scratch', emptyDisk: { capacity: '1Mi' } };
    const volumes = [...(spec.volumes ?? []), scratch];
    await client.update(virtualMachines, {
      ...machine,
      spec: { ...machine.spec, template: { ...machine.spec.template, spec: { ...spec, volumes } } },
    });
    await take(world, 'scratched', withMemory);
    assert.match(await words('scratched'), /^DiskNotKept: Its disk scratch .*put the disk on a claim/);
    const taken = await client.get(backups, place('off'));
    const changed = { ...taken, metadata: { ...taken.metadata, annotations: {} } };
    await assert.rejects(client.update(backups, changed), { message: /cannot be changed.*Delete it/ });
    await clear(world);
  });

  it('are not taken of a guest that somebody has frozen, until it is thawed', async () => {
    const id = await begin(world);
    const { machines } = world;
    machines.installAgent(id);
    await machines.askAgent(id, { execute: 'guest-fsfreeze-freeze' });
    await take(world, 's', withMemory);
    await world.until(async () => {
      const { status } = await world.client.get(backups, place('s'));
      return status?.conditions?.some(({ reason }) => reason === 'GuestFrozen') === true;
    });
    assert.equal(machines.done.join(' '), 'freeze');
    await machines.askAgent(id, { execute: 'guest-fsfreeze-thaw' });
    await untilTaken(world, 's');
    await clear(world);
  });

  it('are waited for by their deletion until the machine goes on in its new files', async () => {
    const id = await begin(world);
    world.machines.isStuck = true;
    await take(world, 's', withMemory);
    await world.until(async () => {
      const { status } = await world.client.get(backups, place('s'));
      return /50 %/.test(JSON.stringify(status?.conditions));
    });
    await world.client.delete(backups, place('s'));
    const told = async (): Promise<string> =>
      JSON.stringify((await world.client.list(resources.volumeSnapshotContents)).items);
    await world.until(async () => /SnapshotInUse.*is being kept/.test(await told()));
    world.machines.isStuck = false;
    await world.machines.endSaves(id);
    await clear(world);
  });

  it('are gone on from by the machine itself, and by another one only under its addresses', async () => {
    await begin(world);
    const { client } = world;
    await take(world, 's', withMemory);
    await take(world, 'plain', {});
    for (const name of ['s', 'plain']) await untilTaken(world, name);
    await world.stopMachine('m');
    const { uid: memoryId } = (await client.get(backups, place('s'))).metadata;
    const restore = async (
      name: string,
      annotations: Record<string, string>,
      spec: Partial<VirtualMachineRestore['spec']>,
    ) => {
      await client.create(restores, {
        metadata: { ...place(name), annotations },
        spec: {
          target: { apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name: 'm' },
          virtualMachineBackupName: 's',
          virtualMachineBackupNamespace: namespace,
          deletionPolicy: 'retain',
          haltAfterRestore: true,
          newVM: false,
          ...spec,
        },
      });
      await world.until(async () => (await client.get(restores, place(name))).status?.complete === true);
      const { target } = (await client.get(restores, place(name))).spec;
      const machine = await client.get(virtualMachines, place(target.name));
      const start = machine.metadata.annotations?.['sheaf.dev/start-from-memory'];
      const claims = (machine.spec.template.spec?.volumes ?? []).map(
        (volume) => volume.persistentVolumeClaim?.claimName,
      );
      return { start: start === undefined ? undefined : (JSON.parse(start) as object), claims };
    };
    const first = await restore('again', {}, {});
    assert.deepEqual(first.start, { memoryId, claims: first.claims });
    const without = await restore('without', { 'sheaf.dev/memory': 'false' }, {});
    assert.equal(without.start, undefined, 'the memory that was asked for before is not that of these disks');
    const other = { newVM: true, target: { apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name: 'n' } };
    await assert.rejects(restore('no', withMemory, { virtualMachineBackupName: 'plain' }), {
      message: /without the memory.*Leave the annotation out/,
    });
    await assert.rejects(restore('no', withMemory, other), {
      message: /only under the MAC addresses.*Set keepMacAddress/,
    });
    assert.equal((await restore('boots', {}, other)).start, undefined);
    await client.delete(virtualMachines, place('m'));
    const kept = { ...other, keepMacAddress: true, target: { ...other.target, name: 'o' } };
    const second = await restore('same', withMemory, kept);
    assert.deepEqual(second.start, { memoryId, claims: second.claims });
    await clear(world);
  });
});
