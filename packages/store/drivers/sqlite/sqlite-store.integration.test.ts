import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { RevisionCompacted, type Store, StoreFault, type StoreFaultKind } from '../../contract.ts';
import { HandClock } from '../../hand-clock.ts';
import { testStore } from '../../store.contract.ts';
import { openSqliteStore, type SqliteStoreOptions } from './open.ts';
import { restoreBackup } from './restore.ts';

const noRecent = { recent: { changes: 0, bytes: 0 } };

async function inDirectory(use: (directory: string) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'sheaf-store-'));
  try {
    await use(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function withStore(
  options: Partial<SqliteStoreOptions>,
  use: (store: Store) => Promise<void>,
): Promise<void> {
  return inDirectory(async (directory) => {
    const store = await openSqliteStore({ directory, clock: new HandClock(), ...options });
    await use(store);
    await store.close();
  });
}

testStore('sqlite', (use) => withStore({}, use));
testStore('sqlite without history in memory', (use) => withStore(noRecent, use));

function value(text: string): Uint8Array {
  return Buffer.from(text);
}

function isFault(kind: StoreFaultKind) {
  return (error: unknown) => error instanceof StoreFault && error.kind === kind && error.wayOut !== '';
}

/** Writes `count` revisions to a few keys, some of them deletions. */
async function fill(store: Store, count: number): Promise<void> {
  for (let index = 0; index < count; index++) {
    const key = `k/${index % 17}`;
    const head = await store.get(key);
    const next = head && index % 5 === 0 ? undefined : value(`${index}`);
    await store.commit({ key, value: next, expected: head?.revision ?? 0 });
  }
}

async function snapshot(store: Store) {
  const { records, revision } = await store.range({ prefix: '' });
  return {
    revision,
    compacted: store.compactedRevision,
    size: await store.size(),
    records: records.map((record) => [record.key, record.revision, Buffer.from(record.value).toString()]),
  };
}

test('a store shows the same after it was closed and opened', () =>
  inDirectory(async (directory) => {
    const options = { directory, clock: new HandClock() };
    for (let round = 0; round < 4; round++) {
      const store = await openSqliteStore(options);
      const start = store.revision;
      await fill(store, 40);
      if (round === 2) await store.compact(start + 20);
      const before = await snapshot(store);
      await store.close();
      const again = await openSqliteStore(options);
      assert.deepEqual(await snapshot(again), before);
      await again.close();
    }
  }));

test('nobody but the owner can read the files', () =>
  inDirectory(async (directory) => {
    const store = await openSqliteStore({ directory, clock: new HandClock() });
    await store.backup(join(directory, 'backup'));
    for (const name of ['store.db', 'store.db-wal', 'store.mark', 'backup']) {
      assert.equal(statSync(join(directory, name)).mode & 0o077, 0, name);
    }
    await store.close();
  }));

test('the write-ahead log is written back and does not grow', () =>
  inDirectory(async (directory) => {
    const store = await openSqliteStore({ directory, clock: new HandClock() });
    const big = new Uint8Array(256 << 10);
    for (let index = 0, revision = 0; index < 100; index++) {
      revision = await store.commit({ key: 'big', value: big, expected: revision });
    }
    assert.ok(statSync(join(directory, 'store.db-wal')).size < 12 << 20);
    assert.ok(statSync(join(directory, 'store.db')).size > 16 << 20);
    await store.close();
  }));

test('history is forgotten by age, and by size if there is too much', () =>
  inDirectory(async (directory) => {
    const clock = new HandClock();
    const retention = { minimumAgeMs: 3_600_000, maximumBytes: 1 << 20 };
    const store = await openSqliteStore({ directory, clock, retention });
    const start = store.revision;
    await fill(store, 600);
    await passMinute(clock);
    assert.equal(store.compactedRevision, start);
    clock.advance(3_600_000);
    await passMinute(clock);
    assert.equal(store.compactedRevision, start + 512);
    const big = new Uint8Array(32 << 10);
    for (let index = 0, revision = 0; index < 600; index++) {
      revision = await store.commit({ key: 'big', value: big, expected: revision });
    }
    await passMinute(clock);
    await passMinute(clock);
    const { historyBytes, liveBytes } = await store.size();
    assert.ok(historyBytes - liveBytes < (1 << 20) + 256 * (32 << 10), `${historyBytes}`);
    await store.close();
  }));

async function passMinute(clock: HandClock): Promise<void> {
  clock.advance(60_000);
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
}

test('a backup restores what it held, above every revision given out', () =>
  inDirectory(async (directory) => {
    const clock = new HandClock();
    const data = join(directory, 'data');
    const backup = join(directory, 'backup');
    const store = await openSqliteStore({ directory: data, clock });
    await fill(store, 300);
    const saved = await snapshot(store);
    await store.backup(backup);
    await assert.rejects(store.backup(backup), isFault('io'));
    await fill(store, 100);
    const lost = store.revision;
    assert.throws(() => restoreBackup({ from: backup, directory: data, clock }), isFault('locked'));
    await store.close();

    clock.advance(86_400_000);
    const base = restoreBackup({ from: backup, directory: data, clock });
    assert.equal(base, lost + 86_400_000 * 20);
    const restored = await openSqliteStore({ directory: data, clock });
    const found = await snapshot(restored);
    assert.deepEqual(found.records, saved.records);
    assert.equal(restored.revision, base);
    await assert.rejects(
      restored.watch({ prefix: '', after: lost }, () => {}),
      RevisionCompacted,
    );
    assert.equal(await restored.commit({ key: 'new', value: value('x'), expected: 0 }), base + 1);
    await restored.compact(restored.revision);
    const size = await restored.size();
    assert.equal(size.revisions, size.keys);
    await restored.close();
    const again = await openSqliteStore({ directory: data, clock });
    assert.equal(again.revision, base + 1);
    await again.close();
  }));

test('a backup taken under writes is one state', () =>
  inDirectory(async (directory) => {
    const clock = new HandClock();
    const store = await openSqliteStore({ directory: join(directory, 'data'), clock });
    for (let index = 0; index < 20; index++) {
      await store.commit({ key: `big/${index}`, value: new Uint8Array(256 << 10), expected: 0 });
    }
    let isDone = false;
    const done = store.backup(join(directory, 'backup')).finally(() => {
      isDone = true;
    });
    let [a, b] = [0, 0];
    for (let index = 0; !isDone; index++) {
      // Both keys carry the same number; a state in between may differ by one.
      a = await store.commit({ key: 'a', value: value(`${index}`), expected: a });
      b = await store.commit({ key: 'b', value: value(`${index}`), expected: b });
    }
    await done;
    await store.close();
    restoreBackup({ from: join(directory, 'backup'), directory: join(directory, 'copy'), clock });
    const copy = await openSqliteStore({ directory: join(directory, 'copy'), clock });
    const numbers = await Promise.all(
      ['a', 'b'].map(async (key) =>
        Number(Buffer.from((await copy.get(key))?.value ?? value('0')).toString()),
      ),
    );
    assert.ok(numbers[0]! - numbers[1]! <= 1 && numbers[0]! >= numbers[1]!, numbers.join());
    await copy.close();
  }));

test('a damaged backup is refused and changes nothing', () =>
  inDirectory(async (directory) => {
    const clock = new HandClock();
    const data = join(directory, 'data');
    const store = await openSqliteStore({ directory: data, clock });
    await fill(store, 50);
    const before = await snapshot(store);
    await store.backup(join(directory, 'backup'));
    await store.close();
    const damaged = new DatabaseSync(join(directory, 'backup'));
    damaged.exec("UPDATE revisions SET value = x'00' WHERE revision = 120");
    damaged.close();
    writeFileSync(join(directory, 'none'), 'not a database');
    for (const name of ['backup', 'none']) {
      const restore = (): unknown => restoreBackup({ from: join(directory, name), directory: data, clock });
      assert.throws(restore, isFault('corrupt'));
    }
    const again = await openSqliteStore({ directory: data, clock });
    assert.deepEqual(await snapshot(again), before);
    await again.close();
  }));
