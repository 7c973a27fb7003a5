import type { DatabaseSync } from 'node:sqlite';

/** Runs `task` in a transaction: all of it or, if it throws, nothing. */
export function transaction<T>(database: DatabaseSync, task: () => T): T {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = task();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    // SQLite has rolled back by itself after some failures.
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}
