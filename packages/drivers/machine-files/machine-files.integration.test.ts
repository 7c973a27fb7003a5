import { mkdtemp, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testMachineFiles } from '@sheaf/ports/machine-files.contract';
import { DirectoryMachineFiles } from './directory-files.ts';

testMachineFiles('files of machines in a directory', async (use) => {
  const directory = await mkdtemp(join(tmpdir(), 'machine-files-'));
  const root = join(directory, 'files');
  const bench = {
    files: new DirectoryMachineFiles(root),
    read: ({ path }: { path: string }) => readFile(path),
    async write({ path }: { path: string }, bytes: Uint8Array) {
      const file = await open(path, 'r+');
      await file.write(bytes, 0, bytes.length, 0);
      await file.close();
    },
    isPrivate: async ({ path }: { path: string }) => ((await stat(path)).mode & 0o077) === 0,
    async crash() {
      for (const machine of await readdir(root)) await writeFile(join(root, machine, 'seed.seed.new'), 'wh');
      bench.files = new DirectoryMachineFiles(root);
    },
    traces: () => readdir(root),
  };
  try {
    await use(bench);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
