import { spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runProgram } from '../../program.ts';

/** A program cannot have a network of its own here, and why. */
export async function lonelinessIsMissing(): Promise<string | undefined> {
  const { code, err } = await runProgram('unshare', ['--net', '--mount', 'true']).catch((error: unknown) => ({
    code: 1,
    err: String(error),
  }));
  return code === 0 ? undefined : `unshare: ${err.trim()}`;
}

/**
 * Runs a module of this directory where there is no network but its own loopback: no route leads anywhere, and the name server that is
 * configured is nowhere. What it prints last comes back.
 */
export async function runLonely(module: string, directory: string): Promise<string> {
  const resolver = join(directory, 'resolv.conf');
  await writeFile(resolver, 'nameserver 192.0.2.53\n');
  const script = [
    'ip link set lo up',
    'mount --make-rprivate /',
    `mount --bind ${resolver} /etc/resolv.conf`,
    `exec ${process.execPath} ${fileURLToPath(new URL(module, import.meta.url))} ${directory}`,
  ].join(' && ');
  const child = spawn('unshare', ['--net', '--mount', 'sh', '-c', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  child.stdout.on('data', (bytes: Buffer) => (printed += bytes.toString()));
  const code = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const lines = printed.trimEnd().split('\n');
  if (code === 0) return lines.at(-1) ?? '';
  throw new Error(`${module} ended with ${String(code)}: ${printed}`);
}

/** How often something on this host was to be sent where no route leads: each try of any program, by address or by name. */
export async function triedNetwork(): Promise<number> {
  const [names = '', counts = ''] = (await readFile('/proc/net/snmp', 'utf8'))
    .split('\n')
    .filter((line) => line.startsWith('Ip: '));
  const place = names.split(' ').indexOf('OutNoRoutes');
  const six = /^Ip6OutNoRoutes\s+(\d+)$/m.exec(await readFile('/proc/net/snmp6', 'utf8'));
  return Number(counts.split(' ')[place]) + Number(six?.[1] ?? Number.NaN);
}
