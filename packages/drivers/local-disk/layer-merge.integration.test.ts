import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { silentLogger } from '@sheaf/base';
import { systemClock, systemRandom } from '@sheaf/drivers/system';
import {
  blankOrder,
  contentOf,
  fileOf,
  make,
  type OpenDisk,
  signal,
  write,
} from '@sheaf/ports/disk-bench.fixture';
import { DirectoryLayout } from './directory-layout.ts';
import { DiskState } from './disk-state.ts';
import { LayerMerge } from './layer-merge.ts';
import { whySkipped, withLocalDisk } from './local-disk.fixture.ts';
import { openDisk } from './open-disk.fixture.ts';

const title = 'local disk: what a machine opens just before two layers become one stays its volume';

test(title, { skip: whySkipped }, async (context) => {
  const parent = await mkdtemp(join(tmpdir(), 'layer-merge-'));
  context.after(() => rm(parent, { recursive: true }));
  const directory = join(parent, 'disks');
  const path = await layersToMerge(directory);
  const surroundings = { directory, clock: systemClock, random: systemRandom, logger: silentLogger };
  const state = await DiskState.open(surroundings, new DirectoryLayout(directory));
  const reclaim = state.qemuImg.reclaim.bind(state.qemuImg);
  let machine: OpenDisk | undefined;
  state.qemuImg.reclaim = async (lower, life) => {
    await reclaim(lower, life);
    machine = await openDisk({ path, format: 'qcow2' });
  };
  const merge = new LayerMerge(state, () => undefined);
  merge.begin();
  await merge.idle();
  assert.ok(machine, 'it was opened in between');
  await machine.write(1, 9);
  await machine.close();
  await withLocalDisk(
    async (bench) => {
      assert.deepEqual(await contentOf(bench, 'v'), [1, 9, 0]);
      await bench.disk.idle();
      assert.deepEqual(await contentOf(bench, 'v'), [1, 9, 0]);
    },
    { directory },
  );
});

/** A volume on two layers of which one would do: its machine had it open when the snapshot went. */
async function layersToMerge(directory: string): Promise<string> {
  let path = '';
  await withLocalDisk(
    async (bench) => {
      await make(bench, blankOrder('v'));
      await write(bench, 'v', { 0: 1 });
      await bench.volumes.snapshot({ id: 's', volumeId: 'v', isAttached: false }, signal);
      const file = await fileOf(bench, 'v');
      const machine = await bench.open(file);
      await bench.volumes.removeSnapshot('s', signal);
      await bench.disk.idle();
      await machine.close();
      path = file.path;
    },
    { directory },
  );
  return path;
}
