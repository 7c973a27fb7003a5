import { readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { StatusError } from '@sheaf/base';
import { fileNames } from './device-names.ts';
import { QmpError } from './qmp-client.ts';

/** What QEMU says of a file that another process has open in a way that excludes its own. */
const refusal = /Failed to get (?:shared )?"[a-z ]+" lock/;

/** Does something with a file; where another process keeps it from that, it is told who does. @throws StatusError */
export async function tellingHolder<T>(path: string | undefined, task: () => Promise<T>): Promise<T> {
  try {
    return await task();
  } catch (error) {
    if (path === undefined || !(error instanceof QmpError) || !refusal.test(error.message)) throw error;
    throw new StatusError({ reason: 'Conflict', message: heldWords(path), cause: error });
  }
}

/** The words of a program that did not start, with who holds the files that it did not get. */
export function withHolder(words: string, paths: readonly string[]): string {
  if (!refusal.test(words)) return words;
  const named = /process using the image \[(.+)\]\?/.exec(words)?.[1];
  const suspects = named === undefined ? paths : [named, ...paths];
  const path = suspects.find((each) => holderOf(each) !== undefined) ?? suspects[0];
  return path === undefined ? words : `${heldWords(path)}\n${words}`;
}

function heldWords(path: string): string {
  const holder = holderOf(path);
  if (holder === undefined)
    return `another process has had ${path} or a file beneath it open, and has let go of it since: try again`;
  if (holder.machine === undefined)
    return `${path} is in use by ${holder.program} (process ${holder.pid}): wait until that is done, and try again`;
  return `${path} is in use by machine ${holder.machine}: detach it there or end that machine, and try again`;
}

interface Holder {
  readonly pid: number;
  readonly program: string;
  /** Its title, if it is a machine. */
  readonly machine: string | undefined;
}

/** A process that has a file open; locks of open files name nobody, so it is looked for among all that may be looked at. */
function holderOf(path: string): Holder | undefined {
  const target = orUndefined(() => realpathSync(path));
  if (target === undefined) return undefined;
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!(pid > 0) || pid === process.pid || !hasOpen(pid, target)) continue;
    const program = orUndefined(() => readFileSync(`/proc/${pid}/comm`, 'utf8').trim());
    if (program !== undefined) return { pid, program, machine: titleOf(pid) };
  }
  return undefined;
}

function hasOpen(pid: number, target: string): boolean {
  const files = orUndefined(() => readdirSync(`/proc/${pid}/fd`)) ?? [];
  return files.some((file) => orUndefined(() => readlinkSync(`/proc/${pid}/fd/${file}`)) === target);
}

/** A machine's process works in its directory, and is the one that is recorded there. */
function titleOf(pid: number): string | undefined {
  return orUndefined(() => {
    const directory = readlinkSync(`/proc/${pid}/cwd`);
    const recorded = readFileSync(join(directory, `${fileNames.machine}.process`), 'utf8');
    if (Number.parseInt(recorded, 10) !== pid) return undefined;
    const record = JSON.parse(readFileSync(join(directory, 'machine.json'), 'utf8')) as {
      readonly spec: { readonly title: string };
    };
    return record.spec.title;
  });
}

/** Processes end, and those of other users cannot be looked at. */
function orUndefined<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
