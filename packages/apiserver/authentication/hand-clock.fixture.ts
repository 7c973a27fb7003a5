import { hash } from 'node:crypto';
import type { Clock, Random } from '@sheaf/base';

/** A clock that moves when told; both clocks run alike. */
export class HandClock implements Clock {
  #now: number;
  readonly #tasks = new Set<{ at: number; task: () => void }>();

  constructor(now = Date.UTC(2026, 10, 21)) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#now;
  }

  schedule(delayMs: number, task: () => void) {
    const entry = { at: this.#now + delayMs, task };
    this.#tasks.add(entry);
    return { dispose: () => void this.#tasks.delete(entry) };
  }

  advance(milliseconds: number): void {
    this.#now += milliseconds;
    for (const entry of this.#tasks) {
      if (entry.at > this.#now) continue;
      this.#tasks.delete(entry);
      entry.task();
    }
  }
}

let drawn = 0;

function draw(): string {
  return hash('sha256', `seed ${drawn++}`, 'hex');
}

/** The same values in each run. */
export const seededRandom: Random = {
  bytes: (length) =>
    new Uint8Array(Buffer.from(draw().repeat(Math.ceil(length / 32)), 'hex').subarray(0, length)),
  uuid: () => draw().replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-4$3-8$4-$5'),
  integer: (below) => Number.parseInt(draw().slice(0, 8), 16) % below,
};
