import { readdirSync, readFileSync } from 'node:fs';
import { type Clock, sleep } from '@sheaf/base/clock';

/** One process among all that ever had its number: the kernel's start time and the boot tell them apart. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Clock ticks since the boot. */
  readonly startTime: string;
  readonly bootId: string;
}

const pollMs = 5;

/** A record as the launcher writes it; `undefined` for one that is not whole. */
export function parseIdentity(text: string): ProcessIdentity | undefined {
  const [pid, startTime, bootId] = text.trim().split(' ');
  if (!pid || !startTime || !bootId || !/^\d+$/.test(pid)) return undefined;
  return { pid: Number(pid), startTime, bootId };
}

/** Who has a process number now; `undefined` if nobody has. */
export function identityOf(pid: number, bootId: string): ProcessIdentity | undefined {
  const startTime = statFields(pid)?.[19];
  return startTime === undefined ? undefined : { pid, startTime, bootId };
}

export function currentBootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
}

/** True while it can do anything, or has files open. */
export function isAlive(identity: ProcessIdentity, bootId: string): boolean {
  if (identity.bootId !== bootId) return false;
  const fields = statFields(identity.pid);
  if (fields === undefined) return false;
  return fields[19] === identity.startTime && isGoing(fields);
}

/** A zombie is not, unless other threads of it are: its files and their locks are theirs, too. `fields`: the state, and what follows. */
export function isGoing(fields: readonly string[]): boolean {
  const [state = ''] = fields;
  return !'ZXx'.includes(state) || Number(fields[17]) > 1;
}

/** Sends a signal, if it is alive. */
export function signalProcess(identity: ProcessIdentity, bootId: string, signal: NodeJS.Signals): void {
  if (!isAlive(identity, bootId)) return;
  try {
    process.kill(identity.pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Resolves to true when it is gone, to false after the limit. */
export async function waitForExit(
  identity: ProcessIdentity,
  options: { readonly bootId: string; readonly clock: Clock; readonly limitMs: number },
): Promise<boolean> {
  const end = options.clock.monotonic() + options.limitMs;
  while (isAlive(identity, options.bootId)) {
    if (options.clock.monotonic() >= end) return false;
    await sleep(options.clock, pollMs);
  }
  return true;
}

/** Resolves to true when nobody is left of the session that a process began, to false after the limit. */
export async function waitForSessionEnd(
  sessionId: number,
  { clock, limitMs }: { readonly clock: Clock; readonly limitMs: number },
): Promise<boolean> {
  const end = clock.monotonic() + limitMs;
  while (hasSession(sessionId)) {
    if (clock.monotonic() >= end) return false;
    await sleep(clock, pollMs);
  }
  return true;
}

function hasSession(sessionId: number): boolean {
  return readdirSync('/proc').some((name) => {
    const fields = /^\d+$/.test(name) ? statFields(Number(name)) : undefined;
    return fields?.[3] === String(sessionId) && isGoing(fields);
  });
}

/** The name before the last parenthesis may contain anything; the state follows, the start time is the 20th after it. */
function statFields(pid: number): readonly string[] | undefined {
  const stat = readStat(pid);
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
}

function readStat(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH') return undefined;
    throw error;
  }
}
