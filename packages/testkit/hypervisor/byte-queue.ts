import type { ByteStream } from '@sheaf/ports';

/** A stream whose other side is in this process. */
export class ByteQueue implements ByteStream {
  readonly #onWrite: (bytes: Uint8Array) => void;
  readonly #onDispose: () => void;
  #waiting: Uint8Array[] = [];
  #isEnded = false;
  #wake: (() => void) | undefined;

  constructor(options: { onWrite?: (bytes: Uint8Array) => void; onDispose?: () => void } = {}) {
    this.#onWrite = options.onWrite ?? (() => undefined);
    this.#onDispose = options.onDispose ?? (() => undefined);
  }

  get readable(): AsyncIterable<Uint8Array> {
    return this.#read();
  }

  push(bytes: Uint8Array): void {
    this.#waiting.push(bytes);
    this.#wake?.();
  }

  async write(bytes: Uint8Array): Promise<void> {
    if (this.#isEnded) throw new Error('the stream has ended: open it again');
    this.#onWrite(bytes);
    return Promise.resolve();
  }

  end(): void {
    this.#isEnded = true;
    this.#wake?.();
  }

  dispose(): void {
    this.#onDispose();
    this.end();
  }

  async *#read(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const waiting = this.#waiting;
      this.#waiting = [];
      yield* waiting;
      if (this.#waiting.length > 0) continue;
      if (this.#isEnded) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
