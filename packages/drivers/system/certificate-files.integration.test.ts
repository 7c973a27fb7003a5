import assert from 'node:assert/strict';
import { chmod, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { DirectoryCertificateFiles } from './certificate-files.ts';

describe('DirectoryCertificateFiles', async () => {
  const parent = await mkdtemp(join(tmpdir(), 'certificate-files-'));
  after(() => rm(parent, { recursive: true }));
  const directory = join(parent, 'pki');
  const files = new DirectoryCertificateFiles(directory);
  const modeOf = async (path: string) => (await stat(path)).mode & 0o777;

  it('writes files only their owner can read, whole or not at all', async () => {
    assert.equal(await files.read('ca.key'), undefined);
    await files.write('ca.key', 'one');
    await chmod(join(directory, 'ca.key'), 0o644);
    await writeFile(join(directory, 'ca.key.new'), 'left by a crash', { mode: 0o666 });
    await files.write('ca.key', 'two');
    assert.equal(await files.read('ca.key'), 'two');
    assert.deepEqual([await modeOf(directory), await modeOf(join(directory, 'ca.key'))], [0o700, 0o600]);
    assert.deepEqual(await readdir(directory), ['ca.key']);
  });

  it('refuses names that lead out of the directory', async () => {
    for (const name of ['../x', 'a/b', '', '.hidden']) {
      await assert.rejects(files.read(name), /is not a file name/);
      await assert.rejects(files.write(name, ''), /is not a file name/);
    }
  });
});
