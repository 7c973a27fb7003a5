import { testMachineFiles } from '@sheaf/ports/machine-files.contract';
import { SimulatedMachineFiles } from './index.ts';

testMachineFiles('simulated', async (use) => {
  const files = new SimulatedMachineFiles();
  await use({
    files,
    read: ({ path }) => Promise.resolve(files.contents.get(path) ?? new Uint8Array()),
    write: ({ path }, bytes) => {
      files.contents.get(path)?.set(bytes);
      return Promise.resolve();
    },
    isPrivate: () => Promise.resolve(true),
    // A file is made in one step: there is no middle in which to crash.
    crash: () => Promise.resolve(),
    traces: () => Promise.resolve([...files.contents.keys()]),
  });
});
