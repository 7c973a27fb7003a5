import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { resources } from '@sheaf/client';
import { haltedMachine, snapshotOf } from './halted-machine.ts';
import { StorageWorld } from './storage-world.ts';

const namespace = 'default';
const place = (name: string) => ({ namespace, name });

/** A machine that writes to two disks, and its guest agent. */
async function begin(world: StorageWorld): Promise<string> {
  const { client, machines } = world;
  for (const claim of ['a', 'b']) {
    await world.createClaim(claim);
    await world.untilPhase(claim, 'Bound');
  }
  await client.create(resources.virtualMachines, haltedMachine('m', { claims: ['a', 'b'] }));
  const machine = await world.startMachine('m', 'a', 'b');
  machines.installAgent(machine);
  return machine;
}

/** As the action `clone` asks for it. */
async function copyClaim(world: StorageWorld, claim: string): Promise<void> {
  const annotations = { 'sheaf.dev/moment': 'clone', 'sheaf.dev/moment-size': '2' };
  const dataSource = { kind: 'PersistentVolumeClaim', name: claim };
  await world.createClaim(`${claim}-copy`, { dataSource }, { metadata: { annotations } });
}

/** Resolves to the number of changes from the first copy on. */
async function copy(world: StorageWorld, diesAfter?: number): Promise<number> {
  const { client, machines } = world;
  const machine = await begin(world);
  await machines.write(machine, 0, 1);
  const begun = world.changes;
  if (diesAfter !== undefined) world.diesBefore = begun + diesAfter;
  for (const claim of ['a', 'b']) await copyClaim(world, claim);
  for (const claim of ['a', 'b']) await world.untilPhase(`${claim}-copy`, 'Bound');
  const isTidy = async (): Promise<boolean> =>
    (await client.list(resources.volumeSnapshots, { namespace })).items.length === 0;
  await world.until(isTidy);
  await world.until(() => Promise.resolve(!machines.isFrozen(machine)));
  world.diesBefore = undefined;
  assert.deepEqual(machines.moments, [['b', 'root']], 'both disks were switched at one moment');
  await machines.write(machine, 0, 2);
  const copied = await world.startMachine('copy', 'a-copy', 'b-copy');
  assert.equal(await machines.read(copied, 0), 1);
  machines.moments.length = 0;
  machines.done.length = 0;
  const changes = world.changes - begun;
  await client.deleteCollection(resources.virtualMachines, { namespace });
  await world.clear();
  return changes;
}

/** Resolves to the number of changes from the snapshot on. */
async function tell(world: StorageWorld, diesAfter?: number): Promise<number> {
  const { client, machines } = world;
  const machine = await begin(world);
  const begun = world.changes;
  if (diesAfter !== undefined) world.diesBefore = begun + diesAfter;
  await client.create(resources.virtualMachineBackups, snapshotOf('m', 's', 'snapshot'));
  await world.until(
    async () => (await client.get(resources.virtualMachineBackups, place('s'))).status?.readyToUse === true,
  );
  const worth = async () => {
    const { items } = await client.list(resources.volumeSnapshots, { namespace });
    return items.map(({ metadata }) => metadata.annotations?.['sheaf.dev/consistency']);
  };
  if (diesAfter === undefined) {
    await world.until(async () => (await worth()).every((each) => each === 'filesystem'));
    assert.equal(machines.done.join(' '), 'freeze switch switch thaw');
  }
  world.diesBefore = undefined;
  await world.until(() => Promise.resolve(!machines.isFrozen(machine)));
  assert.deepEqual(machines.moments, [['b', 'root']], 'both disks were switched at one moment');
  // Only what was frozen when the disks were switched may be called consistent.
  if ((await worth()).includes('filesystem'))
    assert.match(machines.done.join(' '), /freeze switch switch thaw/);
  machines.moments.length = 0;
  machines.done.length = 0;
  const changes = world.changes - begun;
  for (const resource of [resources.virtualMachineBackups, resources.virtualMachines] as const)
    await client.deleteCollection(resource, { namespace });
  await world.clear();
  return changes;
}

describe('the disks of a running machine', { timeout: 300_000 }, () => {
  let world: StorageWorld;
  before(async () => {
    world = await StorageWorld.open({ hasBackups: true });
  });
  after(() => world.close());

  it('are kept as they are at one moment, whatever dies before any of its changes', async (context) => {
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

  it('are copied as they are at one moment, whatever dies before any of its changes', async (context) => {
    const changes = await copy(world);
    const { lives } = world;
    for (let at = 1; at <= changes; at++)
      await copy(world, at).catch((error: unknown) => {
        throw new Error(`dying before change ${at}`, { cause: error });
      });
    const deaths = world.lives - lives;
    assert.ok(deaths > changes / 2, 'it has hardly died');
    context.diagnostic(`died in ${deaths} of ${changes} places`);
  });

  it('are copied also while the machine is off, and need not be of one moment then', async () => {
    await begin(world);
    await world.stopMachine('m');
    for (const claim of ['a', 'b']) await copyClaim(world, claim);
    for (const claim of ['a', 'b']) await world.untilPhase(`${claim}-copy`, 'Bound');
    assert.deepEqual(world.machines.moments, []);
    await world.client.deleteCollection(resources.virtualMachines, { namespace });
    await world.clear();
  });

  it('wait for each other', async () => {
    await world.createClaim('a');
    await world.untilPhase('a', 'Bound');
    await world.startMachine('m', 'a');
    const annotations = { 'sheaf.dev/moment': 'now', 'sheaf.dev/moment-size': '2' };
    const take = (name: string, claim: string) =>
      world.client.create(resources.volumeSnapshots, {
        metadata: { ...place(name), annotations },
        spec: { source: { persistentVolumeClaimName: claim } },
      });
    await take('first', 'a');
    const find = async () => (await world.client.get(resources.volumeSnapshots, place('first'))).status;
    await world.until(async () => (await find())?.error !== undefined);
    assert.match((await find())?.error?.message ?? '', /^OthersAwaited: .* 1 of 2 are there; tried again/);
    await world.createClaim('b');
    await take('second', 'b');
    await world.until(async () => (await find())?.readyToUse === true);
    assert.equal((await find())?.error, undefined);
  });
});
