import { readdirSync, readFileSync } from 'node:fs';
import { runVariable } from './host-program.ts';

/**
 * Processes of a run, by its directory: those of the session that its watcher began, and those that carry its name, for a process may leave a
 * session. The watcher is not among them.
 */
export function processesOfRun(run: string, watcherId: number | undefined): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== watcherId && pid !== process.pid && belongsTo(pid, run));
}

/** A number of a session may come to mean another one, so each process must carry the name. */
function belongsTo(pid: number, run: string): boolean {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`, 'latin1');
    if (!environment.split('\0').includes(`${runVariable}=${run}`)) return false;
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return !'ZXx'.includes(stat.charAt(stat.lastIndexOf(')') + 2));
  } catch {
    // It has ended, or is not ours to look into.
    return false;
  }
}

/** Ends all of them at once. @returns how many were left */
export function killRun(run: string, watcherId: number | undefined): number {
  const left = processesOfRun(run, watcherId);
  for (const pid of left) send(pid, 'SIGKILL');
  return left.length;
}

export function send(pid: number, signal: NodeJS.Signals | number): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
