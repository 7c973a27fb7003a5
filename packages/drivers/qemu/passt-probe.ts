import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { type Clock, toError } from '@sheaf/base';
import type { Capability } from '@sheaf/ports';
import { available, missing } from './capabilities.ts';
import { keptAnswer } from './kept-answer.ts';
import { MachineFiles } from './machine-files.ts';
import { endAllPasst, ensurePasst } from './passt.ts';
import type { Passt } from './passt-command.ts';
import { findLeak } from './pod-leak.ts';
import { podAddresses } from './pod-network.ts';
import { findProgram } from './run-program.ts';
import { connectUnix } from './unix-socket.ts';

export interface PodNetworkProbe {
  readonly directory: string;
  readonly bootId: string;
  readonly clock: Clock;
  /** `undefined` where there is none. */
  readonly emulator: { readonly path: string; readonly version: string } | undefined;
}

export interface PodNetworkAnswer {
  /** What machines get as their pod network. */
  readonly passt?: Passt;
  readonly capability: Capability;
}

/** For the programs to start and to answer, also on a host that has much else to do. */
const limitMs = 15_000;
const probePrefix = 'pod-probe-';
const bridgeInstead = 'attach the machine to a bridged network to let it out';

/** Changes when what is tried or written down does. */
const probeVersion = 4;

/**
 * Whether a pod network that reaches the outside, and never the host's loopback, can be made here. One is made and tried with
 * packets that a guest could send: there are versions of passt that carry packets for 127.0.0.1 to the loopback of the network
 * that they are in. Then a network of QEMU's is put into one of its own, where nothing is on the loopback.
 */
export async function probePodNetwork(probe: PodNetworkProbe, isFresh: boolean): Promise<PodNetworkAnswer> {
  const { emulator, directory, bootId } = probe;
  const program = findProgram('passt');
  if (program === undefined)
    return refused('passt is not installed', `apt-get install passt, or ${bridgeInstead}`);
  if (emulator === undefined || !isAtLeast(emulator.version, [7, 2]))
    return refused(
      `QEMU ${emulator?.version ?? '(none)'} cannot talk to passt`,
      `install QEMU 7.2, or ${bridgeInstead}`,
    );
  const { mtimeMs } = await stat(program);
  const path = join(directory, 'pod-network.json');
  const programs = `${emulator.path} ${emulator.version} ${program} ${mtimeMs}`;
  const key = `${probeVersion} ${bootId} ${programs} ${process.getuid?.()}`;
  // What is in the way may be mended.
  const holds = ({ passt }: PodNetworkAnswer): boolean => passt !== undefined;
  return await keptAnswer({ path, key, isFresh, holds }, async () => {
    await removeLeftovers(probe);
    return await tryWays(probe, { program, emulator: emulator.path });
  });
}

async function tryWays(
  probe: PodNetworkProbe,
  { program, emulator }: { readonly program: string; readonly emulator: string },
): Promise<PodNetworkAnswer> {
  const beside = { kind: 'beside', program } as const;
  const fault = await faultOf(beside, probe);
  if (fault === undefined) {
    const capability = available(`guests on the pod network reach it through ${program}`);
    return { passt: beside, capability };
  }
  const pasta = findProgram('pasta') ?? 'pasta';
  const apart = { kind: 'apart', pasta, emulator } as const;
  const faultApart = await faultOf(apart, probe);
  if (faultApart === undefined) {
    const capability = available(
      `guests on the pod network reach it through ${pasta} and a network of their own, since ${program} ${fault}`,
    );
    return { passt: apart, capability };
  }
  return refused(
    `the installed passt ${fault}; a network of its own ${faultApart}`,
    `install a newer passt (that of Debian 13 is new enough); or let this user make user namespaces and open /dev/net/tun, ` +
      `and then start Sheaf again; or ${bridgeInstead}`,
  );
}

/** What is wrong with a way to run passt; `undefined` if it can be used. */
async function faultOf(passt: Passt, probe: PodNetworkProbe): Promise<string | undefined> {
  const { directory } = probe;
  const files = new MachineFiles(await mkdtemp(join(directory, `${probePrefix}${process.pid}-`)));
  try {
    const leak = await leakOf(files, probe, passt);
    return leak === undefined ? undefined : `lets a guest reach the loopback of the host through ${leak}`;
  } catch (error) {
    return `does not work: ${wordsOf(toError(error))}`;
  } finally {
    await rm(files.directory, { recursive: true, force: true });
  }
}

/** Each attempt left the same ones in the log, and some about the log itself. */
function wordsOf({ message }: Error): string {
  const lines = message.split('\n').filter((line) => !line.endsWith('to syslog'));
  return [...new Set(lines)].join('; ');
}

/** Those of lives that ended in the middle of it. */
async function removeLeftovers(probe: PodNetworkProbe): Promise<void> {
  for (const name of await readdir(probe.directory)) {
    const pid = name.startsWith(probePrefix) ? name.slice(probePrefix.length).split('-')[0] : undefined;
    if (pid === undefined || existsSync(`/proc/${pid}`)) continue;
    const files = new MachineFiles(join(probe.directory, name));
    await endAllPasst(files, { ...probe, limitMs });
    await rm(files.directory, { recursive: true, force: true });
  }
}

function refused(reason: string, wayOut: string): PodNetworkAnswer {
  const instead = 'guests on the pod network reach nothing outside';
  return { capability: missing(`${reason}; ${instead}`, wayOut) };
}

function isAtLeast(version: string, least: readonly [number, number]): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > least[0] || (major === least[0] && minor >= least[1]);
}

/** The address through which a guest comes to a server on the host's loopback; `undefined` if there is none. */
async function leakOf(
  files: MachineFiles,
  { bootId, clock }: PodNetworkProbe,
  passt: Passt,
): Promise<string | undefined> {
  const nic = { name: 'probe', model: 'virtio', mac: '', link: { kind: 'user' } } as const;
  // A life that ends in the middle of this leaves nothing behind.
  const host = { passt, bootId, clock, limitMs, lifeSeconds: 60 };
  let socket: Socket | undefined;
  try {
    socket = await connectUnix(files.path(await ensurePasst(files, nic, host)));
    const addresses = ['127.0.0.1', '0.0.0.0', podAddresses().gateway];
    return await findLeak(socket, { addresses, clock, limitMs });
  } finally {
    socket?.destroy();
    await endAllPasst(files, host);
  }
}
