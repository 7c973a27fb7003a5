import { type Disposable, disposable, type Logger, toError } from '@sheaf/base';

/** Tells listeners which object to look at again. What they do about it is their own affair. */
export class Announcer {
  readonly #listeners = new Set<(id: string) => void>();
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  listen(listener: (id: string) => void): Disposable {
    const entry = (id: string): void => listener(id);
    this.#listeners.add(entry);
    return disposable(() => this.#listeners.delete(entry));
  }

  announce(id: string): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener(id);
      } catch (error) {
        this.#logger.error('a listener failed', { id, error: toError(error).message });
      }
    }
  }
}
