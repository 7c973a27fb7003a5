import { type Clock, type Disposable, disposable } from '@sheaf/base';

/** The clock as one life of a program sees it: with its death its timers are gone. */
export class IncarnationClock implements Clock, Disposable {
  readonly #clock: Clock;
  readonly #timers = new Set<Disposable>();
  #isDead = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now();
  }

  monotonic(): number {
    return this.#clock.monotonic();
  }

  schedule(delayMs: number, task: () => void): Disposable {
    if (this.#isDead) return disposable(() => {});
    const timer = this.#clock.schedule(delayMs, () => {
      this.#timers.delete(timer);
      task();
    });
    this.#timers.add(timer);
    return disposable(() => {
      this.#timers.delete(timer);
      timer.dispose();
    });
  }

  dispose(): void {
    this.#isDead = true;
    for (const timer of this.#timers) timer.dispose();
    this.#timers.clear();
  }
}
