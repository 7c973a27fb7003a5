import type { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import { firstRevision } from '../../journal.ts';
import { corruptFault, newerVersionFault } from './faults.ts';

/** Raised when a program that knows only the previous format could misread the file. */
export const formatVersion = 1;

/**
 * `revisions` is the log; it has no second index, so that a write costs one append. `previous` is the revision of the
 * key's record that a row replaces (0: created), `step` the distance to the row written before it, `time` milliseconds
 * since 1970, `sum` the checksum of all that. A `value` of NULL deletes the key.
 *
 * `heads` names the newest record of each key as of `state.flushed`. It is brought up to date now and then; a start reads it
 * and the rows after it.
 */
const tables = `
  CREATE TABLE revisions (
    revision INTEGER PRIMARY KEY,
    key TEXT NOT NULL,
    previous INTEGER NOT NULL,
    step INTEGER NOT NULL,
    time INTEGER NOT NULL,
    sum INTEGER NOT NULL,
    value BLOB
  ) STRICT;
  CREATE TABLE heads (key TEXT PRIMARY KEY, revision INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE state (
    format INTEGER NOT NULL,
    flushed INTEGER NOT NULL,
    compacted INTEGER NOT NULL,
    swept INTEGER NOT NULL,
    history_bytes INTEGER NOT NULL,
    revisions INTEGER NOT NULL,
    head_count INTEGER NOT NULL,
    head_digest INTEGER NOT NULL,
    sum INTEGER NOT NULL
  ) STRICT;
`;

/** The one row of `state`. */
export interface SavedState {
  /** `heads`, the counters and the digest show the log as of this revision. */
  readonly flushed: number;
  readonly compacted: number;
  readonly swept: number;
  readonly historyBytes: number;
  readonly revisions: number;
  readonly headCount: number;
  /** Every head's digest combined; see `headDigest`. */
  readonly headDigest: number;
}

const emptySavedState: SavedState = {
  flushed: firstRevision,
  compacted: firstRevision,
  swept: firstRevision,
  historyBytes: 0,
  revisions: 0,
  headCount: 0,
  headDigest: 0,
};

/** Creates the tables in an empty file. */
export function ensureSchema(database: DatabaseSync): void {
  if (database.prepare('SELECT count(*) AS n FROM sqlite_schema').get()?.['n'] !== 0) return;
  database.exec(`BEGIN IMMEDIATE; ${tables}`);
  const columns = stateColumns(emptySavedState);
  const marks = columns.map(() => '?').join(', ');
  database.prepare(`INSERT INTO state VALUES (${formatVersion}, ${marks})`).run(...columns);
  database.exec('COMMIT');
}

/** Reads the state. @throws StoreFault newer-version, corrupt */
export function readState(database: DatabaseSync, path: string): SavedState {
  const format = database.prepare('SELECT format FROM state').get()?.['format'];
  if (typeof format !== 'number') throw corruptFault(path, 'its state is missing');
  if (format > formatVersion) throw newerVersionFault(path, format, formatVersion);
  const row = database.prepare('SELECT * FROM state').get() ?? {};
  const number = (name: string): number => (typeof row[name] === 'number' ? row[name] : Number.NaN);
  const state: SavedState = {
    flushed: number('flushed'),
    compacted: number('compacted'),
    swept: number('swept'),
    historyBytes: number('history_bytes'),
    revisions: number('revisions'),
    headCount: number('head_count'),
    headDigest: number('head_digest'),
  };
  if (stateColumns(state).at(-1) !== row['sum']) throw corruptFault(path, 'its state has a wrong checksum');
  return state;
}

export const updateState =
  'UPDATE state SET flushed = ?, compacted = ?, swept = ?, history_bytes = ?, revisions = ?, head_count = ?, ' +
  'head_digest = ?, sum = ?';

/** The columns of `updateState`, the checksum last. */
export function stateColumns(state: SavedState): number[] {
  const columns = [
    state.flushed,
    state.compacted,
    state.swept,
    state.historyBytes,
    state.revisions,
    state.headCount,
    state.headDigest,
  ];
  return [...columns, crc32(`${formatVersion} ${columns.join(' ')}`)];
}

/** A row of `revisions` without its checksum. */
export interface RevisionRow {
  readonly revision: number;
  readonly key: string;
  readonly previous: number;
  readonly step: number;
  readonly time: number;
  readonly value: Uint8Array | null;
}

export function rowSum(row: RevisionRow): number {
  const { revision, key, previous, step, time, value } = row;
  const head = crc32(`${revision} ${previous} ${step} ${time} ${value ? 1 : 0} ${key}`);
  return value ? crc32(value, head) : head;
}

/** Combined with `^` over all heads, it shows whether one is missing. */
export function headDigest(key: string, revision: number): number {
  return crc32(`${revision} ${key}`);
}
