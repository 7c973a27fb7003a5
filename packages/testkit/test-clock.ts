import { type Clock, type Disposable, disposable } from '@sheaf/base';

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly task: () => void;
}

/** A clock that moves only when told. Timers run in the order of their times, then of their making. */
export class TestClock implements Clock {
  #elapsedMs = 0;
  readonly #startMs: number;
  #timers: Timer[] = [];
  #made = 0;

  /** `start`: RFC 3339. */
  constructor(start = '2026-01-01T00:00:00Z') {
    this.#startMs = Date.parse(start);
  }

  now(): number {
    return this.#startMs + this.#elapsedMs;
  }

  monotonic(): number {
    return this.#elapsedMs;
  }

  schedule(delayMs: number, task: () => void): Disposable {
    const timer: Timer = { at: this.#elapsedMs + Math.max(0, delayMs), order: this.#made++, task };
    this.#timers.push(timer);
    return disposable(() => {
      this.#timers = this.#timers.filter((item) => item !== timer);
    });
  }

  /** When the next timer is due, in milliseconds from now; `undefined` when there is none. */
  get nextDueMs(): number | undefined {
    const next = this.#next();
    return next && next.at - this.#elapsedMs;
  }

  /** Moves the clock and runs what falls due on the way, each at its time. */
  advance(milliseconds: number): void {
    const target = this.#elapsedMs + milliseconds;
    for (let next = this.#next(); next && next.at <= target; next = this.#next()) {
      this.#elapsedMs = Math.max(this.#elapsedMs, next.at);
      this.#timers = this.#timers.filter((item) => item !== next);
      next.task();
    }
    this.#elapsedMs = target;
  }

  #next(): Timer | undefined {
    let best: Timer | undefined;
    for (const timer of this.#timers) {
      if (!best || timer.at < best.at || (timer.at === best.at && timer.order < best.order)) best = timer;
    }
    return best;
  }
}
