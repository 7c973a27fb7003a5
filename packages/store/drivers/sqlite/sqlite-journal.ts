import { join } from 'node:path';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { type Clock, type Logger, toError } from '@sheaf/base';
import type { StoreChange, StoreFault, StoreRecord } from '../../contract.ts';
import {
  type HistoryLink,
  type HistoryQuery,
  type HistorySlice,
  type Journal,
  recordBytes,
  type SweepQuery,
  type SweepStep,
} from '../../journal.ts';
import { ChangeList } from '../../log/change-list.ts';
import type { AcknowledgedMark } from './acknowledged-mark.ts';
import { writeBackup } from './backup.ts';
import { closeQuietly, databaseName } from './connection.ts';
import { toStoreFault } from './faults.ts';
import { HeadTable } from './head-table.ts';
import { HistoryReader } from './history-reader.ts';
import type { LoadedLog } from './load.ts';
import { rowSum, stateColumns, updateState } from './schema.ts';
import { Sweeper } from './sweeper.ts';
import { transaction } from './transaction.ts';
import type { WriteAheadLog } from './write-ahead-log.ts';

/** What is kept in memory of the newest history, for watches that resume and pages that go on. */
export interface RecentLimits {
  readonly changes: number;
  readonly bytes: number;
}

export interface SqliteJournalOptions {
  readonly database: DatabaseSync;
  readonly directory: string;
  readonly loaded: LoadedLog;
  readonly mark: AcknowledgedMark;
  readonly log: WriteAheadLog;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly recent: RecentLimits;
}

/** The journal in an SQLite database that this process holds alone. */
export class SqliteJournal implements Journal {
  readonly #options: SqliteJournalOptions;
  readonly #path: string;
  readonly #database: DatabaseSync;
  readonly #insert: StatementSync;
  readonly #updateState: StatementSync;
  readonly #heads: HeadTable;
  readonly #history: HistoryReader;
  readonly #sweeper: Sweeper;
  readonly #recent: ChangeList;
  /** The revision written last, which may still be on its way to the disk … */
  #last: number;
  /** … and the last that is durable. */
  #settled: number;
  #compacted: number;
  #swept: number;
  #historyBytes: number;
  #revisions: number;
  #isWritingBack = false;
  #broken: StoreFault | undefined;

  constructor(options: SqliteJournalOptions) {
    const { database, loaded } = options;
    this.#options = options;
    this.#path = join(options.directory, databaseName);
    this.#database = database;
    this.#insert = database.prepare('INSERT INTO revisions VALUES (?, ?, ?, ?, ?, ?, ?)');
    this.#updateState = database.prepare(updateState);
    this.#heads = new HeadTable(database, {
      count: loaded.state.headCount,
      digest: loaded.state.headDigest,
    });
    this.#heads.resume(loaded.unflushed);
    this.#history = new HistoryReader(database, this.#path);
    this.#sweeper = new Sweeper(database);
    this.#recent = new ChangeList(loaded.revision);
    this.#last = loaded.revision;
    this.#settled = loaded.revision;
    this.#compacted = loaded.state.compacted;
    this.#swept = loaded.state.swept;
    this.#historyBytes = loaded.historyBytes;
    this.#revisions = loaded.revisions;
  }

  async append(changes: readonly StoreChange[]): Promise<void> {
    if (this.#broken) throw this.#broken;
    if (this.#options.log.isDue) await this.#writeBack();
    const first = this.#last;
    this.#write(changes);
    try {
      await this.#options.log.sync();
    } catch (error) {
      throw this.#break(error, first);
    }
    this.#settle(changes);
  }

  changes(query: HistoryQuery): HistorySlice<StoreChange> {
    if (query.after >= this.#recent.floor) return this.#recent.slice(query, 256);
    return this.#reading(() => this.#history.changes(query));
  }

  links(query: HistoryQuery): HistorySlice<HistoryLink> {
    if (query.after >= this.#recent.floor) return this.#recent.slice(query, 1024);
    return this.#reading(() => this.#history.links(query));
  }

  load(revision: number): StoreRecord {
    return this.#reading(() => this.#history.load(revision));
  }

  sweep(query: SweepQuery): SweepStep {
    if (this.#isWritingBack || this.#broken) return { next: query.after, freedBytes: 0, freedRevisions: 0 };
    return this.#reading(() => this.#sweep(query));
  }

  soon(task: () => void): void {
    setImmediate(task);
  }

  /** The revision of the last of the next `count` revisions after `after`, and when it was written. */
  ageAhead(after: number, count: number): { revision: number; time: number } | undefined {
    return this.#reading(() => this.#sweeper.ageAhead(after, count));
  }

  /** Verifies the next bounded step of rows; the revision it came to, or `undefined` at the end. @throws StoreFault */
  verify(after: number): number | undefined {
    return this.#reading(() => this.#history.verify(after));
  }

  async backup(path: string): Promise<void> {
    await writeBackup(this.#database, { from: this.#path, to: path });
  }

  async close(): Promise<void> {
    const { log, mark } = this.#options;
    try {
      if (!this.#broken) {
        this.#flushHeads();
        await log.writeBack();
      }
      this.#database.close();
    } catch (error) {
      throw toStoreFault(error, this.#path);
    } finally {
      closeQuietly(this.#database);
      log.closeFiles();
      mark.close();
    }
  }

  /** Writes the rows in one transaction; nothing is durable yet. @throws StoreFault; then nothing is written */
  #write(changes: readonly StoreChange[]): void {
    const time = this.#options.clock.now();
    let last = this.#last;
    let bytes = 0;
    const insert = (): void => {
      for (const change of changes) {
        const { key, revision } = change;
        const value = change.value ?? null;
        const previous = change.previous?.revision ?? 0;
        const step = revision - last;
        const sum = rowSum({ revision, key, previous, step, time, value });
        this.#insert.run(revision, key, previous, step, time, sum, value);
        bytes += recordBytes(change);
        last = revision;
      }
    };
    try {
      // A single statement is a transaction of its own.
      if (changes.length === 1) insert();
      else transaction(this.#database, insert);
    } catch (error) {
      throw toStoreFault(error, this.#path);
    }
    this.#last = last;
    this.#options.log.note(bytes);
  }

  #settle(changes: readonly StoreChange[]): void {
    for (const change of changes) {
      this.#recent.push(change);
      this.#heads.note(change);
      this.#historyBytes += recordBytes(change);
    }
    this.#revisions += changes.length;
    this.#settled = this.#last;
    const limits = this.#options.recent;
    while (this.#recent.length > limits.changes || this.#recent.bytes > limits.bytes) this.#recent.shift();
    this.#options.mark.write(this.#settled);
  }

  /**
   * A disk that failed to sync may have dropped any of what it was given, and would not say so again: nothing more is
   * acknowledged until a restart has read back what is there. What was not acknowledged is taken out again.
   */
  #break(error: unknown, first: number): StoreFault {
    this.#broken = toStoreFault(error, this.#path);
    this.#options.logger.error('the store cannot reach its disk', {
      path: this.#path,
      error: toError(error),
    });
    try {
      this.#database.prepare('DELETE FROM revisions WHERE revision > ?').run(first);
    } catch (cause) {
      this.#options.logger.error('unacknowledged revisions stay in the store', { error: toError(cause) });
    }
    return this.#broken;
  }

  async #writeBack(): Promise<void> {
    this.#isWritingBack = true;
    try {
      await this.#options.log.writeBack();
    } catch (error) {
      const fault = toStoreFault(error, this.#path);
      if (fault.kind !== 'disk-full') throw this.#break(error, this.#last);
      this.#options.logger.warn('the write-ahead log could not be written back', { error: fault });
      return;
    } finally {
      this.#isWritingBack = false;
    }
    try {
      // The first transaction of an emptied log: with its header erased on the disk nothing has to wait for it.
      this.#options.log.unsynced(() => this.#flushHeads());
    } catch (error) {
      this.#options.logger.warn('the index of the store could not be saved', { error: toError(error) });
    }
  }

  #flushHeads(): void {
    const written = transaction(this.#database, () => this.#writeHeads());
    written();
    this.#options.log.note(0);
  }

  /** Brings `heads` and `state` up to the last durable revision, within a transaction. */
  #writeHeads(): () => void {
    const { count, digest, written } = this.#heads.write();
    const state = {
      flushed: this.#settled,
      compacted: this.#compacted,
      swept: this.#swept,
      historyBytes: this.#historyBytes,
      revisions: this.#revisions,
      headCount: count,
      headDigest: digest,
    };
    this.#updateState.run(...stateColumns(state));
    return written;
  }

  #sweep(query: SweepQuery): SweepStep {
    const before = [this.#compacted, this.#swept, this.#historyBytes, this.#revisions] as const;
    try {
      let step: SweepStep = { next: query.after, freedBytes: 0, freedRevisions: 0 };
      const written = transaction(this.#database, () => {
        step = this.#sweeper.step(query);
        this.#compacted = query.compacted;
        this.#swept = step.next;
        this.#historyBytes -= step.freedBytes;
        this.#revisions -= step.freedRevisions;
        return this.#writeHeads();
      });
      written();
      this.#options.log.note(step.freedRevisions * 1024);
      return step;
    } catch (error) {
      [this.#compacted, this.#swept, this.#historyBytes, this.#revisions] = before;
      throw error;
    }
  }

  #reading<T>(task: () => T): T {
    try {
      return task();
    } catch (error) {
      throw toStoreFault(error, this.#path);
    }
  }
}
