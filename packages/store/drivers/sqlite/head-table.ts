import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { StoreChange } from '../../contract.ts';
import type { UnflushedRow } from './load.ts';
import { headDigest } from './schema.ts';

interface MovedHead {
  /** What the table says; 0: no such key. */
  readonly from: number;
  to: number;
}

/**
 * Keeps `heads` nearly up to date: collects which keys have moved, and writes them in one go. A key written a hundred
 * times in between costs one row.
 */
export class HeadTable {
  readonly #upsert: StatementSync;
  readonly #delete: StatementSync;
  #moved = new Map<string, MovedHead>();
  #count: number;
  #digest: number;

  constructor(database: DatabaseSync, written: { readonly count: number; readonly digest: number }) {
    this.#upsert = database.prepare(
      'INSERT INTO heads VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET revision = excluded.revision',
    );
    this.#delete = database.prepare('DELETE FROM heads WHERE key = ?');
    this.#count = written.count;
    this.#digest = written.digest;
  }

  /** Takes up what an earlier process had not written. */
  resume(rows: readonly UnflushedRow[]): void {
    for (const row of rows) this.#move(row.key, row.previous, row.isDeletion ? 0 : row.revision);
  }

  note(change: StoreChange): void {
    this.#move(change.key, change.previous?.revision ?? 0, change.value ? change.revision : 0);
  }

  #move(key: string, from: number, to: number): void {
    const moved = this.#moved.get(key);
    if (moved) moved.to = to;
    else this.#moved.set(key, { from, to });
  }

  /** Writes what has moved, within the caller's transaction. `written` is to be called once that is committed. */
  write(): { count: number; digest: number; written: () => void } {
    let count = this.#count;
    let digest = this.#digest;
    for (const [key, { from, to }] of this.#moved) {
      if (from !== 0) digest ^= headDigest(key, from);
      if (to !== 0) digest ^= headDigest(key, to);
      count += Number(to !== 0) - Number(from !== 0);
      if (to !== 0) this.#upsert.run(key, to);
      else if (from !== 0) this.#delete.run(key);
    }
    const written = (): void => {
      this.#moved = new Map();
      this.#count = count;
      this.#digest = digest;
    };
    return { count, digest, written };
  }
}
