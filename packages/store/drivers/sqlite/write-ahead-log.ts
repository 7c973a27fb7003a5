import { closeSync, fstatSync, openSync, write } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import type { SyncFile } from './durable-files.ts';

/** How much the log holds before it is written back, in bytes. Write-back takes a few milliseconds per 4 MiB. */
const writeBackBytes = 4 << 20;
const headerBytes = 32;

/**
 * The write-ahead log of an exclusively opened database. SQLite writes it; bringing it to the disk and emptying it is
 * done here, in SQLite's own order, but without blocking the event loop on the disk:
 *
 * 1. the log is synced, 2. its pages are written back to the database, 3. the database is synced, 4. only then the log's
 * header is erased and synced. A crash before 4 replays the whole log, a crash after it finds everything in the database.
 * The file keeps its size, and overwriting is what makes the next commits cheap to sync.
 */
export class WriteAheadLog {
  readonly #database: DatabaseSync;
  readonly #sync: SyncFile;
  readonly #databaseFile: number;
  readonly #logFile: number;
  #written = 0;
  #limit = writeBackBytes;

  constructor(database: DatabaseSync, options: { readonly path: string; readonly sync: SyncFile }) {
    this.#database = database;
    this.#sync = options.sync;
    this.#databaseFile = openSync(options.path, 'r+');
    this.#logFile = openSync(`${options.path}-wal`, 'r+');
    // What an earlier process left behind counts as written.
    this.#written = fstatSync(this.#logFile).size;
  }

  /** True when there is enough to write back. */
  get isDue(): boolean {
    return this.#written >= this.#limit;
  }

  /** Tells of a transaction of about `bytes`. */
  note(bytes: number): void {
    this.#written += bytes + 8192;
  }

  /** Makes all that is committed durable. */
  sync(): Promise<void> {
    return this.#sync(this.#logFile);
  }

  /** Writes the log back. No transaction may be written until it has resolved. False if it could not be completed. */
  async writeBack(): Promise<boolean> {
    await this.sync();
    // Asked again only after as much has been added, should this attempt fail on a full disk.
    this.#limit = this.#written + writeBackBytes;
    const outcome = this.unsynced(() => this.#database.prepare('PRAGMA wal_checkpoint(PASSIVE)').get());
    if (outcome?.['busy'] !== 0 || outcome['log'] !== outcome['checkpointed']) return false;
    await this.#sync(this.#databaseFile);
    await this.#eraseHeader();
    await this.sync();
    this.#written = 0;
    this.#limit = writeBackBytes;
    return true;
  }

  /** Runs `task` without SQLite waiting for the disk. The caller syncs. */
  unsynced<T>(task: () => T): T {
    this.#database.exec('PRAGMA synchronous = OFF');
    try {
      return task();
    } finally {
      this.#database.exec('PRAGMA synchronous = NORMAL');
    }
  }

  /** To be called after the database is closed: closing the file earlier would drop SQLite's lock on it. */
  closeFiles(): void {
    closeSync(this.#logFile);
    closeSync(this.#databaseFile);
  }

  #eraseHeader(): Promise<void> {
    return new Promise((resolve, reject) => {
      write(this.#logFile, Buffer.alloc(headerBytes), 0, headerBytes, 0, (error) =>
        error ? reject(error) : resolve(),
      );
    });
  }
}
