import type { KubeObject } from '@sheaf/api';
import { type Clock, type Disposable, DisposableStore, type Logger, StatusError, toError } from '@sheaf/base';
import type { Informer } from './informer.ts';
import { keyOf } from './object-cache.ts';
import { PassRate } from './pass-rate.ts';
import { type ReconcileResult, TerminalError } from './reconcile-result.ts';
import { WorkQueue } from './work-queue.ts';

export interface ControllerOptions {
  /** As it is named in logs, metrics and `sheaf status`. */
  readonly name: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** One pass over one key: read, plan, one step, one status write. Must be idempotent and re-entrant. */
  readonly reconcile: (key: string, signal: AbortSignal) => Promise<ReconcileResult>;
  /** Keys worked on at once. */
  readonly concurrency?: number;
  /** What must be known, beside the informers, before the first pass. */
  readonly ready?: () => Promise<void>;
}

/** What a controller has done so far, for metrics and status. */
export interface ControllerCounts {
  readonly passes: number;
  readonly failures: number;
  readonly queueDepth: number;
  /** The newest failure that has not been followed by a success of the same key, by key. */
  readonly failing: ReadonlyMap<string, string>;
}

/** Takes keys from a queue and reconciles them, one worker a key. */
export class Controller implements Disposable {
  readonly name: string;
  readonly queue: WorkQueue;
  readonly #options: ControllerOptions;
  readonly #informers: Informer<KubeObject>[] = [];
  readonly #lifetime = new DisposableStore();
  readonly #stop = new AbortController();
  readonly #failing = new Map<string, string>();
  readonly #rate: PassRate;
  #passes = 0;
  #failures = 0;
  #workers: Promise<void>[] = [];

  constructor(options: ControllerOptions) {
    this.name = options.name;
    this.#options = options;
    this.#rate = new PassRate(options.clock);
    this.queue = this.#lifetime.add(new WorkQueue({ clock: options.clock }));
  }

  /** Reconciles every object of the informer whenever it changes. */
  watch<T extends KubeObject>(informer: Informer<T>): this {
    return this.watchMapped(informer, (object) => [keyOf(object)]);
  }

  /** Reconciles the keys that `map` gives, for the object as it is and as it was. */
  watchMapped<T extends KubeObject>(informer: Informer<T>, map: (object: T) => readonly string[]): this {
    this.#informers.push(informer as unknown as Informer<KubeObject>);
    this.#lifetime.add(
      informer.onChange(({ object, old }) => {
        const keys = new Set([...(object ? map(object) : []), ...(old ? map(old) : [])]);
        for (const key of keys) this.queue.add(key);
      }),
    );
    return this;
  }

  get counts(): ControllerCounts {
    return {
      passes: this.#passes,
      failures: this.#failures,
      queueDepth: this.queue.depth,
      failing: this.#failing,
    };
  }

  /** Why it has not begun to work; `undefined` from its first worker on. */
  get waitsFor(): string | undefined {
    if (this.#workers.length > 0) return undefined;
    const unsynced = this.#informers
      .filter(({ isSynced }) => !isSynced)
      .map(({ resource }) => resource.plural);
    if (unsynced.length > 0) return `the first list of ${[...new Set(unsynced)].join(', ')}`;
    return 'a complete picture';
  }

  /** Begins to work once all its informers know a complete state. */
  async start(): Promise<void> {
    await Promise.all([...this.#informers.map((informer) => informer.synced()), this.#options.ready?.()]);
    for (let worker = 0; worker < (this.#options.concurrency ?? 1); worker++)
      this.#workers.push(this.#work());
  }

  dispose(): void {
    this.#stop.abort(new Error('the controller stops'));
    this.#lifetime.dispose();
  }

  /** Resolves when no pass is under way any more. */
  async stopped(): Promise<void> {
    await Promise.all(this.#workers);
  }

  async #work(): Promise<void> {
    for (;;) {
      const key = await this.queue.take();
      if (key === undefined) return;
      if (!this.#mustRest(key)) await this.#pass(key);
      this.queue.done(key);
    }
  }

  /** True: it comes again later. */
  #mustRest(key: string): boolean {
    const { restMs, isFirstRest } = this.#rate.count(key);
    if (restMs === 0) return false;
    if (isFirstRest)
      this.#options.logger.warn('a key is reconciled again and again', { controller: this.name, key });
    this.queue.addAfter(key, restMs);
    return true;
  }

  async #pass(key: string): Promise<void> {
    this.#passes++;
    try {
      this.#settle(key, await this.#options.reconcile(key, this.#stop.signal));
    } catch (error) {
      if (!this.#stop.signal.aborted) this.#fail(key, error);
    }
  }

  #settle(key: string, result: ReconcileResult): void {
    this.queue.forget(key);
    this.#failing.delete(key);
    if (result.outcome !== 'done' && result.afterMs !== undefined) this.queue.addAfter(key, result.afterMs);
  }

  #fail(key: string, thrown: unknown): void {
    const error = toError(thrown);
    const { logger } = this.#options;
    this.#failures++;
    this.#failing.set(key, error.message);
    if (error instanceof TerminalError) {
      logger.warn('reconcile gave up until the object changes', { controller: this.name, key, cause: error });
      return;
    }
    const delayMs = this.queue.addAfterFailure(key);
    // Losing a race is daily business.
    const level = StatusError.is(error, 'Conflict') ? 'debug' : 'warn';
    logger[level]('reconcile failed', { controller: this.name, key, delayMs, cause: error });
  }
}
