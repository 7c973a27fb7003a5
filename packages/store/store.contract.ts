import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  FutureRevision,
  RevisionCompacted,
  RevisionConflict,
  type Store,
  type StoreChange,
  StoreFault,
  type StoreSize,
} from './contract.ts';

/** Gives each test a store of its own and ends it afterwards. */
export type WithStore = (use: (store: Store) => Promise<void>) => Promise<void>;

/** What every driver must do. */
export function testStore(driver: string, withStore: WithStore): void {
  const check = (name: string, use: (store: Store) => Promise<void>): void => {
    test(`${driver} store: ${name}`, () => withStore(use));
  };
  check('starts empty, above revision 1', startsEmpty);
  check('gives each write the next revision, in the order of the calls', ordersWrites);
  check('shares the arrays that were committed', sharesArrays);
  check('refuses a write to a key that has changed', refusesStale);
  check('lets exactly one of racing writes win', racesOnce);
  check('lets a write build on a pending one', chainsWrites);
  check('refuses keys that are none', refusesKeys);
  check('keeps odd keys and values', keepsOddKeys);
  check('lists in key order, by prefix, from a key, up to a limit', listsInOrder);
  check('shows the state as of each revision', showsThePast);
  check('pages through an old revision while writes go on', pagesThroughThePast);
  check('knows neither the future nor what is compacted', knowsItsBounds);
  check('forgets history, keeps what is newest', compacts);
  check('accounts for its size', accountsForSize);
  check('delivers a live change before the commit resolves', deliversBeforeResolving);
  check('watches from the past without gap or duplicate under writes', watchesFromThePast);
  check('watches from the future', watchesFromTheFuture);
  check('tells each change what it replaced', tellsPrevious);
  check('serves many watchers by prefix', servesManyWatchers);
  check('goes on when a listener throws or ends itself', survivesListeners);
  check('ends a watch in the past from its listener', endsPastWatch);
  check('compacts under a watch that is catching up', compactsUnderWatch);
  check('commits what is pending when it closes, then refuses', closes);
}

const text = new TextEncoder();

function bytes(value: string): Uint8Array {
  return text.encode(value);
}

function put(store: Store, key: string, expected = 0): Promise<number> {
  return store.commit({ key, value: bytes(`${key}=${expected}`), expected });
}

function remove(store: Store, key: string, expected: number): Promise<number> {
  return store.commit({ key, value: undefined, expected });
}

async function keysOf(store: Store, query: Parameters<Store['range']>[0]): Promise<string[]> {
  return (await store.range(query)).records.map((record) => record.key);
}

/** Waits until `store` has let a watch from the past catch up. */
async function eventually(isDone: () => boolean): Promise<void> {
  for (let turn = 0; turn < 10_000 && !isDone(); turn++)
    await new Promise((resolve) => setImmediate(resolve));
  assert.ok(isDone(), 'does not happen');
}

async function startsEmpty(store: Store): Promise<void> {
  assert.ok(store.revision > 1);
  assert.equal(store.compactedRevision, store.revision);
  assert.deepEqual(await store.range({ prefix: '' }), {
    records: [],
    revision: store.revision,
    hasMore: false,
  });
  assert.equal(await store.get('a'), undefined);
  assert.deepEqual(await store.size(), { liveBytes: 0, historyBytes: 0, keys: 0, revisions: 0 });
}

async function ordersWrites(store: Store): Promise<void> {
  const start = store.revision;
  const revisions = await Promise.all(['c', 'a', 'b'].map((key) => put(store, key)));
  assert.deepEqual(revisions, [start + 1, start + 2, start + 3]);
  assert.equal(store.revision, start + 3);
  assert.equal(await put(store, 'a', start + 2), start + 4);
}

async function sharesArrays(store: Store): Promise<void> {
  const value = bytes('v');
  const seen: StoreChange[] = [];
  await store.watch({ prefix: '', after: store.revision }, (change) => seen.push(change));
  await store.commit({ key: 'a', value, expected: 0 });
  const record = await store.get('a');
  assert.equal(record?.value, value);
  assert.equal(seen[0]?.value, value);
  assert.equal((await store.range({ prefix: 'a' })).records[0], record);
}

async function refusesStale(store: Store): Promise<void> {
  const revision = await put(store, 'a');
  await assert.rejects(put(store, 'a'), conflictAt(revision));
  await assert.rejects(put(store, 'a', revision - 1), conflictAt(revision));
  await assert.rejects(put(store, 'b', revision), conflictAt(0));
  await assert.rejects(remove(store, 'b', 0), conflictAt(0));
  const deleted = await remove(store, 'a', revision);
  await assert.rejects(put(store, 'a', deleted), conflictAt(0));
  await assert.rejects(remove(store, 'a', deleted), conflictAt(0));
  assert.equal(await put(store, 'a'), deleted + 1);
}

function conflictAt(current: number) {
  return (error: unknown) => error instanceof RevisionConflict && error.current === current;
}

async function racesOnce(store: Store): Promise<void> {
  const attempts = Array.from({ length: 50 }, (_, index) =>
    store.commit({ key: 'a', value: bytes(String(index)), expected: 0 }).catch(async (error: unknown) => {
      // A loser that reads sees the winner.
      const winner = await store.get('a');
      assert.ok(error instanceof RevisionConflict && error.current === winner?.revision);
      return 0;
    }),
  );
  const revisions = await Promise.all(attempts);
  assert.equal(revisions.filter((revision) => revision > 0).length, 1);
  assert.deepEqual((await store.get('a'))?.value, bytes('0'));
}

async function chainsWrites(store: Store): Promise<void> {
  const first = await put(store, 'a');
  const chain = [
    remove(store, 'a', first),
    put(store, 'a', 0),
    put(store, 'a', first + 2),
    remove(store, 'a', first + 3),
    put(store, 'a', 0),
  ];
  assert.deepEqual(await Promise.all(chain), [first + 1, first + 2, first + 3, first + 4, first + 5]);
  assert.equal((await store.get('a'))?.revision, first + 5);
}

async function refusesKeys(store: Store): Promise<void> {
  for (const key of ['', 'a\0b', 'a\ud800']) await assert.rejects(put(store, key), TypeError);
  assert.equal((await store.size()).revisions, 0);
}

const oddKeys = [
  '/',
  '//',
  ' ',
  "'; DROP TABLE revisions; --",
  '%_*?[a-z]',
  '__proto__',
  'constructor',
  'é',
  '\u{1f600}',
  '\uffee',
  '\n',
  'x'.repeat(5000),
];

async function keepsOddKeys(store: Store): Promise<void> {
  const values = [new Uint8Array(0), new Uint8Array(1.5 * 1024 * 1024).fill(7), bytes('\0')];
  for (const [index, key] of oddKeys.entries()) {
    const value = values[index % values.length]!;
    const revision = await store.commit({ key, value, expected: 0 });
    assert.deepEqual(await store.get(key), { key, value, revision });
  }
  const inByteOrder = oddKeys.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  assert.deepEqual(await keysOf(store, { prefix: '' }), inByteOrder);
  assert.deepEqual(await keysOf(store, { prefix: '%' }), ['%_*?[a-z]']);
}

async function listsInOrder(store: Store): Promise<void> {
  const names = ['p/a/2', 'p/a/1', 'p/a', 'p/b/1', 'p/a/10', 'p0', 'o', 'p/a-b/1', 'q'];
  for (const name of names) await put(store, name);
  const inPods = ['p/a', 'p/a-b/1', 'p/a/1', 'p/a/10', 'p/a/2', 'p/b/1'];
  assert.deepEqual(await keysOf(store, { prefix: 'p/' }), inPods);
  assert.deepEqual(await keysOf(store, { prefix: 'p/a/' }), ['p/a/1', 'p/a/10', 'p/a/2']);
  assert.deepEqual(await keysOf(store, { prefix: 'p/', from: 'p/a/10' }), inPods.slice(3));
  assert.deepEqual(await keysOf(store, { prefix: 'p/', from: 'p/a/10\0' }), inPods.slice(4));
  assert.deepEqual(await keysOf(store, { prefix: 'p/', from: 'a' }), inPods);
  assert.deepEqual(await keysOf(store, { prefix: 'p/', from: 'z' }), []);
  assert.deepEqual(await keysOf(store, { prefix: 'zz' }), []);
  const page = await store.range({ prefix: 'p/', from: 'p/a-b/1', limit: 2 });
  assert.deepEqual([page.records.map((record) => record.key), page.hasMore], [inPods.slice(1, 3), true]);
  assert.equal((await store.range({ prefix: 'p/', limit: 6 })).hasMore, false);
  assert.equal((await store.range({ prefix: 'p/', limit: 5 })).hasMore, true);
}

/** A few hundred writes to few keys; returns the state after each. */
async function writeHistory(store: Store, count: number): Promise<Map<number, ReadonlyMap<string, number>>> {
  const state = new Map<string, number>();
  const states = new Map<number, ReadonlyMap<string, number>>([[store.revision, new Map()]]);
  for (let index = 0; index < count; index++) {
    const key = `k/${(index * 7) % 13}`;
    const expected = state.get(key) ?? 0;
    const isDeletion = expected !== 0 && index % 4 === 0;
    const revision = await (isDeletion ? remove(store, key, expected) : put(store, key, expected));
    if (isDeletion) state.delete(key);
    else state.set(key, revision);
    states.set(revision, new Map(state));
  }
  return states;
}

async function stateAt(store: Store, revision: number): Promise<ReadonlyMap<string, number>> {
  const result = await store.range({ prefix: 'k/', revision });
  assert.equal(result.revision, revision);
  return new Map(result.records.map((record) => [record.key, record.revision]));
}

function sorted(state: ReadonlyMap<string, number>): [string, number][] {
  return [...state].sort(([a], [b]) => (a < b ? -1 : 1));
}

async function showsThePast(store: Store): Promise<void> {
  const states = await writeHistory(store, 120);
  for (const [revision, state] of states) {
    assert.deepEqual([...(await stateAt(store, revision))], sorted(state), `at ${revision}`);
  }
}

async function pagesThroughThePast(store: Store): Promise<void> {
  const states = await writeHistory(store, 60);
  const revision = store.revision;
  const expected = sorted(states.get(revision)!).map(([key]) => key);
  const found: string[] = [];
  let from = 'k/';
  for (let hasMore = true; hasMore; ) {
    const page = await store.range({ prefix: 'k/', from, limit: 2, revision });
    found.push(...page.records.map((record) => record.key));
    ({ hasMore } = page);
    from = `${found.at(-1)}\0`;
    for (const key of [...expected, 'k/1/new']) {
      const head = await store.get(key);
      await (head ? remove(store, key, head.revision) : put(store, key));
    }
  }
  assert.deepEqual(found, expected);
}

async function knowsItsBounds(store: Store): Promise<void> {
  const start = store.revision;
  await assert.rejects(store.range({ prefix: '', revision: start + 1 }), FutureRevision);
  await assert.rejects(store.compact(start + 1), FutureRevision);
  await assert.rejects(store.range({ prefix: '', revision: start - 1 }), RevisionCompacted);
  await assert.rejects(
    store.watch({ prefix: '', after: start - 1 }, () => {}),
    RevisionCompacted,
  );
  const revision = await put(store, 'a');
  await store.compact(revision);
  await assert.rejects(store.range({ prefix: '', revision: start }), (error: unknown) => {
    return error instanceof RevisionCompacted && error.compacted === revision;
  });
  assert.deepEqual(await keysOf(store, { prefix: '', revision }), ['a']);
}

async function compacts(store: Store): Promise<void> {
  const states = await writeHistory(store, 120);
  const middle = [...states.keys()][70]!;
  await store.compact(middle);
  await store.compact(middle - 10);
  assert.equal(store.compactedRevision, middle);
  for (const [revision, state] of states) {
    if (revision < middle) await assert.rejects(stateAt(store, revision), RevisionCompacted);
    else assert.deepEqual([...(await stateAt(store, revision))], sorted(state));
  }
  await store.compact(store.revision);
  const size = await store.size();
  assert.equal(size.revisions, size.keys);
  assert.equal(size.historyBytes, size.liveBytes);
}

/** What the store must hold, counted from all changes and where it was compacted. */
function recount(changes: readonly StoreChange[], compacted: number): StoreSize {
  const next = new Map<string, number>();
  const size = { liveBytes: 0, historyBytes: 0, keys: 0, revisions: 0 };
  for (const change of changes.toReversed()) {
    const bytesOf = change.key.length + (change.value?.length ?? 0);
    const replacedAt = next.get(change.key) ?? Number.POSITIVE_INFINITY;
    next.set(change.key, change.revision);
    const isNewest = replacedAt === Number.POSITIVE_INFINITY;
    if (isNewest && change.value) {
      size.liveBytes += bytesOf;
      size.keys++;
    }
    const isKept = change.revision > compacted || (change.value && replacedAt > compacted);
    if (!isKept) continue;
    size.historyBytes += bytesOf;
    size.revisions++;
  }
  return size;
}

async function accountsForSize(store: Store): Promise<void> {
  const changes: StoreChange[] = [];
  await store.watch({ prefix: '', after: store.revision }, (change) => changes.push(change));
  await writeHistory(store, 150);
  assert.deepEqual(await store.size(), recount(changes, 0));
  for (const at of [30, 31, 90, 149]) {
    const { revision } = changes[at]!;
    await store.compact(revision);
    assert.deepEqual(await store.size(), recount(changes, revision));
  }
}

async function deliversBeforeResolving(store: Store): Promise<void> {
  let seen = 0;
  await store.watch({ prefix: 'a', after: store.revision }, (change) => {
    assert.equal(store.revision, change.revision);
    seen = change.revision;
  });
  for (let index = 0, revision = 0; index < 10; index++) {
    revision = await put(store, 'a', revision);
    assert.equal(seen, revision);
  }
}

async function watchesFromThePast(store: Store): Promise<void> {
  const start = store.revision;
  const all: StoreChange[] = [];
  await store.watch({ prefix: '', after: start }, (change) => all.push(change));
  const watches: { after: number; seen: StoreChange[] }[] = [];
  let isWriting = true;
  const writer = async (name: string): Promise<void> => {
    for (let index = 1, revision = 0; isWriting; index++) {
      revision = await put(store, `w/${name}`, revision);
      // A store in memory would never let anything else run.
      if (index % 20 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const writers = ['a', 'b', 'c'].map(writer);
  for (let round = 0; round < 40; round++) {
    const behind = [0, 1, 5, 300][round % 4]!;
    const after = Math.max(start, store.revision - behind);
    const watch = { after, seen: [] as StoreChange[] };
    watches.push(watch);
    await store.watch({ prefix: '', after }, (change) => watch.seen.push(change));
    await new Promise((resolve) => setImmediate(resolve));
  }
  isWriting = false;
  await Promise.all(writers);
  for (const { after, seen } of watches) {
    await eventually(() => seen.at(-1)?.revision === store.revision);
    const expected = all.filter((change) => change.revision > after).map((change) => change.revision);
    assert.deepEqual(
      seen.map((change) => change.revision),
      expected,
    );
  }
}

async function watchesFromTheFuture(store: Store): Promise<void> {
  const seen: number[] = [];
  await store.watch({ prefix: '', after: store.revision + 2 }, (change) => seen.push(change.revision));
  const revisions = [
    await put(store, 'a'),
    await put(store, 'b'),
    await put(store, 'c'),
    await put(store, 'd'),
  ];
  assert.deepEqual(seen, revisions.slice(2));
}

async function tellsPrevious(store: Store): Promise<void> {
  const start = store.revision;
  const live: StoreChange[] = [];
  await store.watch({ prefix: '', after: start }, (change) => live.push(change));
  await Promise.all([
    put(store, 'a'),
    put(store, 'a', start + 1),
    remove(store, 'a', start + 2),
    put(store, 'a'),
  ]);
  const expected = [
    { key: 'a', value: bytes('a=0'), revision: start + 1, previous: undefined },
    {
      key: 'a',
      value: bytes(`a=${start + 1}`),
      revision: start + 2,
      previous: { key: 'a', value: bytes('a=0'), revision: start + 1 },
    },
    {
      key: 'a',
      value: undefined,
      revision: start + 3,
      previous: { key: 'a', value: bytes(`a=${start + 1}`), revision: start + 2 },
    },
    { key: 'a', value: bytes('a=0'), revision: start + 4, previous: undefined },
  ];
  assert.deepEqual(live, expected);
  const past: StoreChange[] = [];
  await store.watch({ prefix: 'a', after: start }, (change) => past.push(change));
  await eventually(() => past.length === 4);
  assert.deepEqual(past, expected);
}

async function servesManyWatchers(store: Store): Promise<void> {
  const counts = Array.from({ length: 300 }, () => 0);
  const handles = await Promise.all(
    counts.map((_, index) =>
      store.watch({ prefix: `n${index % 10}/`, after: store.revision }, () => counts[index]!++),
    ),
  );
  await Promise.all(Array.from({ length: 100 }, (_, index) => put(store, `n${index % 10}/${index}`)));
  assert.ok(counts.every((count) => count === 10));
  for (const handle of handles) handle.dispose();
  handles[0]?.dispose();
  await put(store, 'n1/x');
  assert.ok(counts.every((count) => count === 10));
}

async function survivesListeners(store: Store): Promise<void> {
  const seen: string[] = [];
  await store.watch({ prefix: '', after: store.revision }, () => {
    seen.push('throws');
    throw new Error('a listener that throws');
  });
  const ending = await store.watch({ prefix: '', after: store.revision }, () => {
    seen.push('ends');
    ending.dispose();
    other.dispose();
  });
  const other = await store.watch({ prefix: '', after: store.revision }, () => seen.push('ended by another'));
  await store.watch({ prefix: '', after: store.revision }, (change) => {
    seen.push('starts');
    if (change.key === 'a') {
      void store.watch({ prefix: '', after: change.revision }, () => seen.push('started'));
    }
  });
  await put(store, 'a');
  assert.deepEqual(seen.splice(0), ['throws', 'ends', 'starts']);
  await put(store, 'b');
  assert.deepEqual(seen, ['throws', 'starts', 'started']);
}

async function endsPastWatch(store: Store): Promise<void> {
  const start = store.revision;
  await writeHistory(store, 20);
  const seen: number[] = [];
  const watch = await store.watch({ prefix: '', after: start }, (change) => {
    seen.push(change.revision);
    if (seen.length === 3) watch.dispose();
  });
  await eventually(() => seen.length >= 3);
  await put(store, 'z');
  assert.deepEqual(seen, [start + 1, start + 2, start + 3]);
}

async function compactsUnderWatch(store: Store): Promise<void> {
  const start = store.revision;
  await Promise.all(Array.from({ length: 3000 }, (_, index) => put(store, `k/${index}`)));
  await Promise.all(Array.from({ length: 3000 }, (_, index) => put(store, `k/${index}`, start + 1 + index)));
  const seen: StoreChange[] = [];
  await store.watch({ prefix: '', after: start }, (change) => seen.push(change));
  await store.compact(store.revision);
  await eventually(() => seen.length === 6000);
  assert.ok(seen.every((change, index) => change.revision === start + 1 + index));
  assert.ok(seen.slice(3000).every((change) => change.previous?.revision === change.revision - 3000));
  assert.equal((await store.size()).revisions, 3000);
}

async function closes(store: Store): Promise<void> {
  const ends: Error[] = [];
  await store.watch({ prefix: '', after: store.revision, onEnd: (cause) => ends.push(cause) }, () => {});
  const pending = [put(store, 'a'), put(store, 'b')];
  const closing = store.close();
  const isClosed = (error: unknown): boolean => error instanceof StoreFault && error.kind === 'closed';
  await assert.rejects(put(store, 'c'), isClosed);
  assert.equal((await Promise.all(pending)).length, 2);
  await closing;
  await store.close();
  await assert.rejects(store.get('a'), isClosed);
  await assert.rejects(store.range({ prefix: '' }), isClosed);
  await assert.rejects(store.size(), isClosed);
  assert.ok(ends.length === 1 && isClosed(ends[0]));
}
