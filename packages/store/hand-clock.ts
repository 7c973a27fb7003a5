import { type Clock, type Disposable, disposable } from '@sheaf/base';

/** A clock for tests that moves only when told. */
export class HandClock implements Clock {
  #now: number;
  #timers: { at: number; task: () => void }[] = [];

  constructor(now = 1_700_000_000_000) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#now;
  }

  schedule(delayMs: number, task: () => void): Disposable {
    const timer = { at: this.#now + delayMs, task };
    this.#timers.push(timer);
    return disposable(() => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    });
  }

  /** Moves on and runs what is due, in order. */
  advance(durationMs: number): void {
    this.#now += durationMs;
    const due = this.#timers.filter((timer) => timer.at <= this.#now);
    this.#timers = this.#timers.filter((timer) => timer.at > this.#now);
    for (const timer of due.sort((a, b) => a.at - b.at)) timer.task();
  }
}
