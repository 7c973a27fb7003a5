import type { Clock } from '@sheaf/base';

const windowMs = 10_000;
const limit = 100;
const restMs = 200;

interface Passes {
  count: number;
  lastMs: number;
  hasRested: boolean;
}

/**
 * Slows down keys that come back without a rest: beyond the limit they pass once in 200 ms. Two writers that undo each other, or a
 * pass that writes something new each time, would otherwise keep the processor and the disk busy for ever.
 */
export class PassRate {
  readonly #clock: Clock;
  readonly #passes = new Map<string, Passes>();
  #windowEnd = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Counts a pass, if it may be now. How long the key must rest before it, in milliseconds; 0: not at all. */
  count(key: string): { readonly restMs: number; readonly isFirstRest: boolean } {
    const now = this.#clock.monotonic();
    if (now >= this.#windowEnd) {
      this.#passes.clear();
      this.#windowEnd = now + windowMs;
    }
    const passes = this.#passes.get(key) ?? { count: 0, lastMs: now, hasRested: false };
    this.#passes.set(key, passes);
    const leftMs = passes.count < limit ? 0 : passes.lastMs + restMs - now;
    if (leftMs > 0) {
      const isFirstRest = !passes.hasRested;
      passes.hasRested = true;
      return { restMs: leftMs, isFirstRest };
    }
    passes.count++;
    passes.lastMs = now;
    return { restMs: 0, isFirstRest: false };
  }
}
