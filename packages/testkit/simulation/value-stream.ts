/** Values that are pushed by one side and pulled by the other. */
export class ValueStream<T> {
  readonly #values: T[] = [];
  #isEnded = false;
  #failure: Error | undefined;
  #wake: (() => void) | undefined;

  get isEnded(): boolean {
    return this.#isEnded;
  }

  push(value: T): void {
    if (this.#isEnded) return;
    this.#values.push(value);
    this.#signal();
  }

  end(failure?: Error): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#failure = failure;
    this.#signal();
  }

  async *values(): AsyncGenerator<T> {
    for (;;) {
      const value = this.#values.shift();
      if (value !== undefined) {
        yield value;
        continue;
      }
      if (this.#failure) throw this.#failure;
      if (this.#isEnded) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #signal(): void {
    this.#wake?.();
    this.#wake = undefined;
  }
}
