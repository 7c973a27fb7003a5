/**
 * A control process that tests kill: opens the directory of the first argument with the subnet of the second, starts the sandbox and
 * the container of the file of the third, and says so. The fourth, if there is one, is the boot. It stays until it is killed.
 */
import { readFileSync } from 'node:fs';
import { silentLogger } from '@sheaf/base';
import type { ContainerSpec, SandboxSpec } from '@sheaf/ports';
import { systemClock } from '../system/system-clock.ts';
import { systemRandom } from '../system/system-random.ts';
import { openPodman } from './register.ts';

// The timers of the clock do not keep it.
process.stdin.resume();
const [directory = '', subnet = '', specsPath = '', bootId] = process.argv.slice(2);
const { sandbox, container } = JSON.parse(readFileSync(specsPath, 'utf8')) as {
  readonly sandbox: SandboxSpec;
  readonly container: ContainerSpec;
};
const { containers } = openPodman({
  directory,
  clock: systemClock,
  random: systemRandom,
  logger: silentLogger,
  podSubnets: [subnet],
  ...(bootId !== undefined && { bootId }),
});
const { signal } = new AbortController();
await containers.listSandboxes(signal);
process.stdout.write('opened\n');
await containers.startSandbox(sandbox, signal);
process.stdout.write('sandbox\n');
await containers.startContainer(container, signal);
process.stdout.write('container\n');
