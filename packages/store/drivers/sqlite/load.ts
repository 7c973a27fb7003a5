import type { DatabaseSync } from 'node:sqlite';
import type { StoreFault, StoreRecord } from '../../contract.ts';
import { recordBytes } from '../../journal.ts';
import { corruptFault } from './faults.ts';
import { headDigest, type RevisionRow, readState, rowSum, type SavedState } from './schema.ts';

/** What a database held when it was opened. */
export interface LoadedLog {
  readonly state: SavedState;
  readonly records: Map<string, StoreRecord>;
  /** The rows written since the heads were, oldest first. */
  readonly unflushed: readonly UnflushedRow[];
  readonly revision: number;
  readonly historyBytes: number;
  readonly revisions: number;
}

export interface UnflushedRow {
  readonly key: string;
  readonly revision: number;
  readonly previous: number;
  readonly isDeletion: boolean;
}

/** Reads the newest record of each key and verifies each. @throws StoreFault */
export function loadLog(database: DatabaseSync, path: string): LoadedLog {
  const state = readState(database, path);
  const records = loadHeads(database, path, state);
  const unflushed: UnflushedRow[] = [];
  let revision = state.flushed;
  let historyBytes = state.historyBytes;
  const rows = database.prepare('SELECT * FROM revisions WHERE revision > ? ORDER BY revision');
  for (const found of rows.iterate(state.flushed)) {
    const row = verifiedRow(found, path);
    const { key, value, previous } = row;
    if (row.revision - row.step !== revision)
      throw corruptFault(path, `a revision before ${row.revision} is missing`);
    if ((records.get(key)?.revision ?? 0) !== previous) {
      throw corruptFault(path, `revision ${previous} of ${key} is missing`);
    }
    revision = row.revision;
    historyBytes += recordBytes({ key, value: value ?? undefined });
    unflushed.push({ key, revision, previous, isDeletion: value === null });
    if (value) records.set(key, { key, value, revision });
    else records.delete(key);
  }
  return { state, records, unflushed, revision, historyBytes, revisions: state.revisions + unflushed.length };
}

/** A page of rows at a time, as arrays: what costs most at a start is making objects of rows. */
function loadHeads(database: DatabaseSync, path: string, state: SavedState): Map<string, StoreRecord> {
  const records = new Map<string, StoreRecord>();
  const statement = database.prepare(
    'SELECT h.key, h.revision, r.previous, r.step, r.time, r.sum, r.value FROM heads h ' +
      `LEFT JOIN revisions r ON r.revision = h.revision WHERE h.key > ? ORDER BY h.key LIMIT ${pageRows}`,
  );
  statement.setReturnArrays(true);
  let digest = 0;
  let page: readonly HeadRow[];
  let after = '';
  do {
    page = statement.all(after) as unknown as readonly HeadRow[];
    for (const [key, revision, previous, step, time, sum, value] of page) {
      if (!value) throw corruptFault(path, `revision ${revision} of ${key} is missing`);
      if (rowSum({ revision, key, previous, step, time, value }) !== sum) throw wrongSum(path, revision);
      records.set(key, { key, value, revision });
      digest ^= headDigest(key, revision);
      after = key;
    }
  } while (page.length === pageRows);
  if (records.size !== state.headCount || digest !== state.headDigest) {
    throw corruptFault(path, `${state.headCount} keys are expected, ${records.size} are found`);
  }
  return records;
}

const pageRows = 512;

type HeadRow = readonly [
  key: string,
  revision: number,
  previous: number,
  step: number,
  time: number,
  sum: number,
  value: Uint8Array | null,
];

function wrongSum(path: string, revision: number): StoreFault {
  return corruptFault(path, `revision ${revision} has a wrong checksum`);
}

/** The row a query on all columns of `revisions` returned. @throws StoreFault when its checksum is wrong */
export function verifiedRow(found: Readonly<Record<string, unknown>>, path: string): RevisionRow {
  const row = found as unknown as RevisionRow & { readonly sum: number };
  if (rowSum(row) !== row.sum) throw wrongSum(path, row.revision);
  return row;
}
