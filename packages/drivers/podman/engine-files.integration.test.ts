import assert from 'node:assert/strict';
import { mkdtemp, open, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { conmonScript } from './conmon-script.ts';
import { writeEngineFiles } from './engine-files.ts';
import { engineLayout } from './engine-layout.ts';

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
        assert.equal(
          await used.readFile('utf8'),
          conmonScript({ conmon: '/bin/one', storageConf: layout.storageConf }),
        );
      } finally {
        await used.close();
      }
      assert.equal(
        await readFile(layout.conmon, 'utf8'),
        conmonScript({ conmon: '/bin/two', storageConf: layout.storageConf }),
      );
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
});
