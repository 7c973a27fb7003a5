import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { signal } from '@sheaf/ports/disk-bench.fixture';
import { type MemoryBench, testMachineMemories } from '@sheaf/ports/machine-memories.contract';
import { whySkipped, withLocalDisk } from './local-disk.fixture.ts';

async function withMemories(
  use: (bench: MemoryBench & { readonly directory: string }) => Promise<void>,
): Promise<void> {
  await withLocalDisk((bench) =>
    use({
      directory: bench.directory,
      get volumes() {
        return bench.volumes;
      },
      get memories() {
        return bench.disk.memories;
      },
      writeMemory: (path, bytes) => writeFile(path, Buffer.alloc(bytes, 1)),
      hasFile: existsSync,
      restart: () => bench.restart(),
    }),
  );
}

if (whySkipped) test('local disk memories', { skip: whySkipped });
else testMachineMemories('local disk', withMemories);

test('local disk memories: a removal that was cut off is ended', { skip: whySkipped }, () =>
  withMemories(async (bench) => {
    const { path } = await bench.memories.prepare({ id: 'm', title: 'ns/m', bytes: 4096 }, signal);
    await bench.writeMemory(path, 4096);
    await bench.memories.keep('m', signal);
    const record = join(bench.directory, 'memories', 'm.json');
    await rename(record, `${record}.removing`);
    await bench.restart();
    assert.deepEqual(await bench.memories.list(signal), []);
    assert.deepEqual([path, record, `${record}.removing`].filter(existsSync), []);
  }),
);

test('local disk memories: a file that no record tells of is shown', { skip: whySkipped }, () =>
  withMemories(async (bench) => {
    const { path } = await bench.memories.prepare({ id: 'm', title: 'ns/m', bytes: 4096 }, signal);
    const stray = join(bench.directory, 'memory-files', 'stray.part');
    for (const file of [path, `${path}.part`, stray]) await bench.writeMemory(file, 10);
    const nothing = new Set<string>();
    const known = { volumeIds: nothing, snapshotIds: nothing, imageIds: nothing };
    const unowned = await bench.volumes.findUnowned(known, signal);
    assert.deepEqual(
      unowned.map((file) => file.path),
      [stray],
    );
  }),
);
