import type { Disposable } from './disposable.ts';

/**
 * Bytes that are pushed can be pulled, in order. Who pushes waits while more than the limit waits here; so it holds no more than
 * the limit and one push.
 */
export class BoundedQueue implements Disposable {
  readonly #limitBytes: number;
  #items: Uint8Array[] = [];
  #waitingBytes = 0;
  #isEnded = false;
  #isDisposed = false;
  #failure: Error | undefined;
  #wakeReader: () => void = ignore;
  #waitingWriters: (() => void)[] = [];

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /** Resolves when more may be pushed. What comes after the end is dropped. */
  async push(bytes: Uint8Array): Promise<void> {
    if (this.#isEnded || bytes.length === 0) return;
    this.#items.push(bytes);
    this.#waitingBytes += bytes.length;
    this.#wakeReader();
    while (this.#waitingBytes > this.#limitBytes && !this.#isDisposed)
      await new Promise<void>((resolve) => {
        this.#waitingWriters.push(resolve);
      });
  }

  /** After what waits the reader sees the end, or `failure`. */
  end(failure?: Error): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#failure = failure;
    this.#wakeReader();
  }

  /** Nobody wants what waits, or what is still pushed. */
  dispose(): void {
    this.#isDisposed = true;
    this.#isEnded = true;
    this.#items = [];
    this.#waitingBytes = 0;
    this.#wakeReader();
    this.#wakeWriters();
  }

  /** Read once. Whoever leaves it lets go of the rest. */
  async *items(): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      for (;;) {
        const item = this.#items.shift();
        if (item) {
          this.#waitingBytes -= item.length;
          this.#wakeWriters();
          yield item;
          continue;
        }
        if (this.#failure) throw this.#failure;
        if (this.#isEnded) return;
        await new Promise<void>((resolve) => {
          this.#wakeReader = resolve;
        });
      }
    } finally {
      this.dispose();
    }
  }

  #wakeWriters(): void {
    for (const wake of this.#waitingWriters.splice(0)) wake();
  }
}

function ignore(): void {
  // Nobody waits.
}
