import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';

/**
 * What stands between two processes for one machine. The lock is taken on a file that stays open in the program that follows, so
 * the kernel holds it exactly as long as that program lives. Under the lock it is made sure that the lock file is still the one
 * in the directory, and that no program has been launched before. Then the process writes down who it is, and becomes
 * the program: whoever finds no record knows that nothing was launched. It begins in the directory, with the name of lock and
 * record before the program and its arguments.
 */
export const launching = `
name=$1; shift
exec 9>>"$name.lock" || exit 70
flock -n 9 || exit 75
[ "$name.lock" -ef /proc/self/fd/9 ] || exit 75
[ -s "$name.process" ] && exit 76
read -r stat </proc/self/stat
read -r boot </proc/sys/kernel/random/boot_id
started() { shift 19; start=$1; }
started \${stat##*) }
echo "\${stat%% *} $start $boot" >"$name.process"
`;

export interface LaunchOrder {
  /** Working directory, and where lock, record and log are. */
  readonly directory: string;
  /** Of the lock, record and log files. */
  readonly name: string;
  readonly program: string;
  readonly args: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

export type LaunchEnd =
  /** Someone else has the lock, or launched it before. */
  { readonly kind: 'refused' } | { readonly kind: 'exited'; readonly status: string };

export interface Launched {
  readonly ended: Promise<LaunchEnd>;
}

/** Starts a program that outlives this one: a session of its own, output to a file. */
export function launch(order: LaunchOrder): Launched {
  const log = openSync(join(order.directory, `${order.name}.log`), 'a', 0o600);
  try {
    const script = `${launching}exec "$@"`;
    const child = spawn('/bin/sh', ['-c', script, 'launch', order.name, order.program, ...order.args], {
      cwd: order.directory,
      detached: true,
      stdio: ['ignore', log, log],
      env: { ...launchEnvironment(), ...order.environment },
    });
    child.unref();
    return { ended: endOf(child) };
  } finally {
    closeSync(log);
  }
}

export function launchEnvironment(): Readonly<Record<string, string>> {
  return { PATH: process.env['PATH'] ?? '/usr/bin:/bin' };
}

function endOf(child: ChildProcess): Promise<LaunchEnd> {
  return new Promise<LaunchEnd>((resolve) => {
    child.once('error', (error) => resolve({ kind: 'exited', status: error.message }));
    child.once('exit', (code, signal) => resolve(launchEndOf(code, signal)));
  });
}

/** What it means that the launching process, or what it became, has ended. */
export function launchEndOf(code: number | null, signal: string | null): LaunchEnd {
  if (code === 75 || code === 76) return { kind: 'refused' };
  return { kind: 'exited', status: signal ? `signal ${signal}` : `status ${code}` };
}
