import { type FSWatcher, watch } from 'node:fs';
import type { Clock, Disposable } from '@sheaf/base';

export interface DirectoryWatchOptions {
  readonly clock: Clock;
  /** Files whose coming or changing is waited for. */
  readonly names: readonly string[];
}

/** Waits for files in a directory to come or to change. Where the system cannot tell, it says so, and its users look now and then. */
export class DirectoryWatch implements Disposable {
  readonly #clock: Clock;
  readonly #names: ReadonlySet<string>;
  readonly #seen = new Set<string>();
  readonly #watcher: FSWatcher | undefined;
  #wake: (() => void) | undefined;
  #hasChanged = false;

  constructor(directory: string, { clock, names }: DirectoryWatchOptions) {
    this.#clock = clock;
    this.#names = new Set(names);
    this.#watcher = this.#open(directory);
  }

  /** False: nothing is told. */
  get isWatching(): boolean {
    return this.#watcher !== undefined;
  }

  /** True where it has come or changed since the watch began. */
  hasSeen(name: string): boolean {
    return this.#seen.has(name);
  }

  /** Resolves at the next change since it last resolved, or after the time. */
  async next(milliseconds: number): Promise<void> {
    if (!this.#hasChanged) await this.#changeOr(milliseconds);
    this.#hasChanged = false;
  }

  dispose(): void {
    this.#watcher?.close();
    this.#wake?.();
  }

  async #changeOr(milliseconds: number): Promise<void> {
    let timer: Disposable | undefined;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      timer = this.#clock.schedule(milliseconds, resolve);
    });
    this.#wake = undefined;
    timer?.dispose();
  }

  #open(directory: string): FSWatcher | undefined {
    try {
      const watcher = watch(directory, { persistent: false }, (_event, name) => this.#take(name));
      return watcher.on('error', () => watcher.close());
    } catch {
      // The system has no more watches to give.
      return undefined;
    }
  }

  #take(name: string | null): void {
    if (name === null || !this.#names.has(name)) return;
    this.#seen.add(name);
    this.#hasChanged = true;
    this.#wake?.();
  }
}
