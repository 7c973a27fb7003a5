import type { StoreChange, StoreRecord } from './contract.ts';

/** What the record needs of the room it is accounted for: the key and the value, as the caller sees them. */
export function recordBytes(record: {
  readonly key: string;
  readonly value: Uint8Array | undefined;
}): number {
  return record.key.length + (record.value?.byteLength ?? 0);
}

/** A part of history, oldest first. Everything in (asked, `next`] is covered; `items` are those that match. */
export interface HistorySlice<T> {
  readonly items: readonly T[];
  readonly next: number;
}

export interface HistoryQuery {
  /** Only changes after this revision … */
  readonly after: number;
  /** … and up to this one. */
  readonly through: number;
  readonly prefix: string;
}

/** That a key changed, and what it held before: the record, or the revision to `load` it by. */
export interface HistoryLink {
  readonly key: string;
  readonly previous: StoreRecord | number | undefined;
}

export interface SweepStep {
  /** Everything up to this revision is swept. */
  readonly next: number;
  readonly freedBytes: number;
  readonly freedRevisions: number;
}

export interface SweepQuery {
  readonly after: number;
  readonly through: number;
  /** The compacted revision to remember together with the step. */
  readonly compacted: number;
}

/** Where revisions are kept. `RevisionLog` is everything above it, the same for every driver. */
export interface Journal {
  /** Keeps `changes`, all or none; resolves once they are durable. One call at a time. @throws StoreFault */
  append(changes: readonly StoreChange[]): Promise<void>;
  /** The next bounded step of history; synchronous, so that nothing can be committed between reading and using it. */
  changes(query: HistoryQuery): HistorySlice<StoreChange>;
  /** The same without values. */
  links(query: HistoryQuery): HistorySlice<HistoryLink>;
  /** A record by the revision a link named. */
  load(revision: number): StoreRecord;
  /** Drops the next bounded step of what is superseded at `through`. */
  sweep(query: SweepQuery): SweepStep;
  /** Runs `task` soon, after what is ready to run now. */
  soon(task: () => void): void;
  backup(path: string): Promise<void>;
  close(): Promise<void>;
}

/** What a journal held when it was opened. */
export interface JournalState {
  readonly revision: number;
  readonly compacted: number;
  /** How far sweeping has come; at most `compacted`. */
  readonly swept: number;
  readonly historyBytes: number;
  readonly revisions: number;
  /** The newest record of each key. The log takes the map over. */
  readonly records: Map<string, StoreRecord>;
}

/** The revision of an empty store. `0` and `1` have a meaning of their own to clients. */
export const firstRevision = 100;

export function emptyState(): JournalState {
  return {
    revision: firstRevision,
    compacted: firstRevision,
    swept: firstRevision,
    historyBytes: 0,
    revisions: 0,
    records: new Map(),
  };
}
