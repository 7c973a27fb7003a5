import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { appendFileSync, linkSync, mkdirSync, readFileSync, statfsSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import {
  blankOrder,
  contentOf,
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
  write,
} from '@sheaf/ports/disk-bench.fixture';
import { openIn, whySkipped, withLocalDisk } from './local-disk.fixture.ts';

const options = { skip: whySkipped };

test('local disk: one process at a time works in a directory', options, () =>
  withLocalDisk(async ({ directory }) => {
    await assert.rejects(openIn(directory), /is in use by another process; stop it first/);
  }),
);

test('local disk: a record that cannot be read stops it, before anything is touched', options, () =>
  withLocalDisk(async (bench) => {
    await make(bench, blankOrder('v'));
    const path = join(bench.directory, 'volumes', 'v.json');
    const record = readFileSync(path);
    writeFileSync(path, record.subarray(0, 20));
    await assert.rejects(bench.restart(), /v\.json cannot be read: .*put it back from a backup/);
    writeFileSync(path, record);
    await bench.restart();
    assert.deepEqual(await contentOf(bench, 'v'), [0, 0, 0]);
  }),
);

test(
  'local disk: what was about to be frozen is not kept twice, and what others put there is only shown',
  options,
  () =>
    withLocalDisk(async (bench) => {
      await make(bench, blankOrder('v'));
      const layers = join(bench.directory, 'layers');
      linkSync(join(layers, 'volume-v.qcow2'), join(layers, 'snapshot-s.qcow2'));
      writeFileSync(join(layers, 'volume-lost.qcow2'), 'something');
      writeFileSync(join(bench.directory, 'notes'), 'of somebody');
      writeFileSync(join(bench.directory, 'incoming', 'gone'), 'of an image that nobody knows');
      await bench.restart();
      const known = {
        volumeIds: new Set(['v']),
        snapshotIds: new Set<string>(),
        imageIds: new Set<string>(),
      };
      const unowned = await bench.volumes.findUnowned(known, signal);
      assert.deepEqual(unowned.map(({ path }) => path.slice(bench.directory.length)).sort(), [
        '/layers/volume-lost.qcow2',
        '/notes',
      ]);
      await bench.volumes.snapshot({ id: 's', volumeId: 'v', isAttached: false }, signal);
      await rm(join(layers, 'volume-lost.qcow2'));
    }),
);

test(
  'local disk: layers that nothing needs for themselves become one, whatever order they go in',
  options,
  () =>
    withLocalDisk(async (bench) => {
      await make(bench, blankOrder('v', 2 * mebibyte));
      for (const [index, id] of ['s1', 's2', 's3'].entries()) {
        await write(bench, 'v', { [index]: index + 1, 9: index + 1 });
        await bench.volumes.snapshot({ id, volumeId: 'v', isAttached: false }, signal);
      }
      await bench.volumes.expand('v', { bytes: 4 * mebibyte, isAttached: false }, signal);
      await write(bench, 'v', { 60: 7 });
      for (const id of ['s2', 's1', 's3']) {
        await bench.volumes.removeSnapshot(id, signal);
        await bench.disk.idle();
      }
      const layers = spawnSync('ls', [join(bench.directory, 'layers')], { encoding: 'utf8' }).stdout;
      assert.equal(layers, 'volume-v.qcow2\n');
      assert.deepEqual(await contentOf(bench, 'v', 10), [1, 2, 3, 0, 0, 0, 0, 0, 0, 3]);
      assert.equal((await contentOf(bench, 'v', 61))[60], 7);
    }),
);

test('local disk: layers that a machine has open stay apart until it has ended', options, () =>
  withLocalDisk(async (bench) => {
    await make(bench, blankOrder('v'));
    await write(bench, 'v', { 0: 1 });
    await bench.volumes.snapshot({ id: 's', volumeId: 'v', isAttached: false }, signal);
    const volume = (await bench.volumes.find('v', signal)) ?? assert.fail();
    const machine = await bench.open(volume.file);
    await machine.write(1, 2);
    await bench.volumes.removeSnapshot('s', signal);
    await bench.disk.idle();
    await machine.write(2, 3);
    await machine.close();
    await make(bench, blankOrder('other'));
    await bench.volumes.remove('other', signal);
    await bench.disk.idle();
    assert.deepEqual(await contentOf(bench, 'v'), [1, 2, 3]);
    assert.equal((await bench.volumes.find('v', signal))?.file.path, volume.file.path);
  }),
);

test('local disk: a growth that was interrupted is taken up again', options, () =>
  withLocalDisk(async (bench) => {
    await make(bench, { ...blankOrder('v'), provisioning: 'full' });
    const path = (await bench.volumes.find('v', signal))?.file.path ?? assert.fail();
    const recordPath = join(bench.directory, 'volumes', 'v.json');
    // What a growth leaves that ends before the file has its new size: cluster 21, past the end, marked as used.
    const file = readFileSync(path);
    const tableOffset = Number(file.readBigUInt64BE(48));
    const blockOffset = Number(file.readBigUInt64BE(tableOffset));
    file.writeUInt16BE(1, blockOffset + 2 * (file.length / 65536));
    writeFileSync(path, file);
    writeFileSync(recordPath, readFileSync(recordPath, 'utf8').replace('1048576', '2097152'));
    await bench.restart();
    await bench.volumes.expand('v', { bytes: 2 * mebibyte, isAttached: false }, signal);
    const grown = await bench.volumes.find('v', signal);
    assert.equal(grown?.bytes, 2 * mebibyte);
    assert.ok((grown?.allocatedBytes ?? 0) >= 2 * mebibyte);
  }),
);

/** Runs `use` in a file system of 24 MiB; says so when that cannot be had here. */
async function onSmallDisk(context: TestContext, use: (directory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'small-disk-'));
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', directory]);
  try {
    if (mounted.status === 0) await use(directory);
    else context.skip('mounting a small file system needs root');
  } finally {
    spawnSync('umount', ['-l', directory]);
    await rm(directory, { recursive: true });
  }
}

/** Somebody else fills the disk. */
function occupy(directory: string, leaveBytes: number): void {
  const { bavail, bsize } = statfsSync(directory);
  appendFileSync(join(directory, 'ballast'), Buffer.alloc(bavail * bsize - leaveBytes));
}

test(
  'local disk: a disk that fills stops what it hits, and that goes on when there is room',
  options,
  (context) =>
    onSmallDisk(context, async (small) => {
      const directory = join(small, 'disks');
      mkdirSync(directory);
      await withLocalDisk(
        async (bench) => {
          await upload(bench, 'i', rawDisk(1, 2, 3));
          const tooMuch = { ...blankOrder('full', 30 * mebibyte), provisioning: 'full' } as const;
          await assert.rejects(
            bench.volumes.create(tooMuch, signal),
            refusedAs('Forbidden', /needs 30 MiB, but only/),
          );
          occupy(small, 128 * 1024);
          await assert.rejects(
            bench.volumes.create(blankOrder('v'), signal),
            refusedAs('Forbidden', /can be given/),
          );
          const content = rawDisk(4, 5, 6, 7);
          const url = await bench.offer([{ content, hidesLength: true }]);
          const wanted = imageOrder('d', { kind: 'download', urls: [url] });
          await bench.images.request(wanted, signal);
          const failed = await settled(bench, 'd');
          assert.ok(failed.state === 'failed' && failed.nature === 'transient', JSON.stringify(failed));
          assert.match(failed.message, /the disk is full; remove/);
          await bench.images.remove('d', signal);
          await bench.images.request(imageOrder('u', { kind: 'upload' }), signal);
          const part = { offset: 0, bytes: inPieces(content), isLast: true };
          await assert.rejects(
            bench.images.receive('u', part, signal),
            refusedAs('Forbidden', /the disk is full; remove/),
          );
          occupy(small, 0);
          await assert.rejects(
            bench.images.request(wanted, signal),
            refusedAs('Forbidden', /the disk is full; remove/),
          );
          await rm(join(small, 'ballast'));
          const { receivedBytes } = (await bench.images.find('u', signal)) ?? assert.fail();
          const rest = {
            offset: receivedBytes,
            bytes: inPieces(content.subarray(receivedBytes)),
            isLast: true,
          };
          await bench.images.receive('u', rest, signal);
          await bench.images.request(imageOrder('d', { kind: 'download', urls: [url] }), signal);
          for (const id of ['u', 'd']) assert.deepEqual(await settled(bench, id), { state: 'done' });
          await make(bench, orderOf('v', { kind: 'image', imageId: 'u' }));
          assert.deepEqual(await contentOf(bench, 'v', 4), [4, 5, 6, 7]);
        },
        { directory },
      );
    }),
);
