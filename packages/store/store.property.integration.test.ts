import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Store, StoreChange } from './contract.ts';
import { MemoryStore } from './drivers/memory/memory-store.ts';
import { openSqliteStore } from './drivers/sqlite/open.ts';
import { HandClock } from './hand-clock.ts';

type Write = { key: string; value: string | undefined; expected: 'current' | 'stale' | 'none' };
type Step =
  | { kind: 'writes'; writes: Write[] }
  | { kind: 'range'; prefix: string; from: string; limit: number; ago: number }
  | { kind: 'watch'; prefix: string; ago: number }
  | { kind: 'compact'; ago: number }
  | { kind: 'reopen' };

const key = fc.constantFrom('a', 'a/1', 'a/2', 'a/2/x', 'b', 'b\u{1f600}', 'b\uffee', '__proto__');
const prefix = fc.constantFrom('', 'a', 'a/', 'b', 'c');
const ago = fc.nat(12);
const write = fc.record({
  key,
  value: fc.option(fc.string({ maxLength: 5 }), { nil: undefined }),
  expected: fc.constantFrom('current' as const, 'current' as const, 'stale' as const, 'none' as const),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('writes'), writes: fc.array(write, { maxLength: 6 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('range'), prefix, from: key, limit: fc.nat(4), ago }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('watch'), prefix, ago }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('compact'), ago }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('reopen') }) },
) as fc.Arbitrary<Step>;

/** What a store must do, in the plainest way: all changes in a list, everything computed from it. */
class Model {
  readonly changes: { key: string; value: string | undefined; revision: number }[] = [];
  revision = 100;
  compacted = 100;

  head(name: string): number {
    const last = this.changes.findLast((change) => change.key === name);
    return last?.value === undefined ? 0 : last.revision;
  }

  write(name: string, value: string | undefined, expected: number): string {
    const head = this.head(name);
    if (head !== expected || (value === undefined && head === 0)) return 'RevisionConflict';
    this.changes.push({ key: name, value, revision: ++this.revision });
    return String(this.revision);
  }

  range(revision: number): [string, number, string][] {
    const state = new Map<string, [string, number, string]>();
    for (const change of this.changes.filter((other) => other.revision <= revision)) {
      if (change.value === undefined) state.delete(change.key);
      else state.set(change.key, [change.key, change.revision, change.value]);
    }
    return [...state.values()].sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  }
}

function textOf(value: Uint8Array | undefined): string | undefined {
  return value && Buffer.from(value).toString();
}

function expectedOf(model: Model, { key: name, expected }: Write): number {
  if (expected === 'none') return 0;
  return expected === 'stale' ? model.revision - 1 : model.head(name);
}

async function nameOfFailure(attempt: Promise<unknown>): Promise<string> {
  return attempt.then(String, (error: Error) => error.name);
}

async function runWrites(store: Store, model: Model, writes: readonly Write[]): Promise<void> {
  const outcomes = writes.map((entry) => {
    const expected = expectedOf(model, entry);
    const value = entry.value === undefined ? undefined : Buffer.from(entry.value);
    const attempt = nameOfFailure(store.commit({ key: entry.key, value, expected }));
    return { attempt, wanted: model.write(entry.key, entry.value, expected) };
  });
  for (const { attempt, wanted } of outcomes) assert.equal(await attempt, wanted);
}

async function runRange(store: Store, model: Model, query: Extract<Step, { kind: 'range' }>): Promise<void> {
  const revision = Math.max(99, model.revision - query.ago);
  const { prefix: start, from, limit } = query;
  const attempt = store.range({ prefix: start, from, limit, revision });
  if (revision < model.compacted) return assert.equal(await nameOfFailure(attempt), 'RevisionCompacted');
  const all = model.range(revision).filter(([name]) => {
    return name.startsWith(start) && Buffer.compare(Buffer.from(name), Buffer.from(from)) >= 0;
  });
  const result = await attempt;
  const records = result.records.map((record) => [record.key, record.revision, textOf(record.value)]);
  assert.deepEqual([records, result.hasMore], [all.slice(0, limit), all.length > limit]);
}

async function runWatch(store: Store, model: Model, query: Extract<Step, { kind: 'watch' }>): Promise<void> {
  const after = Math.max(99, model.revision - query.ago);
  const seen: StoreChange[] = [];
  const attempt = store.watch({ prefix: query.prefix, after }, (change) => seen.push(change));
  if (after < model.compacted) return assert.equal(await nameOfFailure(attempt), 'RevisionCompacted');
  const watch = await attempt;
  const wanted = model.changes.filter(
    (change) => change.revision > after && change.key.startsWith(query.prefix),
  );
  for (let turn = 0; turn < 100 && seen.length < wanted.length; turn++) await new Promise(setImmediate);
  watch.dispose();
  const found = seen.map((change) => ({
    key: change.key,
    value: textOf(change.value),
    revision: change.revision,
  }));
  assert.deepEqual(found, wanted);
}

async function runSteps(
  steps: readonly Step[],
  open: () => Promise<Store>,
  canReopen: boolean,
): Promise<void> {
  const model = new Model();
  let store = await open();
  for (const next of steps) {
    if (next.kind === 'writes') await runWrites(store, model, next.writes);
    else if (next.kind === 'range') await runRange(store, model, next);
    else if (next.kind === 'watch') await runWatch(store, model, next);
    else if (next.kind === 'compact') {
      const revision = Math.max(0, model.revision - next.ago);
      await store.compact(revision);
      model.compacted = Math.max(model.compacted, revision);
    } else if (canReopen) {
      await store.close();
      store = await open();
    }
    assert.deepEqual([store.revision, store.compactedRevision], [model.revision, model.compacted]);
  }
  const { records } = await store.range({ prefix: '' });
  assert.deepEqual(
    records.map((record) => [record.key, record.revision, textOf(record.value)]),
    model.range(model.revision),
  );
  await store.close();
}

test('any sequence of operations does in memory and on SQLite what the model says', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), fc.boolean(), async (steps, withRecent) => {
      await runSteps(steps, async () => new MemoryStore(), false);
      const directory = mkdtempSync(join(tmpdir(), 'sheaf-property-'));
      const recent = { changes: withRecent ? 5 : 0, bytes: 1 << 20 };
      const open = (): Promise<Store> => openSqliteStore({ directory, clock: new HandClock(), recent });
      try {
        await runSteps(steps, open, true);
      } finally {
        rmSync(directory, { recursive: true, force: true });
      }
    }),
    { numRuns: Number(process.env['SHEAF_PROPERTY_RUNS'] ?? 60) },
  );
});
