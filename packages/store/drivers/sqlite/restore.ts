import { copyFileSync, existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Clock } from '@sheaf/base';
import { StoreFault } from '../../contract.ts';
import { AcknowledgedMark } from './acknowledged-mark.ts';
import { syncPath } from './backup.ts';
import { closeQuietly, databaseName, ensureDirectory, markName, openDatabase } from './connection.ts';
import { syncDirectory } from './durable-files.ts';
import { toStoreFault } from './faults.ts';
import { HeadTable } from './head-table.ts';
import { loadLog, verifiedRow } from './load.ts';
import { stateColumns, updateState } from './schema.ts';
import { transaction } from './transaction.ts';

/** More writes than a store can make in a millisecond. */
const revisionsPerMs = 20;
const smallestJump = 1_000_000;

export interface RestoreOptions {
  /** A backup made by `Store.backup`; it is only read. */
  readonly from: string;
  /** The data directory. What it held is kept beside as `store.db.replaced`, until the next restore. */
  readonly directory: string;
  readonly clock: Clock;
}

/**
 * Puts a backup in place of the store of a data directory; returns the revision it goes on from.
 *
 * Clients have seen revisions that were given out after the backup was made. If they were given out again, with other
 * content, an informer would wait for a version "in the future" or, worse, resume a watch in a history that never was.
 * So the restored store goes on above any revision ever given out: above the acknowledged mark of the directory, and,
 * as that may be lost with the disk, above what the time since the backup could have held at the highest rate. Everything
 * before counts as compacted: every watch begins anew with a list.
 *
 * @throws StoreFault `locked` when a server uses the directory, `corrupt` when the backup is damaged; then nothing changed
 */
export function restoreBackup(options: RestoreOptions): number {
  const { from, directory } = options;
  const copy = join(directory, `${databaseName}.restoring`);
  try {
    checkNotInUse(directory);
    ensureDirectory(directory);
    removeDatabase(copy);
    copyFileSync(from, copy);
    const revision = moveOn(copy, options);
    syncPath(copy);
    replaceDatabase(directory, copy);
    return revision;
  } catch (error) {
    removeDatabase(copy);
    throw toStoreFault(error, from);
  }
}

function checkNotInUse(directory: string): void {
  if (!existsSync(join(directory, databaseName))) return;
  try {
    openDatabase(directory).close();
  } catch (error) {
    // A damaged store is what a restore is for.
    if (error instanceof StoreFault && error.kind === 'locked') throw error;
  }
}

/** Verifies the copy in full and moves its revision on. */
function moveOn(path: string, options: RestoreOptions): number {
  const database = new DatabaseSync(path);
  try {
    const loaded = loadLog(database, path);
    let newest = 0;
    for (const found of database.prepare('SELECT * FROM revisions').iterate()) {
      newest = Math.max(newest, verifiedRow(found, path).time);
    }
    const elapsedMs = newest === 0 ? 0 : Math.max(0, options.clock.now() - newest);
    const jump = Math.max(smallestJump, Math.ceil(elapsedMs) * revisionsPerMs);
    const revision = Math.max(loaded.revision, acknowledged(options.directory)) + jump;
    const heads = new HeadTable(database, {
      count: loaded.state.headCount,
      digest: loaded.state.headDigest,
    });
    heads.resume(loaded.unflushed);
    transaction(database, () => {
      const { count, digest } = heads.write();
      const state = {
        flushed: revision,
        compacted: revision,
        swept: loaded.state.swept,
        historyBytes: loaded.historyBytes,
        revisions: loaded.revisions,
        headCount: count,
        headDigest: digest,
      };
      database.prepare(updateState).run(...stateColumns(state));
    });
    database.close();
    return revision;
  } finally {
    closeQuietly(database);
  }
}

function acknowledged(directory: string): number {
  const mark = new AcknowledgedMark(join(directory, markName));
  mark.close();
  return mark.revision;
}

/** At no moment does a write-ahead log lie beside a database that is not its own. */
function replaceDatabase(directory: string, copy: string): void {
  const path = join(directory, databaseName);
  const replaced = `${path}.replaced`;
  removeDatabase(replaced);
  for (const suffix of ['', '-wal']) {
    if (existsSync(path + suffix)) renameSync(path + suffix, replaced + suffix);
  }
  renameSync(copy, path);
  syncDirectory(directory);
}

function removeDatabase(path: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true });
}
