import { readdir, readFile } from 'node:fs/promises';
import { type Clock, sleep } from '@sheaf/base';
import { runTool, tryTool } from './host-tools.ts';
import { refusals } from './refusals.ts';

const pollMs = 5;
const detachLimitMs = 10_000;

/** Block devices of this host whose content is a given file. */
export async function loopsOf(file: string): Promise<readonly string[]> {
  const names = (await readdir('/sys/block')).filter((name) => /^loop\d+$/.test(name));
  const backings = await Promise.all(names.map(backingOf));
  return names.filter((_, index) => backings[index] === file).map((name) => `/dev/${name}`);
}

/** Makes a file a block device, or finds the one that it is. */
export async function attachLoop(file: string): Promise<string> {
  const [found] = await loopsOf(file);
  // Direct access to a file that a process shows loses what is written, with some versions of that process.
  return found ?? (await runTool('losetup', '--find', '--show', '--direct-io=off', file));
}

/** @throws StatusError where someone uses it still; it goes when they have done so */
export async function detachLoops(file: string, clock: Clock): Promise<void> {
  const limit = clock.monotonic() + detachLimitMs;
  for (const device of await loopsOf(file)) await tryTool('losetup', '--detach', device);
  while ((await loopsOf(file)).length > 0) {
    if (clock.monotonic() >= limit) throw refusals.diskBusy(`${(await loopsOf(file)).join(', ')} stays`);
    await sleep(clock, pollMs);
  }
}

/** Nothing, where the device has none. */
async function backingOf(name: string): Promise<string | undefined> {
  try {
    return (await readFile(`/sys/block/${name}/loop/backing_file`, 'utf8')).trimEnd();
  } catch {
    return undefined;
  }
}
