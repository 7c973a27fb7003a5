import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { cpus, release, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { guestIsMissing } from '../../packages/testkit/containers/guest-image.ts';
import { median } from '../measure/statistics.ts';
import { Results, table } from '../report/table.ts';
import { measureFirst, measureIdle, measureMany, measureSingle, type Parts, rowNames } from './measures.ts';
import { PodmanPeer } from './peer.ts';
import { PodSubject } from './subject.ts';

const usage = `usage: node bench/workloads/main.ts [--quick] [--rounds N] [--many N] [--many-rounds N] [--json FILE]

Measures pods of a whole Sheaf beside containers of podman with the same settings, in turns. It must be root.`;

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    many: { type: 'string' },
    'many-rounds': { type: 'string' },
    json: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
if (options.help || guestIsMissing !== undefined) {
  console.error(options.help ? usage : guestIsMissing);
  process.exit(options.help ? 0 : 2);
}

const usual = options.quick
  ? { rounds: 1, many: 3, manyRounds: 1, idleSeconds: 3 }
  : { rounds: 15, many: 30, manyRounds: 3, idleSeconds: 20 };
const sizes = {
  rounds: Number(options.rounds ?? usual.rounds),
  many: Number(options.many ?? usual.many),
  manyRounds: Number(options['many-rounds'] ?? usual.manyRounds),
  idleSeconds: usual.idleSeconds,
};
const results = new Results();
const directory = await mkdtemp(join(tmpdir(), 'shb-'));
const closing: (() => Promise<void>)[] = [];
const interruption = Promise.withResolvers<never>();
const stop = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const)
  process.on(name, () => {
    stop.abort(new Error(`ended by ${name}`));
    interruption.reject(stop.signal.reason);
  });
interruption.promise.catch(() => undefined);
try {
  const parts = await open();
  await Promise.race([measure(parts), interruption.promise]);
  report();
  await writeJson();
} catch (error) {
  if (!stop.signal.aborted) throw error;
} finally {
  progress('cleaning up');
  for (const close of closing.toReversed()) await close();
  await rm(directory, { recursive: true, force: true });
}
// What was being measured may still wait for something that has gone.
if (stop.signal.aborted) process.exit(130);

async function open(): Promise<Parts> {
  progress("opening podman's side");
  const peer = await PodmanPeer.open(join(directory, 'p'));
  closing.push(() => peer.close());
  stop.signal.throwIfAborted();
  progress('starting Sheaf');
  const subject = await PodSubject.start(join(directory, 's'));
  closing.push(() => subject.close());
  stop.signal.throwIfAborted();
  return { peer, subject, results, sizes };
}

async function measure(parts: Parts): Promise<void> {
  progress('the first pod');
  await measureFirst(parts);
  progress(`one after the other, ${sizes.rounds} rounds`);
  await measureSingle(parts);
  progress(`${sizes.many} at once, ${sizes.manyRounds} rounds`);
  await measureMany(parts);
  progress(`idle for ${sizes.idleSeconds} s`);
  await measureIdle(parts);
}

function report(): void {
  console.log(`\n${cpus().length} processors, medians of ${sizes.rounds} and ${sizes.manyRounds} rounds`);
  console.log('peer: podman; subject: Sheaf\n');
  console.log(table(results.rows()));
  const start = results.rows().find(({ name }) => name === rowNames.start);
  const most = median(start?.values.peer ?? []) * 1.3 + 100;
  const value = median(start?.values.subject ?? []);
  const verdict = value <= most ? 'met' : 'missed';
  console.log(
    `\n${rowNames.start}: ${value.toFixed(0)} ms; aim ${most.toFixed(0)} ms, 1.3 times and 100 ms: ${verdict}`,
  );
}

async function writeJson(): Promise<void> {
  const date = new Date().toISOString();
  const stamp = date.slice(0, 19).replaceAll(/[^0-9]/g, '');
  const file = options.json ?? fileURLToPath(new URL(`../results/pods-${stamp}.json`, import.meta.url));
  const machine = {
    processors: cpus().length,
    model: cpus()[0]?.model ?? '',
    kernel: release(),
    node: process.version,
  };
  const document = { date, quick: options.quick, sizes, machine, rows: results.rows() };
  await writeFile(file, `${JSON.stringify(document, undefined, 2)}\n`);
  console.log(`\nfigures of every round: ${file}`);
}

function progress(text: string): void {
  console.error(`[bench] ${text}`);
}
