import type { Random } from '@sheaf/base';

/** Randomness that a seed decides. Not for secrets. */
export class SeededRandom implements Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  integer(below: number): number {
    return Math.floor((this.#next() / 2 ** 32) * below);
  }

  bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.integer(256));
  }

  uuid(): string {
    const [a, b, c, d] = [this.#word(), this.#word(), this.#word(), this.#word()];
    const variant = '89ab'[this.integer(4)];
    return `${a}-${b.slice(0, 4)}-4${b.slice(5)}-${variant}${c.slice(1, 4)}-${c.slice(4)}${d}`;
  }

  /** Eight hexadecimal digits. */
  #word(): string {
    return this.#next().toString(16).padStart(8, '0');
  }

  /** mulberry32: small, fast, good enough to choose schedules. */
  #next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  }
}
