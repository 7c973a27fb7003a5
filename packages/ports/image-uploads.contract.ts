import assert from 'node:assert/strict';
import {
  bytesOf,
  type DiskBench,
  imageOrder,
  inPieces,
  mebibyte,
  orderOf,
  rawDisk,
  refusedAs,
  settled,
  signal,
} from './disk-bench.fixture.ts';

const disk = rawDisk(1, 2, 3);

export async function comeInParts(bench: DiskBench): Promise<void> {
  const { images } = bench;
  const begun = await images.request(imageOrder('i', { kind: 'upload' }), signal);
  assert.deepEqual(begun, { id: 'i', progress: { state: 'working', percent: 0 }, receivedBytes: 0 });
  const [first, second] = [disk.subarray(0, 1000), disk.subarray(1000)];
  const some = await images.receive('i', { offset: 0, bytes: inPieces(first), isLast: false }, signal);
  assert.equal(some.receivedBytes, 1000);
  for (const offset of [0, 999, 1001]) {
    const part = { offset, bytes: inPieces(second), isLast: true };
    await assert.rejects(images.receive('i', part, signal), refusedAs('Conflict', /1000 bytes have come/));
  }
  await assert.rejects(images.read('i', signal), refusedAs('Conflict', /not ready/));
  const early = bench.volumes.create(orderOf('v', { kind: 'image', imageId: 'i' }), signal);
  await assert.rejects(early, refusedAs('Conflict', /not ready/));
  await images.receive('i', { offset: 1000, bytes: inPieces(second), isLast: true }, signal);
  assert.deepEqual(await settled(bench, 'i'), { state: 'done' });
  const { image, ...rest } = (await images.find('i', signal)) ?? assert.fail('it is not found');
  assert.deepEqual(rest, { id: 'i', progress: { state: 'done' }, receivedBytes: disk.length });
  assert.deepEqual([image?.format, image?.virtualBytes], ['raw', disk.length]);
  assert.deepEqual(await bytesOf(bench, 'i'), Buffer.from(disk));
  const late = images.receive('i', { offset: 0, bytes: inPieces(disk), isLast: true }, signal);
  await assert.rejects(late, refusedAs('Conflict', /no more bytes/));
}

export async function survivesSenders(bench: DiskBench): Promise<void> {
  await bench.images.request(imageOrder('i', { kind: 'upload' }), signal);
  async function* broken(): AsyncGenerator<Uint8Array> {
    yield disk.subarray(0, 5000);
    throw new Error('the sender is gone');
  }
  const part = { offset: 0, bytes: broken(), isLast: true };
  await assert.rejects(bench.images.receive('i', part, signal), /the sender is gone/);
  await bench.restart();
  const seen = await bench.images.find('i', signal);
  assert.deepEqual([seen?.receivedBytes, seen?.progress.state], [5000, 'working']);
  const rest = { offset: 5000, bytes: inPieces(disk.subarray(5000)), isLast: true };
  await bench.images.receive('i', rest, signal);
  await settled(bench, 'i');
  assert.deepEqual(await bytesOf(bench, 'i'), Buffer.from(disk));
}

export async function refuseWithoutRoom(bench: DiskBench): Promise<void> {
  const { promisableBytes } = await bench.volumes.space(signal);
  const totalBytes = promisableBytes + mebibyte;
  const order = { ...imageOrder('i', { kind: 'upload', totalBytes }), maxBytes: totalBytes };
  const begun = await bench.images.request(order, signal);
  assert.equal(begun.totalBytes, totalBytes);
  const part = { offset: 0, bytes: inPieces(disk), isLast: false };
  await assert.rejects(
    bench.images.receive('i', part, signal),
    refusedAs('Forbidden', /can be given; remove/),
  );
  assert.equal((await bench.images.find('i', signal))?.receivedBytes, 0);
}

export async function oneSender(bench: DiskBench): Promise<void> {
  await bench.images.request(imageOrder('i', { kind: 'upload' }), signal);
  const end = new AbortController();
  let isAsked = false;
  async function* silent(): AsyncGenerator<Uint8Array> {
    yield disk.subarray(0, 512);
    isAsked = true;
    await new Promise(() => undefined);
  }
  const first = bench.images.receive('i', { offset: 0, bytes: silent(), isLast: true }, end.signal);
  const broken = assert.rejects(first, /nobody waits/);
  await bench.until(async () => isAsked);
  const second = bench.images.receive('i', { offset: 0, bytes: inPieces(disk), isLast: true }, signal);
  await assert.rejects(second, refusedAs('Conflict', /being sent already/));
  end.abort(new Error('nobody waits'));
  await broken;
  assert.equal((await bench.images.find('i', signal))?.receivedBytes, 512);
}

export async function announceUpload(bench: DiskBench): Promise<void> {
  const { images } = bench;
  const totalBytes = disk.length;
  await images.request(imageOrder('i', { kind: 'upload', totalBytes }), signal);
  let announced = 0;
  const listening = images.onChange(() => announced++);
  let sent = 0;
  async function* halting(): AsyncGenerator<Uint8Array> {
    for await (const piece of inPieces(disk)) {
      // Whoever is told finds what has come so far.
      await bench.until(async () => (await images.find('i', signal))?.receivedBytes === sent);
      if (sent > 0) await bench.until(async () => announced > 0);
      announced = 0;
      sent += piece.length;
      yield piece;
    }
  }
  await images.receive('i', { offset: 0, bytes: halting(), isLast: true }, signal);
  assert.deepEqual(await settled(bench, 'i'), { state: 'done' });
  listening.dispose();
  const found = await images.find('i', signal);
  assert.deepEqual([found?.receivedBytes, found?.totalBytes], [totalBytes, totalBytes]);
}
