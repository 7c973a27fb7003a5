import type { Clock, Disposable } from '@sheaf/base';

export interface WorkQueueOptions {
  readonly clock: Clock;
  /** First delay after a failure; doubles with each further one. Milliseconds. */
  readonly baseDelayMs?: number;
  readonly maximumDelayMs?: number;
}

/**
 * Keys that wait to be worked on. A key is in the queue at most once and is never given to two workers; a key added
 * while it is worked on comes again afterwards.
 */
export class WorkQueue implements Disposable {
  readonly #clock: Clock;
  readonly #baseDelayMs: number;
  readonly #maximumDelayMs: number;
  #ready: string[] = [];
  readonly #dirty = new Set<string>();
  readonly #working = new Set<string>();
  readonly #failures = new Map<string, number>();
  readonly #delayed = new Map<string, { readonly at: number; readonly timer: Disposable }>();
  readonly #waiters: ((key: string | undefined) => void)[] = [];
  #isShut = false;

  constructor({ clock, baseDelayMs = 5, maximumDelayMs = 60_000 }: WorkQueueOptions) {
    this.#clock = clock;
    this.#baseDelayMs = baseDelayMs;
    this.#maximumDelayMs = maximumDelayMs;
  }

  /** Keys that are ready or delayed; not those being worked on. */
  get depth(): number {
    return this.#ready.length + this.#delayed.size;
  }

  add(key: string): void {
    if (this.#isShut || this.#dirty.has(key)) return;
    this.#dirty.add(key);
    if (this.#working.has(key)) return;
    const waiter = this.#waiters.shift();
    if (waiter) this.#hand(key, waiter);
    else this.#ready.push(key);
  }

  /** Adds the key after `delayMs`; an earlier time that is already set stays. */
  addAfter(key: string, delayMs: number): void {
    if (this.#isShut) return;
    if (delayMs <= 0) return this.add(key);
    const at = this.#clock.monotonic() + delayMs;
    const planned = this.#delayed.get(key);
    if (planned && planned.at <= at) return;
    planned?.timer.dispose();
    const timer = this.#clock.schedule(delayMs, () => {
      this.#delayed.delete(key);
      this.add(key);
    });
    this.#delayed.set(key, { at, timer });
  }

  /** Adds the key after a delay that doubles with each failure in a row. Returns the delay in milliseconds. */
  addAfterFailure(key: string): number {
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    const delayMs = Math.min(this.#maximumDelayMs, this.#baseDelayMs * 2 ** Math.min(failures, 30));
    this.addAfter(key, delayMs);
    return delayMs;
  }

  /** Forgets the key's failures. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  /** The next key, once there is one; `undefined` when the queue is shut. The caller must call `done`. */
  take(): Promise<string | undefined> {
    const key = this.#ready.shift();
    if (key !== undefined) return new Promise((resolve) => this.#hand(key, resolve));
    if (this.#isShut) return Promise.resolve(undefined);
    return new Promise((resolve) => this.#waiters.push(resolve));
  }

  done(key: string): void {
    this.#working.delete(key);
    if (!this.#dirty.has(key)) return;
    this.#dirty.delete(key);
    this.add(key);
  }

  dispose(): void {
    this.#isShut = true;
    for (const { timer } of this.#delayed.values()) timer.dispose();
    this.#delayed.clear();
    this.#ready = [];
    for (const waiter of this.#waiters.splice(0)) waiter(undefined);
  }

  #hand(key: string, resolve: (key: string) => void): void {
    this.#dirty.delete(key);
    this.#working.add(key);
    resolve(key);
  }
}
