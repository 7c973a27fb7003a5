import type { Disposable } from '@sheaf/base';

/**
 * The revision log: an append-only sequence of writes, each with a whole number above the one before (the next one,
 * unless a commit failed in between or a backup was restored). It survives what it acknowledges: a returned revision is
 * on disk.
 *
 * Keys are not empty and hold no NUL and no lone surrogates; their order is that of Unicode code points. Arrays and
 * records are shared, never copied: a record holds the very array that was committed, and whoever keeps records or
 * changes shares their memory with the store.
 */
export interface Store {
  /** The newest durable revision. Starts above 1, never goes back, also after a restore. */
  readonly revision: number;
  /** The oldest revision from which `watch` and `range` can still answer. */
  readonly compactedRevision: number;
  /**
   * Writes one key if its newest revision is still `expected`. Resolves with the revision given once the write is
   * durable; concurrent calls share one commit, and calls are ordered as made. A call sees the calls before it, also while
   * they are pending: it may build on one (a create right after a delete), and fails with it.
   * @throws RevisionConflict when the key has changed, or is to be deleted and does not exist; nothing was written. It is thrown once the conflicting write is
   *   durable (or has failed), so that a read afterwards shows it.
   * @throws StoreFault when the disk is full or broken; nothing of the failed commit is visible, now or after a restart.
   */
  commit(write: StoreWrite): Promise<number>;
  /** The newest durable record of `key`, or `undefined`. */
  get(key: string): Promise<StoreRecord | undefined>;
  /** Records in key order. @throws RevisionCompacted, FutureRevision */
  range(query: RangeQuery): Promise<RangeResult>;
  /**
   * Calls `listener` for every change after `query.after`, in revision order, without gap or duplicate: first what
   * history holds, in steps, then live. A live change is delivered before `commit` resolves to its writer. A watch that has
   * nothing to catch up with is live when the call returns. A listener that throws is logged and goes on.
   * @throws RevisionCompacted
   */
  watch(query: WatchQuery, listener: WatchListener): Promise<Disposable>;
  /** Forgets history before `revision`; the newest record of each key stays. */
  compact(revision: number): Promise<void>;
  size(): Promise<StoreSize>;
  /** Writes a consistent copy to `path` while the store goes on. */
  backup(path: string): Promise<void>;
  /** Commits what is pending, then closes. Later calls fail with StoreFault. */
  close(): Promise<void>;
}

export interface StoreWrite {
  readonly key: string;
  /** The new value, or `undefined` to delete the key. The store keeps the array; callers must not change it. */
  readonly value: Uint8Array | undefined;
  /** The revision of the key's newest record, 0 if the key must not exist. */
  readonly expected: number;
}

export interface StoreRecord {
  readonly key: string;
  readonly value: Uint8Array;
  /** The revision of the write that made this value. */
  readonly revision: number;
}

export interface RangeQuery {
  /** All keys that begin with this. */
  readonly prefix: string;
  /** Only keys greater than or equal to this one. */
  readonly from?: string;
  readonly limit?: number;
  /** The state as of this revision; newest if absent. */
  readonly revision?: number;
}

export interface RangeResult {
  readonly records: readonly StoreRecord[];
  /** The revision the answer shows. */
  readonly revision: number;
  /** True if the limit cut the answer short. */
  readonly hasMore: boolean;
}

export interface WatchQuery {
  readonly prefix: string;
  readonly after: number;
  /** Called once if the watch cannot go on: its history is damaged, or the store was closed. */
  readonly onEnd?: (cause: Error) => void;
}

export interface StoreChange {
  readonly key: string;
  /** `undefined`: deleted. */
  readonly value: Uint8Array | undefined;
  readonly revision: number;
  /** What the key held before; `undefined`: created. */
  readonly previous: StoreRecord | undefined;
}

export type WatchListener = (change: StoreChange) => void;

export interface StoreSize {
  /** Bytes of the newest records, keys included. */
  readonly liveBytes: number;
  /** Bytes of all revisions kept. */
  readonly historyBytes: number;
  readonly keys: number;
  readonly revisions: number;
}

/** The key was written by someone else since it was read. */
export class RevisionConflict extends Error {
  /** The key's newest revision, 0 if it does not exist. */
  readonly current: number;
  constructor(key: string, current: number) {
    super(`${key} is at revision ${current}`);
    this.name = 'RevisionConflict';
    this.current = current;
  }
}

/** History before `compacted` is gone. */
export class RevisionCompacted extends Error {
  readonly requested: number;
  readonly compacted: number;
  constructor(requested: number, compacted: number) {
    super(`revision ${requested} is compacted; the oldest kept is ${compacted}`);
    this.name = 'RevisionCompacted';
    this.requested = requested;
    this.compacted = compacted;
  }
}

/** The revision asked for has not happened. */
export class FutureRevision extends Error {
  readonly current: number;
  constructor(requested: number, current: number) {
    super(`revision ${requested} is in the future; the newest is ${current}`);
    this.name = 'FutureRevision';
    this.current = current;
  }
}

export type StoreFaultKind = 'disk-full' | 'corrupt' | 'newer-version' | 'locked' | 'io' | 'closed';

/** The store cannot do its work; `wayOut` says what a person can do. */
export class StoreFault extends Error {
  readonly kind: StoreFaultKind;
  readonly wayOut: string;
  constructor(kind: StoreFaultKind, message: string, remedy: string | { wayOut: string; cause: unknown }) {
    super(message, typeof remedy === 'string' ? undefined : { cause: remedy.cause });
    this.name = 'StoreFault';
    this.kind = kind;
    this.wayOut = typeof remedy === 'string' ? remedy : remedy.wayOut;
  }
}
