import { readFileSync } from 'node:fs';
import { chmod, chown, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, sleep } from '@sheaf/base';
import type { MachineNic } from '@sheaf/ports';
import { podPrefix, podProcess } from './device-names.ts';
import { freeLoopbackPorts } from './free-ports.ts';
import { launch } from './launch.ts';
import type { MachineFiles } from './machine-files.ts';
import { type Passt, passtCommand } from './passt-command.ts';
import { forwardsToMake, type PodForward, podAddresses } from './pod-network.ts';
import { isAlive, type ProcessIdentity, waitForExit, waitForSessionEnd } from './process-identity.ts';

export interface PasstHost {
  readonly passt: Passt;
  readonly bootId: string;
  readonly clock: Clock;
  readonly limitMs: number;
  /** It is ended after so many seconds, whatever becomes of this process; absent: it lives as long as its machine. */
  readonly lifeSeconds?: number;
}

const socketName = 'passt.sock';
const readyName = 'passt.pid';
const pollMs = 2;
/** A port that was free may be taken before passt binds it. */
const attempts = 5;
/** The user that passt becomes where it is started by root; it owns nothing but the directory of its socket. */
const unprivileged = 65_534;

/** Goes to the directory of its socket, which it may not reach by a path, and becomes the program. */
const inDirectory = 'cd "$1" && shift && exec "$@"';

/** Starts the pod network of a card, or finds it running. Resolves to the path of its socket in the machine's directory. */
export async function ensurePasst(files: MachineFiles, nic: MachineNic, host: PasstHost): Promise<string> {
  const name = podProcess(nic.name);
  const socket = join(name, socketName);
  const earlier = await files.readProcess(name);
  if (earlier && isAlive(earlier, host.bootId)) return socket;
  let words = '';
  for (let attempt = 0; attempt < attempts; attempt++) {
    if (await files.readProcess(name)) await removeTraces(files, name);
    words = await startPasst(files, nic, host);
    if (words === '') return socket;
  }
  throw new Error(`the pod network of card ${nic.name} did not start: ${words}`);
}

/** Ends the pod network of one card and removes what it left; nothing there: nothing to do. */
export async function endPasst(
  files: MachineFiles,
  nicName: string,
  host: Omit<PasstHost, 'passt'>,
): Promise<void> {
  await endProcessOf(files, podProcess(nicName), host);
  await removeTraces(files, podProcess(nicName));
  const { podNetworks = {} } = await files.readNotes();
  if (nicName in podNetworks)
    await files.updateNotes((notes) => ({
      ...notes,
      podNetworks: Object.fromEntries(
        Object.entries(notes.podNetworks ?? {}).filter(([name]) => name !== nicName),
      ),
    }));
}

/** Ends the pod networks of all cards of a machine. */
export async function endAllPasst(files: MachineFiles, host: Omit<PasstHost, 'passt'>): Promise<void> {
  const suffix = '.process';
  const names = (await readdir(files.directory).catch(() => []))
    .filter((name) => name.startsWith(podPrefix) && name.endsWith(suffix))
    .map((name) => name.slice(0, -suffix.length));
  await Promise.all(names.map((name) => endProcessOf(files, name, host)));
}

/** Resolves to the words of a passt that did not start; empty if it did. */
async function startPasst(files: MachineFiles, nic: MachineNic, host: PasstHost): Promise<string> {
  const name = podProcess(nic.name);
  const { cidr, forwards: declared = [] } = nic.link.kind === 'user' ? nic.link : {};
  const wanted = forwardsToMake(declared);
  const ports = await freeLoopbackPorts(wanted.map(({ protocol }) => protocol));
  const forwards = wanted.map((forward, index): PodForward => ({ ...forward, hostPort: ports[index] ?? 0 }));
  await files.updateNotes((notes) => ({
    ...notes,
    podNetworks: { ...notes.podNetworks, [nic.name]: forwards },
  }));
  const directory = files.path(name);
  await mkdir(directory, { recursive: true, mode: 0o770 });
  const runAs = otherUser(host.passt);
  // Versions differ in whether they make their socket before or after they become another user; they give up root's rights first.
  if (runAs !== undefined) {
    await chown(directory, runAs, 0);
    await chmod(directory, 0o770);
  }
  const options = {
    addresses: podAddresses(cidr),
    forwards,
    socket: socketName,
    ready: readyName,
    runAs,
  };
  const { ended } = launch({
    directory: files.directory,
    name,
    program: '/bin/sh',
    args: ['-c', inDirectory, name, name, ...forLife(host), ...passtCommand(host.passt, options)],
  });
  let end: string | undefined;
  void ended.then((how) => {
    end = how.kind === 'exited' ? how.status : how.kind;
  });
  const limit = host.clock.monotonic() + host.limitMs;
  // It serves one connection and ends with it, so nobody may knock.
  while (!isWritten(join(directory, readyName))) {
    if (end !== undefined || host.clock.monotonic() > limit)
      return `${end ?? 'not ready in time'}: ${await files.lastWords(name)}`;
    await sleep(host.clock, pollMs);
  }
  return '';
}

/** Who it becomes; `undefined` where it has no rights anyway. */
function otherUser({ kind }: Passt): number | undefined {
  return kind === 'beside' && process.getuid?.() === 0 ? unprivileged : undefined;
}

function forLife({ lifeSeconds }: PasstHost): readonly string[] {
  return lifeSeconds === undefined ? [] : ['timeout', '-s', 'KILL', String(lifeSeconds)];
}

async function endProcessOf(
  files: MachineFiles,
  name: string,
  host: Omit<PasstHost, 'passt'>,
): Promise<void> {
  const identity = await files.readProcess(name);
  if (!identity) return;
  killSession(identity, host.bootId);
  await waitForExit(identity, host);
  // Those that end with the first of them do so a moment later.
  await waitForSessionEnd(identity.pid, host);
}

/** All that it consists of, where it was launched as a session of its own; there is nothing to put in order. */
function killSession({ pid, ...identity }: ProcessIdentity, bootId: string): void {
  if (!isAlive({ pid, ...identity }, bootId)) return;
  for (const target of [-pid, pid])
    try {
      process.kill(target, 'SIGKILL');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
}

async function removeTraces(files: MachineFiles, name: string): Promise<void> {
  await rm(files.path(name), { recursive: true, force: true });
  await rm(files.path(`${name}.process`), { force: true });
}

/** Its number stands there when the socket takes connections. */
function isWritten(path: string): boolean {
  try {
    return readFileSync(path, 'utf8').endsWith('\n');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
