import type { Clock } from '@sheaf/base';

const firstMs = 1000;
const longestMs = 15 * 60_000;

interface Rest {
  readonly sinceMs: number;
  readonly lengthMs: number;
}

/** How long what fails again and again rests: twice as long each time, until it has been well for twice the longest rest. */
export class RestAfterFailure {
  readonly #clock: Clock;
  readonly #rests = new Map<string, Rest>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** 0: it may be tried now. */
  remainingMs(key: string): number {
    const rest = this.#rests.get(key);
    return rest ? Math.max(0, rest.sinceMs + rest.lengthMs - this.#clock.monotonic()) : 0;
  }

  noteFailure(key: string): void {
    const sinceMs = this.#clock.monotonic();
    const before = this.#rests.get(key);
    const isOld = before !== undefined && sinceMs - before.sinceMs > 2 * longestMs;
    const lengthMs = before && !isOld ? Math.min(longestMs, before.lengthMs * 2) : firstMs;
    this.#rests.set(key, { sinceMs, lengthMs });
    for (const [other, rest] of this.#rests)
      if (sinceMs - rest.sinceMs > 2 * longestMs) this.#rests.delete(other);
  }
}
