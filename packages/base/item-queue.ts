/** What is pushed can be pulled, in order. The one who pushes is told when to pause and when to go on. */
export class ItemQueue<T> {
  readonly #onDemand: (isWanted: boolean) => void;
  #items: T[] = [];
  #isEnded = false;
  #failure: Error | undefined;
  #wake: (() => void) | undefined;

  /** `onDemand(false)`: something waits here; `onDemand(true)`: nothing does any more. */
  constructor(onDemand: (isWanted: boolean) => void) {
    this.#onDemand = onDemand;
  }

  push(item: T): void {
    if (this.#isEnded) return;
    this.#items.push(item);
    if (this.#items.length === 1) this.#onDemand(false);
    this.#wakeReader();
  }

  /** After what is queued the reader sees the end, or `failure`. */
  end(failure?: Error): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#failure = failure;
    this.#wakeReader();
  }

  async *items(): AsyncGenerator<T, void, undefined> {
    for (;;) {
      const [item] = this.#items;
      if (this.#items.length > 0) {
        this.#items.shift();
        if (this.#items.length === 0 && !this.#isEnded) this.#onDemand(true);
        yield item as T;
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
