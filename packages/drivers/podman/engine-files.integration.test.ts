import assert from 'node:assert/strict';
import { mkdtemp, open, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { silentLogger } from '@sheaf/base';
import { systemClock } from '../system/system-clock.ts';
import { systemRandom } from '../system/system-random.ts';
import { conmonScript } from './conmon-script.ts';
import { writeEngineFiles } from './engine-files.ts';
import { engineLayout } from './engine-layout.ts';
import { openPodman } from './register.ts';

const { signal } = new AbortController();
const settings = { runtime: 'runc', storage: 'overlay', fileLimit: 1024, processLimit: 1024 };

async function withDirectory(use: (directory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'engine-'));
  try {
    await use(directory);
  } finally {
    await rm(directory, { recursive: true });
  }
}

describe('the files of the engine', () => {
  it('are replaced as a whole where something changes, and left alone else: programs read and execute them meanwhile', () =>
    withDirectory(async (directory) => {
      const layout = engineLayout(directory);
      await writeEngineFiles(layout, { ...settings, conmon: '/bin/one' });
      const used = await open(layout.conmon);
      try {
        await writeEngineFiles(layout, { ...settings, conmon: '/bin/two' });
        assert.equal(await used.readFile('utf8'), conmonScript('/bin/one'));
      } finally {
        await used.close();
      }
      assert.equal(await readFile(layout.conmon, 'utf8'), conmonScript('/bin/two'));
      const names = await readdir(dirname(layout.conmon));
      assert.deepEqual(names.sort(), [
        'conmon',
        'containers.conf',
        'home',
        'networks',
        'registries.conf',
        'storage.conf',
      ]);
    }));

  it('cannot be below a path that is too long for podman: it is said, with the way out', () =>
    withDirectory(async (directory) => {
      const long = join(directory, 'd'.repeat(50));
      const surroundings = { clock: systemClock, random: systemRandom, logger: silentLogger };
      const { containers } = openPodman({ ...surroundings, directory: long });
      try {
        const { containers: found } = await containers.probe(signal);
        assert.equal(found.isAvailable, false);
        if (process.getuid?.() === 0)
          assert.match(found.wayOut ?? '', /--data-dir whose path is \d+ characters shorter|apt-get/);
      } finally {
        containers.dispose();
      }
    }));
});
