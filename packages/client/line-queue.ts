/** Turns chunks that are pushed into lines that are pulled. A chunk may hold part of a line or many. */
export class LineQueue {
  readonly #decoder = new TextDecoder();
  #chunks: Uint8Array[] = [];
  #queuedBytes = 0;
  #isEnded = false;
  #failure: Error | undefined;
  #wake: (() => void) | undefined;

  /** Bytes pushed and not yet taken. */
  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  push(chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    this.#queuedBytes += chunk.length;
    this.#wakeReader();
  }

  /** After what is queued, the lines end, or fail with `failure`. */
  end(failure?: Error): void {
    this.#isEnded = true;
    this.#failure ??= failure;
    this.#wakeReader();
  }

  async *lines(): AsyncGenerator<string> {
    let rest = '';
    for await (const chunk of this.#taken()) {
      const parts = (rest + this.#decoder.decode(chunk, { stream: true })).split('\n');
      rest = parts.pop() ?? '';
      yield* parts.filter((line) => line !== '');
    }
    if (rest !== '') yield rest;
  }

  /** Everything until the end. */
  async text(): Promise<string> {
    let text = '';
    for await (const chunk of this.#taken()) text += this.#decoder.decode(chunk, { stream: true });
    return text + this.#decoder.decode();
  }

  async *#taken(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const chunk = this.#chunks.shift();
      if (chunk) {
        this.#queuedBytes -= chunk.length;
        yield chunk;
        continue;
      }
      if (this.#failure) throw this.#failure;
      if (this.#isEnded) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #wakeReader(): void {
    this.#wake?.();
    this.#wake = undefined;
  }
}
