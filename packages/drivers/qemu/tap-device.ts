import { open, readdir, readFile } from 'node:fs/promises';
import { toError } from '@sheaf/base';
import type { Capability } from '@sheaf/ports';
import { available, missing } from './capabilities.ts';
import { tapPrefix } from './device-names.ts';
import { findProgram, runProgram } from './run-program.ts';

const devices = '/sys/class/net';
/** CAP_NET_ADMIN. */
const networkAdministration = 1n << 12n;

/** Makes a tap device on a bridge, or finds it there. @throws Error with the tool's words */
export async function ensureTap(tool: string, name: string, bridge: string): Promise<void> {
  const present = await readdir(devices);
  if (!present.includes(bridge))
    throw new Error(`there is no bridge ${bridge} on this host: create it, or name another one`);
  if (!present.includes(name)) await change(tool, ['tuntap', 'add', 'dev', name, 'mode', 'tap']);
  await change(tool, ['link', 'set', 'dev', name, 'master', bridge, 'up']);
}

/** Nothing there: nothing to do. */
export async function removeTap(tool: string, name: string): Promise<void> {
  if ((await readdir(devices)).includes(name)) await change(tool, ['link', 'delete', 'dev', name]);
}

/** Removes all that were made for one machine. */
export async function removeTaps(tool: string, machineId: string): Promise<void> {
  const prefix = tapPrefix(machineId);
  for (const name of await readdir(devices)) if (name.startsWith(prefix)) await removeTap(tool, name);
}

/** Whether tap devices can be made here; nothing is made to find out. */
export async function probeTaps(): Promise<Capability> {
  if (findProgram('ip') === undefined) return missing('ip is not installed', 'apt-get install iproute2');
  try {
    // Fails where the kernel has no such devices, too.
    await (await open('/dev/net/tun', 'r+')).close();
  } catch (error) {
    return missing(
      `/dev/net/tun cannot be opened: ${toError(error).message}`,
      'run Sheaf as root, on a kernel that has tap devices',
    );
  }
  const status = await readFile('/proc/self/status', 'utf8');
  const capabilities = BigInt(`0x${/^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? '0'}`);
  return (capabilities & networkAdministration) === 0n
    ? missing('this process may not change the network of the host', 'run Sheaf as root')
    : available('tap devices can be made');
}

async function change(tool: string, args: readonly string[]): Promise<void> {
  const { status, errors } = await runProgram(tool, args);
  if (status !== 0) throw new Error(`ip ${args.join(' ')}: ${errors.trim()}`);
}
