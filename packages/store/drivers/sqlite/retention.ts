import { type Clock, type Disposable, type Logger, toError } from '@sheaf/base';
import type { RevisionLog } from '../../log/revision-log.ts';
import type { SqliteJournal } from './sqlite-journal.ts';

export interface RetentionOptions {
  /** History younger than this is kept, in milliseconds; 24 hours if absent. */
  readonly minimumAgeMs?: number;
  /** Unless superseded revisions take more than this; 1 GiB if absent. Then the oldest go first. */
  readonly maximumBytes?: number;
}

const checkEveryMs = 60_000;
/** History is forgotten by this many revisions at a time. */
const strideRevisions = 256;

/** Compacts in the background what is old enough or too much. */
export class Retention implements Disposable {
  readonly #journal: SqliteJournal;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #minimumAgeMs: number;
  readonly #maximumBytes: number;
  #timer: Disposable | undefined;
  #isDisposed = false;

  constructor(options: RetentionOptions & { journal: SqliteJournal; clock: Clock; logger: Logger }) {
    this.#journal = options.journal;
    this.#clock = options.clock;
    this.#logger = options.logger;
    this.#minimumAgeMs = options.minimumAgeMs ?? 24 * 3_600_000;
    this.#maximumBytes = options.maximumBytes ?? 1 << 30;
  }

  start(store: RevisionLog): void {
    if (this.#isDisposed) return;
    this.#timer = this.#clock.schedule(checkEveryMs, () => {
      void this.#run(store).then(() => this.start(store));
    });
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#timer?.dispose();
  }

  async #run(store: RevisionLog): Promise<void> {
    try {
      await store.sweep();
      for (let next = await this.#next(store); next !== undefined; next = await this.#next(store)) {
        await store.compact(next);
      }
    } catch (error) {
      if (!this.#isDisposed) this.#logger.error('history could not be compacted', { error: toError(error) });
    }
  }

  /** The revision to compact to now, if any. */
  async #next(store: RevisionLog): Promise<number | undefined> {
    if (this.#isDisposed) return undefined;
    const stride = this.#journal.ageAhead(store.compactedRevision, strideRevisions);
    if (!stride || stride.revision > store.revision) return undefined;
    const { historyBytes, liveBytes } = await store.size();
    const isOld = stride.time <= this.#clock.now() - this.#minimumAgeMs;
    return isOld || historyBytes - liveBytes > this.#maximumBytes ? stride.revision : undefined;
  }
}
