import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { openSqliteStore, type Store, StoreFault } from '@sheaf/store';
import { type Contents, contentsOf, inDirectory, isFault, sequence } from './fault-fixture.ts';
import { systemClock } from './system-clock.ts';

const clock = systemClock;

async function fill(store: Store, count: number): Promise<void> {
  const below = sequence(count);
  for (let index = 0; index < count; index++) {
    const key = `k/${below(40)}`;
    const head = await store.get(key);
    const value = head && below(5) === 0 ? undefined : Buffer.alloc(below(10) === 0 ? 9000 : 300, `${index}`);
    await store.commit({ key, value, expected: head?.revision ?? 0 });
  }
}

/** Leaves in `directory` a store as a killed process does: with a write-ahead log. */
async function leaveKilled(directory: string): Promise<Contents> {
  const live = join(directory, '..', 'live');
  const store = await openSqliteStore({ directory: live, clock });
  await fill(store, 400);
  await store.close();
  const again = await openSqliteStore({ directory: live, clock });
  await again.compact(again.revision - 250);
  await fill(again, 100);
  const contents = await contentsOf(again);
  cpSync(live, directory, { recursive: true });
  await again.close();
  return contents;
}

/** Changes some bytes of one of the files, or cuts it. */
function damage(directory: string, below: (limit: number) => number): string {
  const name = ['store.db', 'store.db', 'store.db-wal', 'store.db-wal', 'store.mark'][below(5)]!;
  const path = join(directory, name);
  const content = readFileSync(path);
  if (below(12) === 0) {
    const length = below(content.length);
    writeFileSync(path, content.subarray(0, length));
    return `${name} cut to ${length}`;
  }
  const at = below(content.length);
  for (let index = at; index < Math.min(content.length, at + 1 + below(8)); index++) {
    content[index] = content[index]! ^ (1 + below(255));
  }
  writeFileSync(path, content);
  return `${name} at ${at}`;
}

test('a damaged store opens with everything intact, or says what is damaged', (context) =>
  inDirectory(async (directory) => {
    const killed = join(directory, 'killed');
    const expected = await leaveKilled(killed);
    const below = sequence(Number(process.env['SHEAF_DAMAGE_SEED'] ?? 5));
    const rounds = Number(process.env['SHEAF_DAMAGE_ROUNDS'] ?? 60);
    const counts = { intact: 0, refused: 0, 'history refused': 0 };
    for (let round = 0; round < rounds; round++) {
      const victim = join(directory, 'victim');
      rmSync(victim, { recursive: true, force: true });
      cpSync(killed, victim, { recursive: true });
      counts[await tryDamaged(victim, { what: damage(victim, below), expected })]++;
    }
    context.diagnostic(JSON.stringify(counts));
    assert.ok(counts.refused > 0 && counts.intact > 0);
  }));

async function tryDamaged(
  directory: string,
  { what, expected }: { what: string; expected: Contents },
): Promise<'intact' | 'refused' | 'history refused'> {
  let store: Store;
  try {
    store = await openSqliteStore({ directory, clock });
  } catch (error) {
    assert.ok(isFault('corrupt', 'newer-version')(error), `${what}: ${String(error)}`);
    return 'refused';
  }
  const found = await contentsOf(store);
  await store.close().catch(isFault('corrupt'));
  assert.deepEqual(found.records, expected.records, what);
  assert.equal(found.revision, expected.revision, what);
  if (!found.end) {
    assert.deepEqual(found.history, expected.history, what);
    return 'intact';
  }
  assert.ok(isFault('corrupt')(found.end), what);
  assert.deepEqual(found.history, expected.history.slice(0, found.history.length), what);
  return 'history refused';
}

test('a lost write-ahead log is noticed, as is an older copy of the database', () =>
  inDirectory(async (directory) => {
    const killed = join(directory, 'killed');
    await leaveKilled(killed);
    rmSync(join(killed, 'store.db-wal'));
    await assert.rejects(openSqliteStore({ directory: killed, clock }), isFault('corrupt'));

    const data = join(directory, 'data');
    const store = await openSqliteStore({ directory: data, clock });
    await fill(store, 20);
    await store.close();
    copyFileSync(join(data, 'store.db'), join(directory, 'older'));
    const again = await openSqliteStore({ directory: data, clock });
    await fill(again, 20);
    await again.close();
    copyFileSync(join(directory, 'older'), join(data, 'store.db'));
    await assert.rejects(openSqliteStore({ directory: data, clock }), isFault('corrupt'));
    rmSync(join(data, 'store.db'));
    await assert.rejects(openSqliteStore({ directory: data, clock }), isFault('corrupt'));
  }));

test('a store of a newer program is not touched', () =>
  inDirectory(async (directory) => {
    await (await openSqliteStore({ directory, clock })).close();
    const database = new DatabaseSync(join(directory, 'store.db'));
    database.exec('ALTER TABLE state ADD COLUMN later INTEGER; UPDATE state SET format = 2');
    database.close();
    await assert.rejects(openSqliteStore({ directory, clock }), isFault('newer-version'));
  }));

test('a store is held by one process, and free as soon as that is killed', () =>
  inDirectory(async (directory) => {
    const holder = spawn(process.execPath, [join(import.meta.dirname, 'kill-victim.ts'), directory, '1'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await new Promise((resolve) => holder.stdout.once('data', resolve));
    holder.stdout.resume();
    await assert.rejects(openSqliteStore({ directory, clock }), isFault('locked'));
    const ended = new Promise((resolve) => holder.once('close', resolve));
    holder.kill('SIGKILL');
    await ended;
    const store = await openSqliteStore({ directory, clock });
    await assert.rejects(openSqliteStore({ directory, clock }), isFault('locked'));
    // The refused attempt must not have taken the lock away.
    const other = spawn(process.execPath, [join(import.meta.dirname, 'kill-victim.ts'), directory, '1'], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let complaint = '';
    other.stderr.on('data', (chunk) => {
      complaint += String(chunk);
    });
    await new Promise((resolve) => other.once('close', resolve));
    assert.match(complaint, /in use by another process/);
    await store.close();
  }));

test('a disk that fails to sync takes back what was not acknowledged, and says so until the restart', () =>
  inDirectory(async (directory) => {
    let isFailing = false;
    const sync = async (): Promise<void> => {
      if (isFailing) throw Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' });
    };
    const store = await openSqliteStore({ directory, clock, sync });
    await fill(store, 30);
    const before = await contentsOf(store);
    isFailing = true;
    const first = store.commit({ key: 'a', value: Buffer.from('1'), expected: 0 });
    const chained = store.commit({ key: 'a', value: Buffer.from('2'), expected: before.revision + 1 });
    await assert.rejects(first, isFault('io'));
    await assert.rejects(chained, isFault('io'));
    isFailing = false;
    await assert.rejects(store.commit({ key: 'b', value: Buffer.from('1'), expected: 0 }), isFault('io'));
    assert.deepEqual(await contentsOf(store), before);
    await store.close();
    const again = await openSqliteStore({ directory, clock });
    assert.deepEqual(await contentsOf(again), before);
    await again.close();
  }));

test('a data directory that cannot be written is reported', async () => {
  assert.ok(existsSync('/proc/self'));
  await assert.rejects(openSqliteStore({ directory: '/proc/self/none', clock }), (error: unknown) => {
    return error instanceof StoreFault && error.kind === 'io';
  });
});
