import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { StoreChange, StoreRecord } from '../../contract.ts';
import { type HistoryLink, type HistoryQuery, type HistorySlice, recordBytes } from '../../journal.ts';
import { corruptFault } from './faults.ts';
import { verifiedRow } from './load.ts';

const stepRows = 256;
const stepBytes = 1 << 20;

/** Reads history from the database, a bounded step per call, and verifies what it reads. */
export class HistoryReader {
  readonly #path: string;
  readonly #rows: StatementSync;
  readonly #links: StatementSync;
  readonly #row: StatementSync;
  readonly #unverified: StatementSync;

  constructor(database: DatabaseSync, path: string) {
    this.#path = path;
    const window = `WHERE revision > ? AND revision <= ? ORDER BY revision LIMIT ${stepRows}`;
    this.#rows = database.prepare(`SELECT * FROM revisions ${window}`);
    this.#links = database.prepare(`SELECT revision, key, previous, step FROM revisions ${window}`);
    this.#unverified = database.prepare(
      'SELECT * FROM revisions WHERE revision > ? ORDER BY revision LIMIT 64',
    );
    this.#row = database.prepare('SELECT * FROM revisions WHERE revision = ?');
  }

  changes(query: HistoryQuery): HistorySlice<StoreChange> {
    const items: StoreChange[] = [];
    const chain = new Chain(query, this.#path);
    let bytes = 0;
    for (const found of this.#rows.iterate(query.after, query.through)) {
      const row = verifiedRow(found, this.#path);
      chain.add(row);
      const { key, revision } = row;
      const value = row.value ?? undefined;
      bytes += recordBytes({ key, value });
      if (key.startsWith(query.prefix)) {
        const previous = row.previous === 0 ? undefined : this.load(row.previous);
        bytes += previous?.value.byteLength ?? 0;
        items.push({ key, value, revision, previous });
      }
      if (bytes > stepBytes) return { items, next: revision };
    }
    return { items, next: chain.next };
  }

  links(query: HistoryQuery): HistorySlice<HistoryLink> {
    const items: HistoryLink[] = [];
    const chain = new Chain(query, this.#path);
    for (const found of this.#links.iterate(query.after, query.through)) {
      const row = found as unknown as { revision: number; key: string; previous: number; step: number };
      chain.add(row);
      if (row.key.startsWith(query.prefix)) items.push({ key: row.key, previous: row.previous || undefined });
    }
    return { items, next: chain.next };
  }

  /** Reads and verifies some rows after `after`; the revision of the last, or `undefined` if there are none. */
  verify(after: number): number | undefined {
    let last: number | undefined;
    let bytes = 0;
    for (const found of this.#unverified.iterate(after)) {
      const row = verifiedRow(found, this.#path);
      last = row.revision;
      bytes += row.value?.byteLength ?? 0;
      if (bytes > stepBytes) break;
    }
    return last;
  }

  /** @throws StoreFault when the record is missing or damaged */
  load(revision: number): StoreRecord {
    const found = this.#row.get(revision);
    const row = found && verifiedRow(found, this.#path);
    if (!row?.value) throw corruptFault(this.#path, `revision ${revision} is missing`);
    return { key: row.key, value: row.value, revision };
  }
}

/** Notices a row that is missing from history, and knows how far a step came. */
class Chain {
  readonly #query: HistoryQuery;
  readonly #path: string;
  #last: number;
  #rows = 0;

  constructor(query: HistoryQuery, path: string) {
    this.#query = query;
    this.#path = path;
    this.#last = query.after;
  }

  /** All up to here is read. `through` is always a revision that was written. */
  get next(): number {
    if (this.#rows < stepRows && this.#last !== this.#query.through) {
      throw corruptFault(this.#path, `revision ${this.#query.through} is missing`);
    }
    return this.#last;
  }

  add(row: { readonly revision: number; readonly step: number }): void {
    const before = row.revision - row.step;
    // The first row may follow on one before `after`, which need not be a revision that was given out.
    if (this.#rows === 0 ? before > this.#last : before !== this.#last) {
      throw corruptFault(this.#path, `a revision before ${row.revision} is missing`);
    }
    this.#last = row.revision;
    this.#rows++;
  }
}
