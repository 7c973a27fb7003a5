import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Store, type StoreChange, StoreFault, type StoreFaultKind } from '@sheaf/store';

/** Runs `use` with a directory of its own, which is removed afterwards. */
export async function inDirectory(use: (directory: string) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'sheaf-fault-'));
  try {
    await use(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

export function isFault(...kinds: StoreFaultKind[]) {
  return (error: unknown) => error instanceof StoreFault && kinds.includes(error.kind) && error.wayOut !== '';
}

/** A repeatable sequence of whole numbers in [0, limit). */
export function sequence(seed: number): (limit: number) => number {
  let state = seed >>> 0;
  return (limit) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

/** All that a store shows: its newest records and its whole history, or why the history ends. */
export interface Contents {
  readonly revision: number;
  readonly records: readonly (readonly [string, number, string])[];
  readonly history: readonly (readonly [string, number, string])[];
  readonly end: Error | undefined;
}

export async function contentsOf(store: Store): Promise<Contents> {
  const { records, revision } = await store.range({ prefix: '' });
  const history: (readonly [string, number, string])[] = [];
  let end: Error | undefined;
  const listener = (change: StoreChange): number =>
    history.push([change.key, change.revision, textOf(change.value)]);
  const onEnd = (cause: Error): void => {
    end = cause;
  };
  const after = store.compactedRevision;
  const watch = await store.watch({ prefix: '', after, onEnd }, listener);
  while (!end && (history.at(-1)?.[1] ?? after) < revision)
    await new Promise((resolve) => setImmediate(resolve));
  watch.dispose();
  return {
    revision,
    records: records.map((record) => [record.key, record.revision, textOf(record.value)]),
    history,
    end,
  };
}

function textOf(value: Uint8Array | undefined): string {
  return value ? Buffer.from(value).toString('latin1') : '(deleted)';
}
