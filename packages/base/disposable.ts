/** Something with a lifetime. `dispose` is idempotent and does not throw. */
export interface Disposable {
  dispose(): void;
}

/** Owns disposables and ends them in reverse order of registration. */
export class DisposableStore implements Disposable {
  #items: Disposable[] = [];
  #isDisposed = false;

  /** Registers `item` and returns it. An item added after disposal is disposed at once. */
  add<T extends Disposable>(item: T): T {
    if (this.#isDisposed) item.dispose();
    else this.#items.push(item);
    return item;
  }

  dispose(): void {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    for (const item of this.#items.reverse()) item.dispose();
    this.#items = [];
  }
}

export function disposable(dispose: () => void): Disposable {
  let isDisposed = false;
  return {
    dispose() {
      if (isDisposed) return;
      isDisposed = true;
      dispose();
    },
  };
}
