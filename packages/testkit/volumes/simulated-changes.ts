import { type Disposable, disposable } from '@sheaf/base';

/** Tells listeners which object to look at again. */
export class SimulatedChanges {
  readonly #listeners = new Set<(id: string) => void>();

  listen(listener: (id: string) => void): Disposable {
    const entry = (id: string): void => listener(id);
    this.#listeners.add(entry);
    return disposable(() => this.#listeners.delete(entry));
  }

  announce(id: string): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener(id);
      } catch {
        // What a listener does is its own affair; real drivers log it.
      }
    }
  }
}
