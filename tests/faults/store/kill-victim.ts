/**
 * A process that writes to a store until it is killed. On its standard output, a line of JSON for each outcome; what it
 * printed as acknowledged was resolved by the store before.
 */
import { writeSync } from 'node:fs';
import { openSqliteStore, RevisionConflict, type Store } from '@sheaf/store';
import { systemClock } from './system-clock.ts';

const [directory = '', seed = '1'] = process.argv.slice(2);
const writers = 24;
const keysPerWriter = 5;
let random = Number(seed) >>> 0;
let count = 0;

function below(limit: number): number {
  random = (Math.imul(random, 1664525) + 1013904223) >>> 0;
  return Math.floor((random / 2 ** 32) * limit);
}

function report(line: object): void {
  writeSync(1, `${JSON.stringify(line)}\n`);
}

/** A value that nobody else writes; now and then a big one, so that the log is written back often. */
function nextValue(): { token: string; value: Uint8Array } {
  const token = `${seed}-${count++}`;
  const length = below(20) === 0 ? below(300_000) : below(3000);
  return { token, value: Buffer.from(`${token}|${'x'.repeat(length)}`) };
}

async function writeOnce(store: Store, key: string): Promise<void> {
  const head = await store.get(key);
  const isStale = below(10) === 0;
  const { token, value } = nextValue();
  const isDeletion = head !== undefined && !isStale && below(4) === 0;
  const expected = isStale ? 7 : (head?.revision ?? 0);
  try {
    const revision = await store.commit({ key, value: isDeletion ? undefined : value, expected });
    report({ revision, key, token: isDeletion ? '' : token });
  } catch (error) {
    if (!(error instanceof RevisionConflict)) throw error;
    report({ refused: token });
  }
}

async function writeOn(store: Store, writer: number): Promise<void> {
  for (;;) await writeOnce(store, `k/${writer}/${below(keysPerWriter)}`);
}

const store = await openSqliteStore({ directory, clock: systemClock });
const start = store.revision;
report({ opened: start });
setInterval(() => void store.compact(start), 15);
await Promise.all(Array.from({ length: writers }, (_, writer) => writeOn(store, writer)));
