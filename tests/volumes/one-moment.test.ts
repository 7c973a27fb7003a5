import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { resources } from '@sheaf/client';
import { haltedMachine, snapshotOf } from './halted-machine.ts';
import { StorageWorld } from './storage-world.ts';

const namespace = 'default';
const place = (name: string) => ({ namespace, name });

/** Resolves to the number of changes from the snapshot on. */
async function tell(world: StorageWorld, diesAfter?: number): Promise<number> {
  const { client, machines } = world;
  for (const claim of ['a', 'b']) {
    await world.createClaim(claim);
    await world.untilPhase(claim, 'Bound');
  }
  await client.create(resources.virtualMachines, haltedMachine('m', { claims: ['a', 'b'] }));
  const machine = await world.startMachine('m', 'a', 'b');
  machines.installAgent(machine);
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
