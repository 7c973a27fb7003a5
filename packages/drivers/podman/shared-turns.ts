/** Turns of something that many may use at once, and one alone at times: who wants it alone waits for those who use it. */
export class SharedTurns {
  #alone: Promise<unknown> = Promise.resolve();
  readonly #users = new Set<Promise<unknown>>();

  /** Together with others, but never while somebody has it alone. */
  async share<T>(task: () => Promise<T>): Promise<T> {
    const use = this.#alone.then(task);
    this.#users.add(use);
    try {
      return await use;
    } finally {
      this.#users.delete(use);
    }
  }

  /** After all who came before; those who come later wait. */
  async alone<T>(task: () => Promise<T>): Promise<T> {
    const before = [this.#alone, ...[...this.#users].map(settle)];
    const use = Promise.all(before).then(task);
    this.#alone = settle(use);
    return await use;
  }
}

async function settle(promise: Promise<unknown>): Promise<void> {
  try {
    await promise;
  } catch {
    // It is told to who asked.
  }
}
