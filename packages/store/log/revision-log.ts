import { type Disposable, type Logger, silentLogger, toError } from '@sheaf/base';
import {
  FutureRevision,
  type RangeQuery,
  type RangeResult,
  RevisionCompacted,
  type Store,
  type StoreChange,
  StoreFault,
  type StoreRecord,
  type StoreSize,
  type StoreWrite,
  type WatchListener,
  type WatchQuery,
} from '../contract.ts';
import { type HistoryLink, type Journal, type JournalState, recordBytes } from '../journal.ts';
import { CommitQueue } from './commit-queue.ts';
import { HeadIndex } from './head-index.ts';
import { mergeHistory, take } from './past-range.ts';
import { type Pin, Replays } from './replay.ts';
import { type Watcher, Watchers } from './watchers.ts';

export interface RevisionLogOptions {
  readonly journal: Journal;
  readonly state: JournalState;
  readonly logger?: Logger;
  /** Called when closing begins. */
  readonly onClose?: () => void;
}

/**
 * The store above a journal: optimistic locking and group commit, the newest records in memory, watches, history and
 * compaction. Reads of the newest state never touch the disk.
 */
export class RevisionLog implements Store {
  readonly #journal: Journal;
  readonly #heads: HeadIndex;
  readonly #watchers: Watchers;
  readonly #replays: Replays;
  readonly #queue: CommitQueue;
  #revision: number;
  #compacted: number;
  #swept: number;
  #historyBytes: number;
  #revisions: number;
  readonly #onClose: (() => void) | undefined;
  #sweeping: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: RevisionLogOptions) {
    const { journal, state } = options;
    this.#journal = journal;
    this.#onClose = options.onClose;
    this.#heads = new HeadIndex(state.records);
    this.#watchers = new Watchers(options.logger ?? silentLogger);
    this.#revision = state.revision;
    this.#compacted = state.compacted;
    this.#swept = state.swept;
    this.#historyBytes = state.historyBytes;
    this.#revisions = state.revisions;
    this.#replays = new Replays(journal, () => this.#revision);
    this.#queue = new CommitQueue({
      journal,
      revision: state.revision,
      head: (key) => this.#heads.get(key),
      publish: (change, record) => this.#publish(change, record),
    });
  }

  get revision(): number {
    return this.#revision;
  }

  get compactedRevision(): number {
    return this.#compacted;
  }

  async commit(write: StoreWrite): Promise<number> {
    this.#checkOpen();
    if (write.key === '' || !write.key.isWellFormed() || write.key.includes('\0')) {
      throw new TypeError(`not a key: ${JSON.stringify(write.key)}`);
    }
    return this.#queue.commit(write);
  }

  async get(key: string): Promise<StoreRecord | undefined> {
    this.#checkOpen();
    return this.#heads.get(key);
  }

  async range(query: RangeQuery): Promise<RangeResult> {
    this.#checkOpen();
    const revision = query.revision ?? this.#revision;
    if (revision > this.#revision) throw new FutureRevision(revision, this.#revision);
    if (revision < this.#compacted) throw new RevisionCompacted(revision, this.#compacted);
    if (revision === this.#revision) {
      return { revision, ...take(this.#heads.walk(query.prefix, query.from), query.limit) };
    }
    return this.#replays.pinned(revision, () => this.#pastRange(query, revision));
  }

  async watch(query: WatchQuery, listener: WatchListener): Promise<Disposable> {
    this.#checkOpen();
    if (query.after < this.#compacted) throw new RevisionCompacted(query.after, this.#compacted);
    const watcher = this.#watchers.create(query, listener);
    if (query.after >= this.#revision) this.#watchers.attach(watcher);
    else void this.#replays.pinned(query.after, (pin) => this.#catchUp(watcher, pin));
    return this.#watchers.handle(watcher);
  }

  async compact(revision: number): Promise<void> {
    this.#checkOpen();
    if (revision > this.#revision) throw new FutureRevision(revision, this.#revision);
    this.#compacted = Math.max(this.#compacted, revision);
    await this.sweep();
  }

  /** Drops what is compacted but still kept, in steps. */
  sweep(): Promise<void> {
    this.#sweeping ??= this.#sweepAll().finally(() => {
      this.#sweeping = undefined;
    });
    return this.#sweeping;
  }

  async size(): Promise<StoreSize> {
    this.#checkOpen();
    return {
      liveBytes: this.#heads.bytes,
      historyBytes: this.#historyBytes,
      keys: this.#heads.size,
      revisions: this.#revisions,
    };
  }

  async backup(path: string): Promise<void> {
    this.#checkOpen();
    await this.#journal.backup(path);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#onClose?.();
    await this.#queue.drained();
    await this.#sweeping;
    this.#watchers.endAll(closedFault());
    await this.#journal.close();
  }

  #checkOpen(): void {
    if (this.#closing) throw closedFault();
  }

  #publish(change: StoreChange, record: StoreRecord | undefined): void {
    if (record) this.#heads.set(record);
    else this.#heads.delete(change.key);
    this.#revision = change.revision;
    this.#revisions++;
    this.#historyBytes += recordBytes(change);
    this.#watchers.publish(change);
  }

  async #catchUp(watcher: Watcher, pin: Pin): Promise<void> {
    // The caller gets its handle first, to be able to end the watch from within the listener.
    await this.#replays.turn();
    const options = {
      prefix: watcher.query.prefix,
      after: watcher.query.after,
      read: this.#journal.changes.bind(this.#journal),
      visit: (change: StoreChange) => this.#watchers.deliver(watcher, change),
      goOn: (next: number) => {
        pin.at = next;
        return !watcher.isDisposed && !this.#closing;
      },
    };
    try {
      await this.#replays.run(options, () => this.#watchers.attach(watcher));
      if (this.#closing) this.#watchers.end(watcher, closedFault());
    } catch (error) {
      this.#watchers.end(watcher, toError(error));
    }
  }

  async #pastRange(query: RangeQuery, revision: number): Promise<RangeResult> {
    const past = new Map<string, HistoryLink['previous']>();
    const options = {
      prefix: query.prefix,
      after: revision,
      read: this.#journal.links.bind(this.#journal),
      visit: (link: HistoryLink) => {
        if (!past.has(link.key)) past.set(link.key, link.previous);
      },
      goOn: () => !this.#closing,
    };
    const result = await this.#replays.run(options, () => {
      const records = mergeHistory(this.#heads.walk(query.prefix, query.from), past, query.from);
      return take(records, query.limit, (revision) => this.#journal.load(revision));
    });
    if (!result) throw closedFault();
    return { revision, ...result };
  }

  async #sweepAll(): Promise<void> {
    while (this.#swept < this.#compacted && !this.#closing) {
      const through = Math.min(this.#compacted, this.#replays.floor);
      if (through > this.#swept) {
        const step = this.#journal.sweep({ after: this.#swept, through, compacted: this.#compacted });
        this.#swept = step.next;
        this.#historyBytes -= step.freedBytes;
        this.#revisions -= step.freedRevisions;
      }
      if (this.#swept < this.#compacted) await this.#replays.turn();
    }
  }
}

function closedFault(): StoreFault {
  return new StoreFault('closed', 'the store is closed', 'Start the server again.');
}
