import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { SweepQuery, SweepStep } from '../../journal.ts';

const stepRows = 128;

/** Deletes what is superseded, a bounded step per call. */
export class Sweeper {
  readonly #rows: StatementSync;
  readonly #delete: StatementSync;
  readonly #age: StatementSync;

  constructor(database: DatabaseSync) {
    this.#rows = database.prepare(
      'SELECT revision, key, previous, value IS NULL AS deletion FROM revisions ' +
        `WHERE revision > ? AND revision <= ? ORDER BY revision LIMIT ${stepRows}`,
    );
    this.#delete = database.prepare(
      'DELETE FROM revisions WHERE revision = ? RETURNING coalesce(octet_length(value), 0) AS bytes',
    );
    this.#age = database.prepare(
      'SELECT revision, time FROM revisions WHERE revision > ? ORDER BY revision LIMIT 1 OFFSET ?',
    );
  }

  /** Within the caller's transaction. A record goes when one at or below `through` replaces it; a deletion goes too. */
  step(query: SweepQuery): SweepStep {
    const rows = this.#rows.all(query.after, query.through) as unknown as readonly SweptRow[];
    let freedBytes = 0;
    let freedRevisions = 0;
    const remove = (revision: number, key: string): void => {
      const deleted = this.#delete.get(revision);
      if (!deleted) return;
      freedBytes += key.length + Number(deleted['bytes']);
      freedRevisions++;
    };
    for (const row of rows) {
      if (row.previous !== 0) remove(row.previous, row.key);
      if (row.deletion === 1) remove(row.revision, row.key);
    }
    const last = rows.at(-1);
    const next = last && rows.length === stepRows ? last.revision : query.through;
    return { next, freedBytes, freedRevisions };
  }

  ageAhead(after: number, count: number): { revision: number; time: number } | undefined {
    const row = this.#age.get(after, count - 1);
    return row && { revision: Number(row['revision']), time: Number(row['time']) };
  }
}

interface SweptRow {
  readonly revision: number;
  readonly key: string;
  readonly previous: number;
  readonly deletion: number;
}
