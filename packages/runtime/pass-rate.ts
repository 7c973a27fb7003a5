import type { Clock } from '@sheaf/base';

const windowMs = 10_000;
const limit = 100;
const restMs = 200;

/**
 * Slows down keys that come back without a rest. Two writers that undo each other, or a pass that writes something new
 * each time, would otherwise keep the processor and the disk busy for ever.
 */
export class PassRate {
  readonly #clock: Clock;
  readonly #passes = new Map<string, number>();
  #windowEnd = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Counts a pass. How long the key must rest before it, in milliseconds; 0: not at all. */
  count(key: string): { readonly restMs: number; readonly isFirstRest: boolean } {
    const now = this.#clock.monotonic();
    if (now >= this.#windowEnd) {
      this.#passes.clear();
      this.#windowEnd = now + windowMs;
    }
    const passes = (this.#passes.get(key) ?? 0) + 1;
    this.#passes.set(key, passes);
    return { restMs: passes > limit ? restMs : 0, isFirstRest: passes === limit + 1 };
  }
}
