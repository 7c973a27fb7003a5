import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import {
  blankOrder,
  bytesOf,
  cellBytes,
  contentOf,
  type DiskBench,
  imageOrder,
  inPieces,
  make,
  mebibyte,
  orderOf,
  rawDisk,
  refusedAs,
  settled,
  signal,
  upload,
  type WithBench,
  write,
} from './disk-bench.fixture.ts';
import {
  announceUpload,
  comeInParts,
  oneSender,
  refuseWithoutRoom,
  survivesSenders,
} from './image-uploads.contract.ts';

/** What every driver of `Images` must do. */
export function testImages(driver: string, withBench: WithBench): void {
  const check = (name: string, use: (bench: DiskBench) => Promise<void>): void => {
    test(`${driver} images: ${name}`, () => withBench(use));
  };
  check('come in parts, each from where the last ended', comeInParts);
  check('go on after a sender broke off', survivesSenders);
  check('are refused before they are sent where there is no room for them', refuseWithoutRoom);
  check('take one sender at a time', oneSender);
  check('tell how far they are while they are sent', announceUpload);
  check('are downloaded, verified and announced', areDownloaded);
  check('are not used with another checksum', refuseChecksum);
  check('come from the first address that has them', tryMirrors);
  check('go on where a connection broke', resume);
  check('begin anew when the file changes midway', followChanges);
  check('begin anew when a server mixes two states', distrustServers);
  check('begin anew where a server cannot tell states apart', beginAnew);
  check('give up a source that stalls', giveUpStalled);
  check('come no further than is allowed', boundBytes);
  check('are unpacked, no further than is allowed', unpackBounded);
  check('are told apart by what is in them', tellFormats);
  check('may not name other files', refuseHostile);
  check('are cloned and made from volumes and snapshots', areMadeFromOthers);
  check('go on after a restart', surviveRestart);
  check('are removed at any time', areRemoved);
  check('are refused where the order makes no sense', refuseOddOrders);
}

const disk = rawDisk(1, 2, 3);
const other = rawDisk(4, 5, 6);

function sha512(bytes: Uint8Array): string {
  return createHash('sha512').update(bytes).digest('hex');
}

async function download(
  bench: DiskBench,
  urls: readonly string[],
  more: { sha512?: string } = {},
): Promise<unknown> {
  await bench.images.request({ ...imageOrder('i', { kind: 'download', urls }), ...more }, signal);
  return settled(bench, 'i');
}

async function areDownloaded(bench: DiskBench): Promise<void> {
  const seen = new Set<string>();
  const listening = bench.images.onChange((id) => seen.add(id));
  const url = await bench.offer([{ content: disk, etag: '"a"' }]);
  assert.deepEqual(await download(bench, [url], { sha512: sha512(disk).toUpperCase() }), { state: 'done' });
  listening.dispose();
  assert.deepEqual([...seen], ['i']);
  const found = await bench.images.find('i', signal);
  assert.deepEqual([found?.receivedBytes, found?.totalBytes], [disk.length, disk.length]);
  assert.deepEqual(await bench.images.list(signal), [found]);
  const again = await bench.images.request(imageOrder('i', { kind: 'download', urls: [url] }), signal);
  assert.deepEqual(again, found);
  await make(bench, orderOf('v', { kind: 'image', imageId: 'i' }));
  assert.deepEqual(await contentOf(bench, 'v', 4), [1, 2, 3, 0]);
}

async function refuseChecksum(bench: DiskBench): Promise<void> {
  const url = await bench.offer([{ content: other }, { content: disk }]);
  const failed = (await download(bench, [url], { sha512: sha512(disk) })) as Record<string, string>;
  assert.deepEqual([failed['state'], failed['nature']], ['failed', 'fault']);
  assert.match(failed['message'] ?? '', /its SHA-512 is/);
  await assert.rejects(bench.images.read('i', signal), refusedAs('Conflict', /not ready/));
  assert.deepEqual(
    await download(bench, [url], { sha512: sha512(disk) }),
    { state: 'done' },
    'again, from nothing',
  );
  assert.deepEqual(await bytesOf(bench, 'i'), Buffer.from(disk));
}

async function tryMirrors(bench: DiskBench): Promise<void> {
  const empty = await bench.offer([{ content: disk, status: 404 }]);
  const short = await bench.offer([
    { content: other, etag: '"o"', breaksAfter: 20_000 },
    { content: disk, status: 404 },
  ]);
  const good = await bench.offer([{ content: disk, etag: '"a"' }]);
  assert.deepEqual(await download(bench, [empty, short, good]), { state: 'done' });
  assert.deepEqual(await bytesOf(bench, 'i'), Buffer.from(disk));
  await bench.images.remove('i', signal);
  const failed = (await download(bench, [empty])) as Record<string, string>;
  assert.deepEqual([failed['state'], failed['nature']], ['failed', 'fault']);
  assert.match(failed['message'] ?? '', /404/);
  await bench.images.remove('i', signal);
  const broken = await bench.offer([{ content: disk, status: 503 }]);
  const later = (await download(bench, [empty, broken])) as Record<string, string>;
  assert.deepEqual([later['state'], later['nature']], ['failed', 'transient']);
}

async function resume(bench: DiskBench): Promise<void> {
  const url = await bench.offer([
    { content: disk, etag: '"a"', breaksAfter: 70_000 },
    { content: disk, etag: '"a"', breaksAfter: 30_000 },
    { content: disk, etag: '"a"' },
  ]);
  assert.deepEqual(await download(bench, [url]), { state: 'done' });
  assert.deepEqual(await bytesOf(bench, 'i'), Buffer.from(disk));
}

async function followChanges(bench: DiskBench): Promise<void> {
  const url = await bench.offer([
    { content: disk, etag: '"a"', breaksAfter: 70_000 },
    { content: other, etag: '"b"' },
  ]);
  assert.deepEqual(await download(bench, [url]), { state: 'done' });
  assert.deepEqual(await bytesOf(bench, 'i'), Buffer.from(other));
}

async function distrustServers(bench: DiskBench): Promise<void> {
  const url = await bench.offer([
    { content: disk, etag: '"a"', breaksAfter: 70_000 },
    { content: other, etag: '"b"', trustsAsker: true },
  ]);
  assert.deepEqual(await download(bench, [url]), { state: 'done' });
  assert.deepEqual(await bytesOf(bench, 'i'), Buffer.from(other));
}

async function beginAnew(bench: DiskBench): Promise<void> {
  const url = await bench.offer([
    { content: disk, breaksAfter: 70_000, hidesLength: true },
    { content: other },
  ]);
  assert.deepEqual(await download(bench, [url]), { state: 'done' });
  assert.deepEqual(await bytesOf(bench, 'i'), Buffer.from(other));
}

async function giveUpStalled(bench: DiskBench): Promise<void> {
  const url = await bench.offer([
    { content: disk, etag: '"a"', stallsAfter: 0 },
    { content: disk, etag: '"a"', stallsAfter: 10_000 },
    { content: disk, etag: '"a"' },
  ]);
  assert.deepEqual(await download(bench, [url]), { state: 'done' });
  assert.deepEqual(await bytesOf(bench, 'i'), Buffer.from(disk));
  await bench.images.remove('i', signal);
  const dead = await bench.offer([{ content: disk, stallsAfter: 0 }]);
  const failed = (await download(bench, [dead])) as Record<string, string>;
  assert.deepEqual([failed['state'], failed['nature']], ['failed', 'transient']);
  assert.match(failed['message'] ?? '', /nothing came for/);
}

async function boundBytes(bench: DiskBench): Promise<void> {
  const large = Buffer.alloc(1.25 * mebibyte);
  for (const hidesLength of [false, true]) {
    const url = await bench.offer([{ content: large, hidesLength }]);
    const failed = (await download(bench, [url])) as Record<string, string>;
    assert.deepEqual([failed['state'], failed['nature']], ['failed', 'fault']);
    assert.match(failed['message'] ?? '', /that are allowed/);
    await bench.images.remove('i', signal);
  }
  await bench.images.request(imageOrder('u', { kind: 'upload' }), signal);
  const sent = bench.images.receive('u', { offset: 0, bytes: inPieces(large), isLast: true }, signal);
  await assert.rejects(sent, refusedAs('Invalid', /more than the 1048576 bytes/));
}

async function unpackBounded(bench: DiskBench): Promise<void> {
  const packed = gzipSync(disk);
  const url = await bench.offer([{ content: packed }]);
  assert.deepEqual(await download(bench, [url], { sha512: sha512(packed) }), { state: 'done' });
  assert.deepEqual(await bytesOf(bench, 'i'), Buffer.from(disk));
  const faults: readonly (readonly [Uint8Array, RegExp])[] = [
    [gzipSync(Buffer.alloc(2 * mebibyte)), /unpacked it has more than/],
    [packed.subarray(0, packed.length - 20), /cannot be unpacked/],
    [gzipSync(packed), /packed twice/],
  ];
  for (const [index, [bytes, words]] of faults.entries()) {
    await upload(bench, `bad${index}`, bytes);
    await assertFault(bench, `bad${index}`, words);
  }
}

async function assertFault(bench: DiskBench, id: string, words: RegExp): Promise<void> {
  const progress = await settled(bench, id);
  assert.ok(progress.state === 'failed' && progress.nature === 'fault', JSON.stringify(progress));
  assert.match(progress.message, words);
}

async function tellFormats(bench: DiskBench): Promise<void> {
  const iso = Buffer.alloc(cellBytes);
  iso.write('CD001', 0x8001, 'latin1');
  await upload(bench, 'iso', iso);
  const found = await bench.images.find('iso', signal);
  assert.deepEqual([found?.image?.format, found?.image?.virtualBytes], ['iso', cellBytes]);
  const faults: readonly (readonly [Uint8Array, RegExp])[] = [
    [Buffer.from('<html>not found</html>'), /it is no disk/],
    [new Uint8Array(), /it is empty/],
    [Buffer.concat([Buffer.from('KDMV'), Buffer.alloc(1020)]), /a VMDK disk; convert it/],
  ];
  for (const [index, [bytes, words]] of faults.entries()) {
    await upload(bench, `bad${index}`, bytes);
    await assertFault(bench, `bad${index}`, words);
  }
}

/** The head of a qcow2 of 1 MiB that says that the rest of it is `backing`. */
function withBackingFile(backing: string): Buffer {
  const head = Buffer.alloc(cellBytes);
  head.writeUInt32BE(0x514649fb, 0);
  head.writeUInt32BE(3, 4);
  head.writeBigUInt64BE(512n, 8);
  head.writeUInt32BE(backing.length, 16);
  head.writeUInt32BE(16, 20);
  head.writeBigUInt64BE(BigInt(mebibyte), 24);
  head.writeUInt32BE(104, 100);
  head.write(backing, 512);
  return head;
}

async function refuseHostile(bench: DiskBench): Promise<void> {
  await upload(bench, 'i', withBackingFile('/etc/passwd'));
  await assertFault(bench, 'i', /backing file/);
  await bench.images.remove('i', signal);
  const known = { volumeIds: new Set<string>(), snapshotIds: new Set<string>(), imageIds: new Set<string>() };
  assert.deepEqual(await bench.volumes.findUnowned(known, signal), []);
}

async function areMadeFromOthers(bench: DiskBench): Promise<void> {
  await upload(bench, 'i', disk);
  await bench.images.request(imageOrder('c', { kind: 'image', imageId: 'i' }), signal);
  assert.deepEqual(await settled(bench, 'c'), { state: 'done' });
  await bench.images.remove('i', signal);
  assert.deepEqual(await bytesOf(bench, 'c'), Buffer.from(disk));
  await make(bench, orderOf('v', { kind: 'image', imageId: 'c' }));
  await write(bench, 'v', { 0: 7 });
  await bench.volumes.snapshot({ id: 's', volumeId: 'v', isAttached: false }, signal);
  await write(bench, 'v', { 1: 8 });
  await bench.images.request(imageOrder('e', { kind: 'volume', volumeId: 'v' }), signal);
  await bench.images.request(imageOrder('f', { kind: 'snapshot', snapshotId: 's' }), signal);
  assert.deepEqual(
    [await settled(bench, 'e'), await settled(bench, 'f')],
    [{ state: 'done' }, { state: 'done' }],
  );
  for (const id of ['e', 'f']) {
    const { image } = (await bench.images.find(id, signal)) ?? {};
    assert.deepEqual([image?.format, image?.virtualBytes], ['qcow2', mebibyte]);
    await make(bench, orderOf(`v-${id}`, { kind: 'image', imageId: id }));
  }
  await write(bench, 'v', { 2: 9 });
  await bench.volumes.remove('v', signal);
  await bench.volumes.removeSnapshot('s', signal);
  await bench.images.remove('c', signal);
  assert.deepEqual(await contentOf(bench, 'v-e'), [7, 8, 3]);
  assert.deepEqual(await contentOf(bench, 'v-f'), [7, 2, 3]);
}

async function surviveRestart(bench: DiskBench): Promise<void> {
  const url = await bench.offer([
    { content: disk, etag: '"a"', stallsAfter: 70_000 },
    { content: disk, etag: '"a"' },
  ]);
  await bench.images.request(imageOrder('i', { kind: 'download', urls: [url] }), signal);
  await bench.until(async () => ((await bench.images.find('i', signal))?.receivedBytes ?? 0) > 0);
  await bench.restart();
  assert.deepEqual(await settled(bench, 'i'), { state: 'done' });
  assert.deepEqual(await bytesOf(bench, 'i'), Buffer.from(disk));
}

async function areRemoved(bench: DiskBench): Promise<void> {
  const url = await bench.offer([{ content: disk, stallsAfter: 70_000 }]);
  await bench.images.request(imageOrder('i', { kind: 'download', urls: [url] }), signal);
  await bench.images.request(imageOrder('u', { kind: 'upload' }), signal);
  await bench.images.receive('u', { offset: 0, bytes: inPieces(disk), isLast: false }, signal);
  for (const id of ['i', 'i', 'u', 'never']) await bench.images.remove(id, signal);
  assert.deepEqual([await bench.images.list(signal), await bench.images.find('i', signal)], [[], undefined]);
  const known = { volumeIds: new Set<string>(), snapshotIds: new Set<string>(), imageIds: new Set<string>() };
  assert.deepEqual(await bench.volumes.findUnowned(known, signal), []);
}

async function refuseOddOrders(bench: DiskBench): Promise<void> {
  const { images } = bench;
  const refuse = (order: Parameters<typeof images.request>[0], words: RegExp): Promise<void> =>
    assert.rejects(images.request(order, signal), words);
  const upload = { kind: 'upload' } as const;
  await refuse(imageOrder('../i', upload), /is no id/);
  await refuse({ ...imageOrder('i', upload), maxBytes: 0 }, /no limit/);
  await refuse(
    imageOrder('i', { ...upload, totalBytes: 2 * mebibyte }),
    /more than the 1048576 that are allowed/,
  );
  await refuse({ ...imageOrder('i', upload), sha512: 'abc' }, /128 hexadecimal/);
  await refuse(imageOrder('i', { kind: 'download', urls: [] }), /give one/);
  await refuse(imageOrder('i', { kind: 'download', urls: ['ftp://x/y'] }), /only http and https/);
  await refuse(imageOrder('i', { kind: 'image', imageId: 'x' }), /x is not there/);
  await refuse(imageOrder('i', { kind: 'volume', volumeId: 'x' }), /x is not there/);
  await refuse(imageOrder('i', { kind: 'snapshot', snapshotId: 'x' }), /x is not there/);
  await assert.rejects(images.read('x', signal), refusedAs('NotFound', /x is not there/));
  const part = { offset: 0, bytes: inPieces(disk), isLast: true };
  await assert.rejects(images.receive('x', part, signal), refusedAs('NotFound', /x is not there/));
  await make(bench, blankOrder('v'));
  assert.deepEqual(await images.list(signal), []);
}
