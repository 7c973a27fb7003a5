import { type Disposable, disposable, type Logger, toError } from '@sheaf/base';
import type { StoreChange, WatchListener, WatchQuery } from '../contract.ts';

/** One watch: what it has seen, and whether it hears changes as they happen. */
export interface Watcher {
  readonly query: WatchQuery;
  readonly listener: WatchListener;
  /** Nothing up to this revision is delivered (again). */
  seen: number;
  isDisposed: boolean;
}

/** Delivers changes to watchers. A listener that throws harms nobody else. */
export class Watchers {
  readonly #live = new Set<Watcher>();
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  create(query: WatchQuery, listener: WatchListener): Watcher {
    return { query, listener, seen: query.after, isDisposed: false };
  }

  /** From now on `watcher` hears what is published. */
  attach(watcher: Watcher): void {
    if (!watcher.isDisposed) this.#live.add(watcher);
  }

  handle(watcher: Watcher): Disposable {
    return disposable(() => {
      watcher.isDisposed = true;
      this.#live.delete(watcher);
    });
  }

  publish(change: StoreChange): void {
    for (const watcher of this.#live) {
      if (change.key.startsWith(watcher.query.prefix)) this.deliver(watcher, change);
    }
  }

  deliver(watcher: Watcher, change: StoreChange): void {
    if (watcher.isDisposed || change.revision <= watcher.seen) return;
    watcher.seen = change.revision;
    try {
      watcher.listener(change);
    } catch (error) {
      this.#logger.error('a watch listener failed', {
        prefix: watcher.query.prefix,
        revision: change.revision,
        error: toError(error),
      });
    }
  }

  /** Ends one watch that cannot go on. */
  end(watcher: Watcher, cause: Error): void {
    if (watcher.isDisposed) return;
    watcher.isDisposed = true;
    this.#live.delete(watcher);
    try {
      watcher.query.onEnd?.(cause);
    } catch (error) {
      this.#logger.error('a watch listener failed', { prefix: watcher.query.prefix, error: toError(error) });
    }
  }

  endAll(cause: Error): void {
    for (const watcher of this.#live) this.end(watcher, cause);
  }
}
