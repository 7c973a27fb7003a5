import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  findUntoldSwitch,
  giveUpPrepared,
  guardFrozen,
  guardPrepared,
  guardUntold,
  switchUnderMachine,
} from './attached-snapshots.contract.ts';
import {
  blankOrder,
  cellBytes,
  contentOf,
  type DiskBench,
  fileOf,
  make,
  mebibyte,
  orderOf,
  rawDisk,
  refusedAs,
  signal,
  upload,
  type WithBench,
  write,
} from './disk-bench.fixture.ts';

/** What every driver of `Volumes` must do. */
export function testVolumes(driver: string, withBench: WithBench): void {
  const check = (name: string, use: (bench: DiskBench) => Promise<void>): void => {
    test(`${driver} volumes: ${name}`, () => withBench(use));
  };
  check('are made once, and found again', areMadeOnce);
  check('are refused where the order cannot be met', refuseOddOrders);
  check('keep what is written', keepWhatIsWritten);
  check('share an image until they write', shareImages);
  check('stand alone when all of their room is taken', standAlone);
  check('part from their clone', partFromClone);
  check('only grow', onlyGrow);
  check('grow under a machine only by setting room aside', growUnderMachine);
  check('keep the state of a snapshot', keepSnapshots);
  check('outlive and are outlived by their snapshots', outliveSnapshots);
  check('go on in a new file under a running machine', switchUnderMachine);
  check('find out a switch that nobody told', findUntoldSwitch);
  check('go on as before when a prepared snapshot is given up', giveUpPrepared);
  check('let nobody write to a layer that is frozen, also who looked it up before', guardFrozen);
  check('let nobody write below a switch that nobody told of', guardUntold);
  check('tell what is prepared, and give it up only when no machine can write to it', guardPrepared);
  check('are not cloned, frozen or removed while a machine has them open', respectMachines);
  check('are refused before room is used that is not there', refuseWithoutRoom);
  check('account for what is promised', accountForPromises);
  check('are removed at once and for good', areRemoved);
  check('tell what nobody owns', tellUnowned);
  check('are the same after a restart', surviveRestart);
  check('announce their changes', announce);
}

async function areMadeOnce(bench: DiskBench): Promise<void> {
  assert.equal(await bench.volumes.find('v', signal), undefined);
  assert.deepEqual(await bench.volumes.create(blankOrder('v'), signal), { state: 'done' });
  assert.deepEqual(await bench.volumes.create(blankOrder('v'), signal), { state: 'done' });
  const volume = await bench.volumes.find('v', signal);
  const { allocatedBytes, file, ...rest } = volume ?? assert.fail('it is not found');
  assert.deepEqual(rest, { id: 'v', title: 'ns/v', bytes: mebibyte, isBusy: false, snapshotIds: [] });
  assert.ok(allocatedBytes >= 0);
  assert.equal(file.format, 'qcow2');
  assert.deepEqual(await bench.volumes.list(signal), [volume]);
  await Promise.all([make(bench, blankOrder('w')), make(bench, blankOrder('w'))]);
  assert.deepEqual((await bench.volumes.list(signal)).map(({ id }) => id).sort(), ['v', 'w']);
}

async function refuseOddOrders(bench: DiskBench): Promise<void> {
  const { volumes } = bench;
  for (const id of ['', '../v', 'a/b', '.v'])
    await assert.rejects(volumes.create(blankOrder(id), signal), /is no id/);
  for (const bytes of [0, -1, 1.5, Number.NaN])
    await assert.rejects(volumes.create(blankOrder('v', bytes), signal), refusedAs('Invalid', /no size/));
  const missing = [
    { kind: 'image', imageId: 'x' },
    { kind: 'volume', volumeId: 'x' },
    { kind: 'snapshot', snapshotId: 'x' },
  ] as const;
  for (const content of missing)
    await assert.rejects(
      volumes.create(orderOf('v', content), signal),
      refusedAs('NotFound', /x is not there/),
    );
  await assert.rejects(
    volumes.expand('x', { bytes: 1, isAttached: false }, signal),
    refusedAs('NotFound', /x is not/),
  );
  const order = { id: 's', volumeId: 'x', isAttached: false };
  await assert.rejects(volumes.snapshot(order, signal), refusedAs('NotFound', /x is not there/));
  assert.deepEqual(await volumes.list(signal), []);
}

async function keepWhatIsWritten(bench: DiskBench): Promise<void> {
  await make(bench, blankOrder('v'));
  assert.deepEqual(await contentOf(bench, 'v'), [0, 0, 0]);
  const before = await bench.volumes.find('v', signal);
  await write(bench, 'v', { 0: 7, 2: 9 });
  assert.deepEqual(await contentOf(bench, 'v'), [7, 0, 9]);
  const after = await bench.volumes.find('v', signal);
  assert.ok((after?.allocatedBytes ?? 0) > (before?.allocatedBytes ?? 0));
}

async function shareImages(bench: DiskBench): Promise<void> {
  await upload(bench, 'i', rawDisk(1, 2, 3));
  await make(bench, orderOf('a', { kind: 'image', imageId: 'i' }));
  await make(bench, orderOf('b', { kind: 'image', imageId: 'i' }));
  await write(bench, 'a', { 1: 8 });
  assert.deepEqual(await contentOf(bench, 'a', 4), [1, 8, 3, 0]);
  assert.deepEqual(await contentOf(bench, 'b', 4), [1, 2, 3, 0]);
  assert.equal((await bench.volumes.find('a', signal))?.basedOn, 'i');
  const small = { ...orderOf('c', { kind: 'image', imageId: 'i' } as const), bytes: cellBytes };
  await assert.rejects(bench.volumes.create(small, signal), refusedAs('Invalid', /smaller than its content/));
  await assert.rejects(bench.images.remove('i', signal), refusedAs('Conflict', /in use by volume ns\/a/));
  await bench.volumes.remove('a', signal);
  await assert.rejects(bench.images.remove('i', signal), refusedAs('Conflict', /in use by volume ns\/b/));
  await bench.volumes.remove('b', signal);
  await bench.images.remove('i', signal);
  assert.equal(await bench.images.find('i', signal), undefined);
}

async function standAlone(bench: DiskBench): Promise<void> {
  await upload(bench, 'i', rawDisk(1, 2));
  await make(bench, orderOf('v', { kind: 'image', imageId: 'i' }, 'full'));
  const volume = await bench.volumes.find('v', signal);
  assert.ok((volume?.allocatedBytes ?? 0) >= mebibyte, 'its room is not taken');
  assert.equal(volume?.basedOn, undefined);
  await bench.images.remove('i', signal);
  await make(bench, orderOf('w', { kind: 'volume', volumeId: 'v' }, 'full'));
  await bench.volumes.remove('v', signal);
  assert.deepEqual(await contentOf(bench, 'w'), [1, 2, 0]);
}

async function partFromClone(bench: DiskBench): Promise<void> {
  await make(bench, blankOrder('v'));
  await write(bench, 'v', { 0: 1, 1: 2 });
  await make(bench, { ...orderOf('c', { kind: 'volume', volumeId: 'v' }), bytes: 2 * mebibyte });
  await write(bench, 'v', { 0: 3 });
  await write(bench, 'c', { 1: 4 });
  assert.deepEqual(await contentOf(bench, 'v'), [3, 2, 0]);
  assert.deepEqual(await contentOf(bench, 'c'), [1, 4, 0]);
  assert.equal((await bench.volumes.find('c', signal))?.bytes, 2 * mebibyte);
  await bench.volumes.remove('v', signal);
  assert.deepEqual(await contentOf(bench, 'c'), [1, 4, 0]);
}

async function onlyGrow(bench: DiskBench): Promise<void> {
  await make(bench, blankOrder('v'));
  await write(bench, 'v', { 0: 5 });
  await bench.volumes.expand('v', { bytes: 2 * mebibyte, isAttached: false }, signal);
  await bench.volumes.expand('v', { bytes: 2 * mebibyte, isAttached: false }, signal);
  assert.equal((await bench.volumes.find('v', signal))?.bytes, 2 * mebibyte);
  assert.deepEqual(await contentOf(bench, 'v'), [5, 0, 0]);
  await write(bench, 'v', { 31: 6 });
  const less = bench.volumes.expand('v', { bytes: mebibyte, isAttached: false }, signal);
  await assert.rejects(less, refusedAs('Invalid', /cannot shrink/));
}

async function growUnderMachine(bench: DiskBench): Promise<void> {
  await make(bench, blankOrder('v'));
  const machine = await bench.open(await fileOf(bench, 'v'));
  const before = await bench.volumes.space(signal);
  const alone = bench.volumes.expand('v', { bytes: 2 * mebibyte, isAttached: false }, signal);
  await assert.rejects(alone, refusedAs('Conflict', /open in a machine/));
  await bench.volumes.expand('v', { bytes: 2 * mebibyte, isAttached: true }, signal);
  assert.equal((await bench.volumes.find('v', signal))?.bytes, mebibyte);
  const after = await bench.volumes.space(signal);
  assert.equal(after.promisedBytes - before.promisedBytes, mebibyte);
  await machine.close();
  await bench.volumes.expand('v', { bytes: 2 * mebibyte, isAttached: false }, signal);
  assert.equal((await bench.volumes.find('v', signal))?.bytes, 2 * mebibyte);
}

async function keepSnapshots(bench: DiskBench): Promise<void> {
  await make(bench, blankOrder('v'));
  await write(bench, 'v', { 0: 1 });
  const { path } = await fileOf(bench, 'v');
  const order = { id: 's', volumeId: 'v', isAttached: false };
  assert.deepEqual(await bench.volumes.snapshot(order, signal), {});
  assert.equal((await fileOf(bench, 'v')).path, path, 'a volume that no machine has open stays where it is');
  await write(bench, 'v', { 0: 2, 1: 2 });
  assert.deepEqual(await bench.volumes.snapshot(order, signal), {}, 'again, it is the same one');
  const [snapshot, ...others] = await bench.volumes.listSnapshots(signal);
  const { takenAt, ...rest } = snapshot ?? assert.fail('it is not listed');
  assert.deepEqual([rest, others], [{ id: 's', volumeId: 'v', bytes: mebibyte }, []]);
  assert.ok(takenAt > 0);
  assert.deepEqual((await bench.volumes.find('v', signal))?.snapshotIds, ['s']);
  await make(bench, orderOf('r', { kind: 'snapshot', snapshotId: 's' }));
  await write(bench, 'r', { 2: 3 });
  assert.deepEqual(await contentOf(bench, 'r'), [1, 0, 3]);
  assert.deepEqual(await contentOf(bench, 'v'), [2, 2, 0]);
}

async function outliveSnapshots(bench: DiskBench): Promise<void> {
  await make(bench, blankOrder('v'));
  for (const [index, id] of ['s1', 's2', 's3'].entries()) {
    await write(bench, 'v', { [index]: index + 1 });
    await bench.volumes.snapshot({ id, volumeId: 'v', isAttached: false }, signal);
  }
  await bench.volumes.removeSnapshot('s2', signal);
  await bench.volumes.removeSnapshot('s2', signal);
  await make(bench, orderOf('r3', { kind: 'snapshot', snapshotId: 's3' }));
  assert.deepEqual(await contentOf(bench, 'r3'), [1, 2, 3]);
  await bench.until(async () => !(await bench.volumes.find('v', signal))?.isBusy);
  await bench.volumes.remove('v', signal);
  await make(bench, orderOf('r1', { kind: 'snapshot', snapshotId: 's1' }));
  assert.deepEqual(await contentOf(bench, 'r1'), [1, 0, 0]);
  for (const id of ['s1', 's3']) await bench.volumes.removeSnapshot(id, signal);
  assert.deepEqual(await bench.volumes.listSnapshots(signal), []);
  assert.deepEqual(await contentOf(bench, 'r3'), [1, 2, 3]);
}

async function respectMachines(bench: DiskBench): Promise<void> {
  await make(bench, blankOrder('v'));
  const machine = await bench.open(await fileOf(bench, 'v'));
  await machine.write(0, 1);
  const isOpen = refusedAs('Conflict', /open in a machine/);
  await assert.rejects(bench.volumes.create(orderOf('c', { kind: 'volume', volumeId: 'v' }), signal), isOpen);
  await assert.rejects(bench.volumes.snapshot({ id: 's', volumeId: 'v', isAttached: false }, signal), isOpen);
  await assert.rejects(bench.volumes.remove('v', signal), isOpen);
  await machine.write(1, 2);
  await machine.close();
  assert.deepEqual(await contentOf(bench, 'v'), [1, 2, 0]);
  await bench.volumes.remove('v', signal);
}

async function refuseWithoutRoom(bench: DiskBench): Promise<void> {
  const before = await bench.volumes.space(signal);
  const tooMuch = before.promisableBytes + mebibyte;
  const isRefused = refusedAs('Forbidden', /needs .+, but only .+ can be given; remove/);
  await assert.rejects(bench.volumes.create(blankOrder('v', tooMuch), signal), isRefused);
  await make(bench, blankOrder('w'));
  await assert.rejects(bench.volumes.expand('w', { bytes: tooMuch, isAttached: true }, signal), isRefused);
  assert.deepEqual(
    (await bench.volumes.list(signal)).map(({ id, bytes }) => [id, bytes]),
    [['w', mebibyte]],
  );
  assert.equal((await bench.volumes.space(signal)).promisedBytes - before.promisedBytes, mebibyte);
}

async function accountForPromises(bench: DiskBench): Promise<void> {
  const promised = async () => (await bench.volumes.space(signal)).promisedBytes;
  const start = await promised();
  await make(bench, blankOrder('v', 8 * mebibyte));
  await write(bench, 'v', { 0: 1, 1: 1, 2: 1, 3: 1 });
  assert.equal((await promised()) - start, 8 * mebibyte);
  await bench.volumes.snapshot({ id: 's', volumeId: 'v', isAttached: false }, signal);
  const withSnapshot = (await promised()) - start;
  assert.ok(
    withSnapshot >= 8 * mebibyte + 4 * cellBytes,
    'what a snapshot keeps is counted beside its volume',
  );
  await make(bench, { ...orderOf('c', { kind: 'snapshot', snapshotId: 's' }), bytes: 8 * mebibyte });
  assert.equal((await promised()) - start, withSnapshot + 8 * mebibyte);
  await bench.restart();
  assert.equal((await promised()) - start, withSnapshot + 8 * mebibyte);
  for (const id of ['v', 'c']) await bench.volumes.remove(id, signal);
  await bench.volumes.removeSnapshot('s', signal);
  assert.equal(await promised(), start);
}

async function areRemoved(bench: DiskBench): Promise<void> {
  await make(bench, blankOrder('v'));
  await bench.volumes.remove('v', signal);
  await bench.volumes.remove('v', signal);
  await bench.volumes.remove('never', signal);
  await bench.volumes.removeSnapshot('never', signal);
  assert.deepEqual(
    [await bench.volumes.list(signal), await bench.volumes.find('v', signal)],
    [[], undefined],
  );
  const known = { volumeIds: new Set<string>(), snapshotIds: new Set<string>(), imageIds: new Set<string>() };
  assert.deepEqual(await bench.volumes.findUnowned(known, signal), []);
}

async function tellUnowned(bench: DiskBench): Promise<void> {
  await upload(bench, 'i', rawDisk(1));
  await make(bench, orderOf('v', { kind: 'image', imageId: 'i' }));
  await bench.volumes.snapshot({ id: 's', volumeId: 'v', isAttached: false }, signal);
  const unowned = (volumes: string[], snapshots: string[], images: string[]) =>
    bench.volumes.findUnowned(
      { volumeIds: new Set(volumes), snapshotIds: new Set(snapshots), imageIds: new Set(images) },
      signal,
    );
  assert.deepEqual(await unowned(['v'], ['s'], ['i']), []);
  assert.deepEqual(await unowned(['v'], [], []), [], 'the volume needs the others');
  assert.equal((await unowned([], ['s'], ['i'])).length, 1);
  const all = await unowned([], [], []);
  assert.equal(all.length, 3);
  assert.ok(all.every(({ path, allocatedBytes }) => path !== '' && allocatedBytes > 0));
}

async function surviveRestart(bench: DiskBench): Promise<void> {
  await upload(bench, 'i', rawDisk(1, 2));
  await make(bench, orderOf('v', { kind: 'image', imageId: 'i' }));
  await write(bench, 'v', { 1: 7 });
  await bench.volumes.snapshot({ id: 's', volumeId: 'v', isAttached: false }, signal);
  await bench.volumes.expand('v', { bytes: 3 * mebibyte, isAttached: false }, signal);
  const look = async () => [
    await bench.volumes.list(signal),
    await bench.volumes.listSnapshots(signal),
    await bench.images.list(signal),
  ];
  const before = await look();
  await bench.restart();
  assert.deepEqual(await look(), before);
  assert.deepEqual(await contentOf(bench, 'v'), [1, 7, 0]);
}

async function announce(bench: DiskBench): Promise<void> {
  const seen = new Set<string>();
  const broken = bench.volumes.onChange(() => {
    throw new Error('a listener of its own');
  });
  const listening = bench.volumes.onChange((id) => seen.add(id));
  await make(bench, blankOrder('v'));
  await bench.until(async () => seen.has('v'));
  for (const change of [
    () => bench.volumes.expand('v', { bytes: 2 * mebibyte, isAttached: false }, signal),
    () => bench.volumes.snapshot({ id: 's', volumeId: 'v', isAttached: false }, signal),
    () => bench.volumes.removeSnapshot('s', signal),
    () => bench.volumes.remove('v', signal),
  ]) {
    seen.clear();
    await change();
    await bench.until(async () => seen.has('v'));
  }
  listening.dispose();
  broken.dispose();
  seen.clear();
  await make(bench, blankOrder('w'));
  assert.equal(seen.size, 0);
}
