import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { contentOf, make, mebibyte, orderOf, settled, signal, upload } from '@sheaf/ports/disk-bench.fixture';
import { type LocalBench, whySkipped, withLocalDisk } from './local-disk.fixture.ts';

const options = { skip: whySkipped };

/** The bytes of a file that programs make in a directory of their own. */
function made(commands: readonly (readonly string[])[], name = 'i'): Buffer {
  const directory = mkdtempSync(join(tmpdir(), 'hostile-'));
  try {
    writeFileSync(join(directory, 'secret'), Buffer.alloc(mebibyte, 'secret'));
    for (const [program = '', ...words] of commands) {
      const run = spawnSync(program, words, { cwd: directory, encoding: 'utf8' });
      assert.equal(run.status, 0, run.stderr);
    }
    return readFileSync(join(directory, name));
  } finally {
    rmSync(directory, { recursive: true });
  }
}

const create = ['qemu-img', 'create', '-q', '-f', 'qcow2'] as const;

async function refused(bench: LocalBench, bytes: Uint8Array, words: RegExp): Promise<void> {
  await upload(bench, 'i', bytes);
  const progress = await settled(bench, 'i');
  assert.ok(progress.state === 'failed' && progress.nature === 'fault', JSON.stringify(progress));
  assert.match(progress.message, words);
  await bench.images.remove('i', signal);
}

test('images: what names files of the host is refused, by each way that QEMU knows', options, () =>
  withLocalDisk(async (bench) => {
    const backed = [...create, '-b', 'secret', '-F', 'raw', 'i'];
    await refused(bench, made([backed]), /backing file/);
    await refused(
      bench,
      made([[...create, '-u', '-b', 'json:{"driver":"file","filename":"secret"}', '-F', 'raw', 'i', '1M']]),
      /backing file/,
    );
    await refused(bench, made([[...create, '-o', 'data_file=data', 'i', '1M']]), /its data in another file/);
    await refused(
      bench,
      made([[...create, '-o', 'data_file=data,data_file_raw=on', 'i', '1M']]),
      /its data in another file/,
    );
  }),
);

test('images: what is damaged is refused', options, () =>
  withLocalDisk(async (bench) => {
    const sound = made([
      [...create, 'i', '1M'],
      ['qemu-io', '-c', 'write -P 1 0 64k', '-f', 'qcow2', 'i'],
    ]);
    const shifted = Buffer.from(sound);
    // Its table of tables now lies in the middle of nowhere.
    shifted.writeBigUInt64BE(0x7000_0000_0000n, 40);
    await refused(bench, shifted, /./);
    const cut = sound.subarray(0, 200_000);
    await refused(bench, cut, /./);
    await upload(bench, 'good', sound);
    await make(bench, orderOf('v', { kind: 'image', imageId: 'good' }));
    assert.deepEqual(await contentOf(bench, 'v'), [1, 0, 0]);
  }),
);

test('images: xz is unpacked, within bounds of size and memory', options, () =>
  withLocalDisk(async (bench) => {
    const disk = made(
      [
        ['dd', 'if=secret', 'of=i', 'bs=64k', 'count=2', 'status=none'],
        ['xz', '-6', 'i'],
      ],
      'i.xz',
    );
    await upload(bench, 'good', disk);
    assert.deepEqual(await settled(bench, 'good'), { state: 'done' });
    assert.equal((await bench.images.find('good', signal))?.image?.virtualBytes, 128 * 1024);
    const bomb = made(
      [
        ['dd', 'if=/dev/zero', 'of=i', 'bs=1M', 'count=64', 'status=none'],
        ['xz', '-6', 'i'],
      ],
      'i.xz',
    );
    await refused(bench, bomb, /unpacked it has more than the 1048576/);
    await refused(bench, disk.subarray(0, disk.length - 10), /cannot be unpacked: .*end of input/);
    const greedy = made(
      [
        ['dd', 'if=/dev/zero', 'of=i', 'bs=64k', 'count=1', 'status=none'],
        ['xz', '--lzma2=dict=512MiB', 'i'],
      ],
      'i.xz',
    );
    await refused(bench, greedy, /cannot be unpacked: .*Memory usage limit/);
  }),
);
