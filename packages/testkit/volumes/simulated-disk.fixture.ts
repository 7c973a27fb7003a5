import type { DiskBench } from '@sheaf/ports/disk-bench.fixture';
import type { MemoryBench } from '@sheaf/ports/machine-memories.contract';
import { SeededRandom } from '../seeded-random.ts';
import { settle } from '../settle.ts';
import { TestClock } from '../test-clock.ts';
import { openSimulatedDisk, SimulatedMedium, SimulatedSources } from './index.ts';

/** Gives each test a simulated medium and a driver. */
export async function withSimulatedDisk(
  use: (bench: DiskBench & MemoryBench) => Promise<void>,
): Promise<void> {
  const medium = new SimulatedMedium();
  const sources = new SimulatedSources();
  const clock = new TestClock();
  const random = new SeededRandom(1);
  const begin = () => openSimulatedDisk({ medium, sources, clock, random });
  let disk = begin();
  let offers = 0;
  await use({
    get volumes() {
      return disk.volumes;
    },
    get images() {
      return disk.images;
    },
    get memories() {
      return disk.memories;
    },
    async writeMemory(path, bytes) {
      medium.files.set(path, bytes);
    },
    hasFile: (path) => medium.files.has(path),
    open: async (file) => medium.open(file),
    async offer(answers) {
      const url = `http://source.test/${++offers}`;
      sources.offer(url, answers);
      return url;
    },
    until: (claim) => settle({ clock, until: claim, limitMs: 3_600_000 }),
    async restart() {
      disk.crash();
      disk = begin();
    },
  });
}
