import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  blankOrder,
  imageOrder,
  inPieces,
  mebibyte,
  orderOf,
  rawDisk,
  signal,
} from '@sheaf/ports/disk-bench.fixture';
import { SeededRandom } from '../seeded-random.ts';
import { settle } from '../settle.ts';
import { TestClock } from '../test-clock.ts';
import {
  noDiskFaults,
  openSimulatedDisk,
  SimulatedCrash,
  type SimulatedDisk,
  type SimulatedDiskFaults,
  SimulatedMedium,
} from './index.ts';

/** What a caller does that tries again until it is through. */
async function work({ volumes, images }: SimulatedDisk, clock: TestClock): Promise<void> {
  const { receivedBytes, progress } = await images.request(imageOrder('i', { kind: 'upload' }), signal);
  const bytes = rawDisk(1, 2).subarray(receivedBytes);
  const isWanted = progress.state === 'working' && bytes.length > 0;
  if (isWanted)
    await images.receive('i', { offset: receivedBytes, bytes: inPieces(bytes), isLast: true }, signal);
  await settle({ clock, until: async () => (await images.find('i', signal))?.progress.state === 'done' });
  await volumes.create(orderOf('v', { kind: 'image', imageId: 'i' }), signal);
  await volumes.snapshot({ id: 's', volumeId: 'v', isAttached: false }, signal);
  await volumes.expand('v', { bytes: 2 * mebibyte, isAttached: false }, signal);
  const copy = orderOf('c', { kind: 'snapshot', snapshotId: 's' }, 'full');
  await settle({ clock, until: async () => (await volumes.create(copy, signal)).state === 'done' });
  await volumes.removeSnapshot('s', signal);
}

function faultsAt(step: number): SimulatedDiskFaults & { readonly steps: number } {
  let steps = 0;
  return {
    ...noDiskFaults,
    crashesAt: () => steps++ === step,
    get steps() {
      return steps;
    },
  };
}

async function look({ volumes, images }: SimulatedDisk) {
  return [await volumes.list(signal), await volumes.listSnapshots(signal), await images.list(signal)];
}

test('simulated disks: a driver that dies before any of its steps leaves what another ends', async () => {
  const whole = faultsAt(Number.POSITIVE_INFINITY);
  const begin = (medium: SimulatedMedium, clock: TestClock, faults?: SimulatedDiskFaults) =>
    openSimulatedDisk({ medium, clock, random: new SeededRandom(1), ...(faults ? { faults } : {}) });
  const clock = new TestClock();
  const unharmed = begin(new SimulatedMedium(), clock, whole);
  await work(unharmed, clock);
  const expected = await look(unharmed);
  for (let step = 0; step < whole.steps - 3; step++) {
    const own = new TestClock();
    const medium = new SimulatedMedium();
    await assert.rejects(work(begin(medium, own, faultsAt(step)), own), SimulatedCrash, `step ${step}`);
    // A snapshot that was removed and not acknowledged is not asked for again.
    const again = begin(medium, own);
    await work(again, own);
    assert.deepEqual(await look(again), expected, `after a crash at step ${step}`);
  }
});

test('simulated disks: a full disk stops what it hits, and that goes on when there is room', async () => {
  let isFull = true;
  const clock = new TestClock();
  const faults = { ...noDiskFaults, diskIsFull: () => isFull };
  const disk = openSimulatedDisk({
    medium: new SimulatedMedium(),
    clock,
    random: new SeededRandom(1),
    faults,
  });
  await assert.rejects(work(disk, clock), /the disk is full; remove/);
  isFull = false;
  await work(disk, clock);
  isFull = true;
  await disk.volumes
    .create(orderOf('d', { kind: 'volume', volumeId: 'v' }, 'full'), signal)
    .catch(() => undefined);
  const order = { ...orderOf('d', { kind: 'volume', volumeId: 'v' } as const, 'full'), bytes: 2 * mebibyte };
  await disk.volumes.create(order, signal);
  let seen: unknown;
  await settle({
    clock,
    until: async () => {
      const progress = await disk.volumes.create(order, signal);
      seen = progress;
      return progress.state !== 'working';
    },
  });
  assert.deepEqual(seen, {
    state: 'failed',
    message: 'the disk is full; remove volumes, snapshots or images, or add storage',
    nature: 'transient',
  });
});

test('simulated disks: bytes that change on the way are found out by their checksum', async () => {
  const clock = new TestClock();
  const faults = { ...noDiskFaults, corrupts: () => true };
  const disk = openSimulatedDisk({
    medium: new SimulatedMedium(),
    clock,
    random: new SeededRandom(1),
    faults,
  });
  await disk.images.request({ ...imageOrder('i', { kind: 'upload' }), sha512: '0'.repeat(128) }, signal);
  await disk.images.receive('i', { offset: 0, bytes: inPieces(rawDisk(1)), isLast: true }, signal);
  await settle({
    clock,
    until: async () => (await disk.images.find('i', signal))?.progress.state === 'failed',
  });
  await disk.volumes.create(blankOrder('v'), signal);
  assert.equal((await disk.volumes.list(signal)).length, 1);
});
