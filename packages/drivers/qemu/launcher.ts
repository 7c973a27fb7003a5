import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import type { Disposable } from '@sheaf/base';
import { inputDescriptor } from './device-names.ts';
import { type LaunchEnd, type LaunchOrder, launchEndOf, launchEnvironment, launching } from './launch.ts';

/**
 * A shell that launches what it is told, for as long as this process lives. To start a process copies the page tables of the one
 * that starts it: milliseconds for this one, nothing for the shell. It reads commands; each one runs in a process of its own, that
 * becomes the program, and tells only what keeps it from that.
 */
const shell = `
exec 8>&1
mask=$(umask)
launch() {
  token=$1
  trap 'echo "$token ended $?" >&8' EXIT
  cd "$2" || exit 70
  umask 077
  exec >>"$3.log" 2>&1 || exit 70
  umask "$mask"
  if [ -n "$input" ]; then
    exec ${inputDescriptor}<"$input" || exit 70
    dd bs="$skipped" count=1 of=/dev/null status=none <&${inputDescriptor} || exit 70
  fi
  shift 2
  ${launching}
  exec "$@" 8>&-
}
`;

/** A program that perhaps reads a file as `inputDescriptor`, from behind its first bytes. */
export interface ReadingOrder extends LaunchOrder {
  readonly input?: { readonly path: string; readonly skippedBytes: number };
}

export interface Launching extends Disposable {
  /** How it ended before it became the program; `undefined` as long as it has not. */
  readonly end: LaunchEnd | undefined;
}

type Shell = ChildProcessByStdio<Writable, Readable, null>;

/** Starts programs that outlive this one, quickly. */
export class Launcher implements Disposable {
  readonly #open = new Map<string, OpenLaunch>();
  #shell: Shell | undefined;
  #count = 0;

  /** What it answers is to be disposed when nobody asks for its end any more. */
  launch({ directory, name, program, args, environment = {}, input }: ReadingOrder): Launching {
    const token = String(++this.#count);
    const launch = new OpenLaunch(() => this.#open.delete(token));
    this.#open.set(token, launch);
    const settings = Object.entries(environment).map(
      ([key, value]) => `export ${quoted(`${key}=${value}`)};`,
    );
    const words = [token, directory, name, program, ...args].map(quoted).join(' ');
    const read = `input=${quoted(input?.path ?? '')}; skipped=${input?.skippedBytes ?? 0};`;
    const command = `{ ${settings.join(' ')} ${read} launch ${words}; } </dev/null & echo "${token} began $!"\n`;
    this.#shell ??= this.#openShell();
    this.#shell.stdin.write(command);
    return launch;
  }

  /** Lets go of the numbers of programs that have ended; nothing ended: nothing to do. */
  tidy(): void {
    this.#shell?.stdin.write('jobs >/dev/null\n');
  }

  /** What has been launched runs on. */
  dispose(): void {
    this.#shell?.stdin.end();
    this.#shell = undefined;
  }

  #openShell(): Shell {
    const child = spawn('/bin/sh', [], {
      cwd: '/',
      detached: true,
      stdio: ['pipe', 'pipe', 'ignore'],
      env: launchEnvironment(),
    });
    child.once('error', (error) => this.#close(child, { kind: 'exited', status: error.message }));
    child.once('exit', (code, signal) => this.#close(child, launchEndOf(code, signal)));
    // One that has ended tells so itself.
    child.stdin.on('error', () => undefined);
    createInterface({ input: child.stdout }).on('line', (line) => this.#take(line));
    for (const part of [child, child.stdin as Socket, child.stdout as Socket]) part.unref();
    child.stdin.write(shell);
    return child;
  }

  #take(line: string): void {
    const [token = '', what, value] = line.split(' ');
    const launch = this.#open.get(token);
    if (what === 'began') launch?.setProcess(Number(value));
    else launch?.setEnd(launchEndOf(Number(value), null));
  }

  /** What it had not begun will not begin; what it had begun is found by its record. */
  #close(child: Shell, end: LaunchEnd): void {
    if (this.#shell === child) this.#shell = undefined;
    for (const launch of this.#open.values()) launch.setEnd(end);
  }
}

class OpenLaunch implements Launching {
  readonly #forget: () => void;
  #process: number | undefined;
  #end: LaunchEnd | undefined;

  constructor(forget: () => void) {
    this.#forget = forget;
  }

  get end(): LaunchEnd | undefined {
    if (this.#end || this.#process === undefined || isThere(this.#process)) return this.#end;
    return { kind: 'exited', status: 'no word' };
  }

  setProcess(pid: number): void {
    this.#process = pid;
  }

  setEnd(end: LaunchEnd): void {
    this.#end ??= end;
  }

  dispose(): void {
    this.#forget();
  }
}

/** The number is nobody else's before the shell has let go of it, which it is told where a program has ended that was launched. */
function isThere(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return !stat.slice(stat.lastIndexOf(')')).startsWith(') Z');
  } catch {
    return false;
  }
}

/** A word for the shell, whatever is in it. */
function quoted(word: string): string {
  if (word.includes('\0')) throw new Error(`no argument of a program can contain a zero byte: ${word}`);
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
