/**
 * Measures the store on the disk of the directory given (the current one if none): commits per second, CPU per commit and
 * the longest stall of the event loop at 1, 16 and 64 writers of 800 bytes, and the time and memory of opening.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { openSqliteStore, type Store } from '@sheaf/store';
import { systemClock } from './system-clock.ts';

const value = Buffer.alloc(800, 'x');

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function commits(store: Store, writers: number, count: number): Promise<void> {
  let left = count;
  const write = async (index: number): Promise<void> => {
    const key = `/registry/pods/namespace-${writers}/pod-${index}`;
    for (let expected = 0; left-- > 0; ) expected = await store.commit({ key, value, expected });
  };
  await Promise.all(Array.from({ length: writers }, (_, index) => write(index)));
}

async function measureCommits(store: Store, writers: number, count: number): Promise<void> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const cpu = process.cpuUsage();
  const start = performance.now();
  await commits(store, writers, count);
  const seconds = (performance.now() - start) / 1000;
  const used = process.cpuUsage(cpu);
  delay.disable();
  const perCommit = (used.user + used.system) / count;
  const stall = `p99 ${(delay.percentile(99) / 1e6).toFixed(1)} ms, max ${(delay.max / 1e6).toFixed(1)} ms`;
  print(
    `${writers} writers: ${Math.round(count / seconds)}/s, ${perCommit.toFixed(1)} µs CPU per commit, loop delay ${stall}`,
  );
}

function memoryKib(): number {
  return Number(/Pss:\s+(\d+)/.exec(readFileSync('/proc/self/smaps_rollup', 'utf8'))?.[1] ?? 0);
}

async function measureOpen(directory: string, objects: number): Promise<void> {
  const options = { directory: join(directory, `open-${objects}`), clock: systemClock };
  const filled = await openSqliteStore(options);
  for (let start = 0; start < objects; start += 1000) {
    const keys = Array.from({ length: 1000 }, (_, index) => `/registry/pods/default/pod-${start + index}`);
    await Promise.all(keys.map((key) => filled.commit({ key, value: Buffer.from(value), expected: 0 })));
  }
  await filled.close();
  const times: number[] = [];
  for (let round = 0; round < 5; round++) {
    const start = performance.now();
    const store = await openSqliteStore(options);
    times.push(performance.now() - start);
    await store.close();
  }
  const before = memoryKib();
  const store = await openSqliteStore(options);
  const { keys } = await store.size();
  const shown = times.map((time) => time.toFixed(0)).join(', ');
  print(
    `open ${keys} objects: ${shown} ms; about ${memoryKib() - before} KiB more after garbage of the rounds`,
  );
  await store.close();
}

const directory = mkdtempSync(join(process.argv[2] ?? '.', 'sheaf-measure-'));
try {
  const store = await openSqliteStore({ directory, clock: systemClock });
  await commits(store, 8, 2000);
  for (const [writers, count] of [
    [1, 4000],
    [16, 20_000],
    [64, 40_000],
  ] as const)
    await measureCommits(store, writers, count);
  await store.close();
  for (const objects of [10_000, 100_000]) await measureOpen(directory, objects);
} finally {
  rmSync(directory, { recursive: true, force: true });
}
