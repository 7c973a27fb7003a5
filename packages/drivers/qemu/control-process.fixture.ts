/**
 * A control process that tests kill: opens the directory of the first argument, starts the machines of the others, lets them run,
 * and says so. It stays until it is killed.
 */
import { readFileSync } from 'node:fs';
import { silentLogger } from '@sheaf/base';
import type { MachineSpec } from '@sheaf/ports';
import { systemClock } from '../system/system-clock.ts';
import { systemRandom } from '../system/system-random.ts';
import { openQemu } from './register.ts';

// The timers of the clock do not keep it.
process.stdin.resume();
const [directory = '', specsPath = ''] = process.argv.slice(2);
const specs = JSON.parse(readFileSync(specsPath, 'utf8')) as MachineSpec[];
const hypervisor = openQemu({
  directory,
  clock: systemClock,
  random: systemRandom,
  logger: silentLogger,
  mayWrite: () => Promise.resolve(true),
  limits: { answerMs: 1000, heartbeatMs: 200 },
});
const { signal } = new AbortController();
process.stdout.write('opened\n');
for (const spec of specs) {
  try {
    const { processId } = await hypervisor.start(spec, signal);
    await hypervisor.resume(spec.id, signal);
    process.stdout.write(`running ${spec.id} ${processId}\n`);
  } catch (error) {
    process.stdout.write(`refused ${spec.id} ${String(error)}\n`);
  }
}
process.stdout.write('done\n');
