import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { syncDirectory } from './durable-files.ts';
import { toStoreFault } from './faults.ts';

export const databaseName = 'store.db';
export const markName = 'store.mark';

/** Keeps at most this much of the database in SQLite's own cache, in KiB: reads of history are rare. */
const cacheKibibytes = 2048;

/**
 * Opens the database of a data directory for this process alone: the lock is the operating system's and ends with the
 * process, however it ends. With it SQLite keeps the index of its write-ahead log in memory, and makes no system calls
 * to lock.
 * @throws StoreFault
 */
export function openDatabase(directory: string): DatabaseSync {
  const path = join(directory, databaseName);
  let database: DatabaseSync | undefined;
  try {
    createFile(directory, path);
    database = new DatabaseSync(path, { timeout: 0 });
    configure(database);
    return database;
  } catch (error) {
    closeQuietly(database);
    throw toStoreFault(error, path);
  }
}

/**
 * Commits are written by SQLite and brought to the disk by the journal, which waits for them elsewhere; `synchronous`
 * stays at NORMAL for the checkpoint SQLite makes itself when a database is closed.
 */
function configure(database: DatabaseSync): void {
  database.exec('PRAGMA locking_mode = EXCLUSIVE');
  database.exec('PRAGMA journal_mode = WAL');
  database.exec('PRAGMA synchronous = NORMAL');
  database.exec('PRAGMA wal_autocheckpoint = 0');
  database.exec(`PRAGMA cache_size = -${cacheKibibytes}`);
  database.exec('PRAGMA trusted_schema = OFF');
  // Takes the lock for writing now, not at the first commit.
  database.exec('BEGIN IMMEDIATE; COMMIT');
}

/** The store holds secrets: nobody but the owner reads it. */
function createFile(directory: string, path: string): void {
  ensureDirectory(directory);
  if (existsSync(path)) return;
  // Never opened if it exists: closing a second descriptor would drop SQLite's lock in this process.
  closeSync(openSync(path, 'wx', 0o600));
  syncDirectory(directory);
}

/** Not the recursive mode of `mkdir`: where the system refuses a directory as missing, as in /proc, that never ends. */
export function ensureDirectory(directory: string): void {
  if (existsSync(directory)) return;
  const parent = dirname(directory);
  if (parent !== directory) ensureDirectory(parent);
  mkdirSync(directory, { mode: 0o700 });
}

export function closeQuietly(database: DatabaseSync | undefined): void {
  try {
    database?.close();
  } catch {
    // The failure that led here is the one to report.
  }
}
