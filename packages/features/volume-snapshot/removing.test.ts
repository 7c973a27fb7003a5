import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { StatusError } from '@sheaf/base';
import type { DiskFile, MachineObservation } from '@sheaf/ports';
import { allTasks, SeededRandom, TestClock } from '@sheaf/testkit';
import { openSimulatedDisk, SimulatedMedium } from '@sheaf/testkit/volumes/index';
import { Freezes } from './frozen-guest.ts';
import { removeSnapshot } from './removing.ts';

const signal = new AbortController().signal;
const mebibyte = 1024 ** 2;
const order = { id: 's', volumeId: 'v', isAttached: true };
const removal = { id: 's', volumeId: 'v' };

/** A volume in a machine, for which a snapshot is prepared by someone who is heard of no more. */
async function withPrepared() {
  const medium = new SimulatedMedium();
  const { volumes } = openSimulatedDisk({ medium, clock: new TestClock(), random: new SeededRandom(1) });
  const content = { kind: 'blank' } as const;
  await volumes.create({ id: 'v', title: 'ns/v', bytes: mebibyte, content, provisioning: 'thin' }, signal);
  const first = (await volumes.find('v', signal))?.file ?? assert.fail('there is no volume');
  const { overlay } = await volumes.snapshot(order, signal);
  assert.ok(overlay);
  const machine = { isSilent: false, file: first, open: medium.open(first) };
  const list = (): Promise<readonly MachineObservation[]> =>
    Promise.resolve([observed(machine.isSilent ? undefined : machine.file)]);
  const switchTo = async (file: DiskFile): Promise<void> => {
    await machine.open.close();
    machine.open = medium.open(file);
    machine.file = file;
  };
  const parts = { volumes, hypervisor: { list }, freezes: new Freezes() };
  const look = async () => ({
    file: (await volumes.find('v', signal))?.file,
    isPrepared: (await volumes.findPrepared('s', signal)) !== undefined,
    kept: (await volumes.listSnapshots(signal)).length,
  });
  return { parts, machine, first, overlay, switchTo, look };
}

function observed(file: DiskFile | undefined): MachineObservation {
  return {
    id: 'm',
    title: 'ns/m',
    state: file ? 'running' : 'unresponsive',
    startedAt: 0,
    devices: file ? [{ name: 'root', kind: 'disk', path: file.path, isLeaving: false }] : [],
    forwards: [],
    sockets: 1,
    memoryBytes: mebibyte,
    isAgentConnected: false,
    guestResets: 0,
  };
}

describe('a snapshot that is removed before it was taken', () => {
  it('is given up where the machine has not switched', async () => {
    const { parts, first, look } = await withPrepared();
    await removeSnapshot(parts, removal, signal);
    assert.deepEqual(await look(), { file: first, isPrepared: false, kept: 0 });
  });

  it('is told and removed where the machine has switched and nobody knows', async () => {
    const { parts, overlay, switchTo, look } = await withPrepared();
    await switchTo(overlay);
    await removeSnapshot(parts, removal, signal);
    assert.deepEqual(await look(), { file: overlay, isPrepared: false, kept: 0 });
  });

  it('is removed as any other where the driver has found out by itself', async () => {
    const { parts, machine, overlay, switchTo, look } = await withPrepared();
    await switchTo(overlay);
    await machine.open.write(0, 1);
    await removeSnapshot(parts, removal, signal);
    assert.deepEqual(await look(), { file: overlay, isPrepared: false, kept: 0 });
  });

  it('stays as long as a machine has its file open and does not say whether it writes there', async () => {
    const { parts, machine, overlay, switchTo, look } = await withPrepared();
    await switchTo(overlay);
    machine.isSilent = true;
    const removed = removeSnapshot(parts, removal, signal);
    await assert.rejects(removed, (error) => StatusError.is(error, 'Conflict') && /stop/.test(error.message));
    assert.equal((await look()).isPrepared, true);
    machine.isSilent = false;
    await removeSnapshot(parts, removal, signal);
    assert.deepEqual(await look(), { file: overlay, isPrepared: false, kept: 0 });
  });

  it('waits for a switch that is under way, and sees it', async () => {
    const { parts, overlay, switchTo, look } = await withPrepared();
    const hold = Promise.withResolvers<void>();
    const switching = parts.freezes.inTurn('m', async () => {
      await hold.promise;
      await switchTo(overlay);
    });
    const removed = removeSnapshot(parts, removal, signal);
    await allTasks();
    assert.equal((await look()).isPrepared, true);
    hold.resolve();
    await Promise.all([switching, removed]);
    assert.deepEqual(await look(), { file: overlay, isPrepared: false, kept: 0 });
  });
});
