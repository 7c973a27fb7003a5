import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { resolverText, type SandboxSpec } from '@sheaf/ports';
import { engineName } from './engine-names.ts';

/** What the files for the names of hosts say. */
export type SandboxNames = Pick<SandboxSpec, 'hostname' | 'domain' | 'hosts' | 'dns'>;

export interface NameFileFacts {
  /** Those of all sandboxes are below it. */
  readonly directory: string;
  readonly sandboxId: string;
  readonly names: SandboxNames;
  /** None on the host's network. */
  readonly addresses: readonly string[];
  /** Such as a UUID: containers of one sandbox are made at the same time. */
  readonly mark: string;
}

export interface NameFile {
  readonly hostPath: string;
  readonly containerPath: string;
}

/**
 * The files that all containers of a sandbox share, `/etc/hosts` and where the sandbox has servers of its own `/etc/resolv.conf`;
 * those of the engine would tell names of the host and of containers. Made once: what a container writes there stays.
 */
export async function ensureNameFiles(facts: NameFileFacts): Promise<readonly NameFile[]> {
  const { names } = facts;
  const hosts = await ensureFile(facts, 'hosts', await hostsText(facts));
  const dns = names.dns && (await ensureFile(facts, 'resolv.conf', resolverText(names.dns)));
  return [
    { hostPath: hosts, containerPath: '/etc/hosts' },
    ...(dns === undefined ? [] : [{ hostPath: dns, containerPath: '/etc/resolv.conf' }]),
  ];
}

export async function removeNameFiles(directory: string, sandboxId: string): Promise<void> {
  await rm(directoryOf(directory, sandboxId), { recursive: true, force: true });
}

function directoryOf(directory: string, sandboxId: string): string {
  return join(directory, engineName('sandbox', sandboxId));
}

/** It is there as a whole or not at all, and never replaced: containers hold on to the first. */
async function ensureFile(
  { directory, sandboxId, mark }: NameFileFacts,
  name: string,
  text: string,
): Promise<string> {
  const own = directoryOf(directory, sandboxId);
  const path = join(own, name);
  const fresh = `${path}.${mark}`;
  await mkdir(own, { recursive: true, mode: 0o700 });
  await writeFile(fresh, text, { mode: 0o644 });
  try {
    await link(fresh, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await rm(fresh, { force: true });
  }
  return path;
}

async function hostsText({ names, addresses }: NameFileFacts): Promise<string> {
  const [address] = addresses;
  const others = (names.hosts ?? []).map((entry) => `${entry.address}\t${entry.names.join('\t')}`);
  const own = address === undefined ? await readFile('/etc/hosts', 'utf8') : ownLines(address, names);
  return [own.trimEnd(), ...others, ''].join('\n');
}

function ownLines(address: string, { hostname, domain }: SandboxNames): string {
  const whole = domain === undefined ? [] : [`${hostname}.${domain}`];
  const short = hostname.split('.')[0] ?? '';
  return [
    '127.0.0.1\tlocalhost',
    '::1\tlocalhost ip6-localhost ip6-loopback',
    [address, ...new Set([...whole, hostname, short])].join('\t'),
  ].join('\n');
}
