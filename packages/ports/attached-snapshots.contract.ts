import assert from 'node:assert/strict';
import {
  blankOrder,
  contentOf,
  type DiskBench,
  fileOf,
  make,
  orderOf,
  refusedAs,
  signal,
  write,
} from './disk-bench.fixture.ts';

export async function switchUnderMachine(bench: DiskBench): Promise<void> {
  await make(bench, blankOrder('v'));
  const file = await fileOf(bench, 'v');
  const machine = await bench.open(file);
  await machine.write(0, 1);
  const order = { id: 's', volumeId: 'v', isAttached: true };
  const { overlay } = await bench.volumes.snapshot(order, signal);
  assert.ok(overlay);
  assert.deepEqual(await bench.volumes.snapshot(order, signal), { overlay }, 'again, it is the same file');
  await machine.write(1, 1);
  assert.deepEqual(await bench.volumes.listSnapshots(signal), []);
  assert.deepEqual(await fileOf(bench, 'v'), file);
  await machine.close();
  const switched = await bench.open(overlay);
  await bench.volumes.snapshot({ ...order, isSwitched: true }, signal);
  await bench.volumes.snapshot({ ...order, isSwitched: true }, signal);
  await switched.write(0, 2);
  assert.deepEqual(await fileOf(bench, 'v'), overlay);
  await switched.close();
  await make(bench, orderOf('r', { kind: 'snapshot', snapshotId: 's' }));
  assert.deepEqual(
    [await contentOf(bench, 'v'), await contentOf(bench, 'r')],
    [
      [2, 1, 0],
      [1, 1, 0],
    ],
  );
}

export async function findUntoldSwitch(bench: DiskBench): Promise<void> {
  await make(bench, blankOrder('v'));
  await write(bench, 'v', { 0: 1 });
  const order = { id: 's', volumeId: 'v', isAttached: true };
  const { overlay } = await bench.volumes.snapshot(order, signal);
  const machine = await bench.open(overlay ?? assert.fail('no overlay'));
  await machine.write(0, 2);
  await machine.close();
  await bench.restart();
  assert.deepEqual(await contentOf(bench, 'v', 1), [2]);
  assert.deepEqual(
    (await bench.volumes.listSnapshots(signal)).map(({ id }) => id),
    ['s'],
  );
  await bench.volumes.removeSnapshot('s', signal);
  assert.deepEqual(await contentOf(bench, 'v', 1), [2]);
}

export async function giveUpPrepared(bench: DiskBench): Promise<void> {
  await make(bench, blankOrder('v'));
  const file = await fileOf(bench, 'v');
  const machine = await bench.open(file);
  await bench.volumes.snapshot({ id: 's', volumeId: 'v', isAttached: true }, signal);
  await machine.write(0, 4);
  await bench.volumes.removeSnapshot('s', signal);
  await machine.write(1, 5);
  await machine.close();
  assert.deepEqual(await fileOf(bench, 'v'), file);
  assert.deepEqual(await contentOf(bench, 'v'), [4, 5, 0]);
  const told = bench.volumes.snapshot({ id: 's', volumeId: 'v', isAttached: true, isSwitched: true }, signal);
  await assert.rejects(told, refusedAs('NotFound', /not been prepared/));
}

export async function guardPrepared(bench: DiskBench): Promise<void> {
  await make(bench, blankOrder('v'));
  await write(bench, 'v', { 0: 1 });
  const before = await fileOf(bench, 'v');
  const order = { id: 's', volumeId: 'v', isAttached: true };
  const prepared = () => bench.volumes.findPrepared('s', signal);
  assert.equal(await prepared(), undefined);
  const { overlay = assert.fail('no overlay') } = await bench.volumes.snapshot(order, signal);
  assert.deepEqual(await prepared(), overlay);
  const isOpen = refusedAs('Conflict', /prepared for snapshot s is open .*stop/);
  const opened = await bench.open(overlay);
  await assert.rejects(bench.volumes.removeSnapshot('s', signal), isOpen);
  await bench.restart();
  assert.deepEqual(await prepared(), overlay, 'so does the next life');
  await assert.rejects(bench.volumes.removeSnapshot('s', signal), isOpen);
  await opened.close();
  await bench.volumes.removeSnapshot('s', signal);
  assert.equal(await prepared(), undefined);
  assert.deepEqual(await fileOf(bench, 'v'), before, 'nobody has gone on in it');
  await bench.volumes.snapshot(order, signal);
  const switched = await bench.open(overlay);
  await bench.volumes.snapshot({ ...order, isSwitched: true }, signal);
  assert.equal(await prepared(), undefined, 'there is no doubt any more');
  await bench.volumes.removeSnapshot('s', signal);
  await switched.write(1, 2);
  await switched.close();
  assert.deepEqual(await fileOf(bench, 'v'), overlay);
  assert.deepEqual(await contentOf(bench, 'v'), [1, 2, 0]);
}

/** The file was looked up, and is opened when the machine that had it has gone on in another one, and has ended. */
export async function guardFrozen(bench: DiskBench): Promise<void> {
  await make(bench, blankOrder('v'));
  const { path } = await fileOf(bench, 'v');
  const mayWrite = (file: string) => bench.volumes.mayWrite(file, signal);
  assert.deepEqual([await mayWrite(path), await mayWrite('/elsewhere/disk.qcow2')], [true, true]);
  const order = { id: 's', volumeId: 'v', isAttached: true };
  const { overlay = assert.fail('no overlay') } = await bench.volumes.snapshot(order, signal);
  assert.equal(await mayWrite(overlay.path), true, 'its machine may have switched');
  const late = await bench.open({ path, format: 'qcow2' });
  const tell = () => bench.volumes.snapshot({ ...order, isSwitched: true }, signal);
  await assert.rejects(tell, refusedAs('Conflict', /still written to below snapshot s; .*stop it/));
  assert.equal(await mayWrite(path), true, 'nobody has switched');
  assert.equal(await mayWrite(overlay.path), false, 'what was prepared is void');
  await late.write(0, 1);
  await late.close();
  await assert.rejects(tell, refusedAs('NotFound', /has not been prepared/));
  assert.deepEqual(await bench.volumes.snapshot(order, signal), { overlay });
  await tell();
  assert.deepEqual([await mayWrite(path), await mayWrite(overlay.path)], [false, true]);
  await bench.restart();
  assert.deepEqual([await mayWrite(path), await mayWrite(overlay.path)], [false, true]);
  assert.deepEqual(await contentOf(bench, 'v'), [1, 0, 0]);
  await bench.volumes.remove('v', signal);
  assert.equal(await mayWrite(overlay.path), false, "it is nobody's any more");
}

/** The machine that has switched ended before anybody told: what it wrote shows it. */
export async function guardUntold(bench: DiskBench): Promise<void> {
  await make(bench, blankOrder('v'));
  const { path } = await fileOf(bench, 'v');
  const { overlay } = await bench.volumes.snapshot({ id: 's', volumeId: 'v', isAttached: true }, signal);
  const machine = await bench.open(overlay ?? assert.fail('no overlay'));
  await machine.write(0, 2);
  await machine.close();
  assert.equal(await bench.volumes.mayWrite(path, signal), false);
}
