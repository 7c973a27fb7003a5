import { readdirSync, readFileSync } from 'node:fs';

const ticksPerSecond = 100;

/** Processor time (user and system) that the processes and their threads have used so far, in milliseconds, in steps of ten. */
export function cpuMilliseconds(pids: readonly number[]): number {
  let ticks = 0;
  for (const pid of pids) {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    ticks += Number(fields[11]) + Number(fields[12]);
  }
  return (ticks * 1000) / ticksPerSecond;
}

/**
 * Processor time of the threads that the processes have now, in milliseconds, to the nanosecond: for processes that have not used
 * much more than the steps of `cpuMilliseconds`, which are cut off for each of them.
 */
export function threadMilliseconds(pids: readonly number[]): number {
  let nanoseconds = 0;
  for (const pid of pids)
    for (const thread of readdirSync(`/proc/${pid}/task`))
      nanoseconds += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1').split(' ')[0]);
  return nanoseconds / 1e6;
}

/** Processor time that the whole machine has used so far, whoever it was, in milliseconds, in steps of ten. */
export function busyMilliseconds(): number {
  const [first = ''] = readFileSync('/proc/stat', 'latin1').split('\n');
  const [user = 0, nice = 0, system = 0, , , hardware = 0, software = 0] = first
    .split(/\s+/)
    .slice(1)
    .map(Number);
  return ((user + nice + system + hardware + software) * 1000) / ticksPerSecond;
}

export interface Memory {
  /** Resident set, shared pages counted in full, MiB. */
  readonly rss: number;
  /** Proportional set: shared pages divided among those who share them, MiB. */
  readonly pss: number;
}

/** Memory of all the processes together. */
export function memory(pids: readonly number[]): Memory {
  let rss = 0;
  let pss = 0;
  for (const pid of pids) {
    const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1');
    rss += kibibytes(rollup, 'Rss');
    pss += kibibytes(rollup, 'Pss');
  }
  return { rss: rss / 1024, pss: pss / 1024 };
}

function kibibytes(rollup: string, name: string): number {
  return Number(new RegExp(`^${name}: +(\\d+) kB`, 'm').exec(rollup)?.[1] ?? '0');
}
