/**
 * A control process that tests kill: opens the directory of the first argument, keeps the memory of the machine of the second as the
 * order of the third says, and tells each step. It stays until it is killed.
 */
import { setTimeout as pass } from 'node:timers/promises';
import { silentLogger } from '@sheaf/base';
import type { MemoryOrder, Progress } from '@sheaf/ports';
import { systemClock } from '../system/system-clock.ts';
import { systemRandom } from '../system/system-random.ts';
import { openQemu } from './register.ts';

// The timers of the clock do not keep it.
process.stdin.resume();
const [directory = '', id = '', order = ''] = process.argv.slice(2);
const hypervisor = openQemu({
  directory,
  clock: systemClock,
  random: systemRandom,
  logger: silentLogger,
  mayWrite: () => Promise.resolve(true),
});
const { signal } = new AbortController();
await hypervisor.find(id, signal);
process.stdout.write('opened\n');
let progress: Progress = { state: 'working', percent: 0 };
while (progress.state === 'working') {
  progress = await hypervisor.saveMemory(id, JSON.parse(order) as MemoryOrder, signal);
  await pass(5);
}
process.stdout.write(`${JSON.stringify(progress)}\n`);
