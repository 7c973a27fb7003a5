import type { HistoryQuery, HistorySlice, Journal } from '../journal.ts';

export interface ReplayOptions<T> {
  readonly prefix: string;
  readonly after: number;
  readonly read: (query: HistoryQuery) => HistorySlice<T>;
  readonly visit: (item: T) => void;
  /** Called after each step; false ends the replay. */
  readonly goOn: (next: number) => boolean;
}

/** History after `at` is still to be read: sweeping waits for it. */
export interface Pin {
  at: number;
}

/** Reads of history that go on while writes do. */
export class Replays {
  readonly #journal: Journal;
  readonly #revision: () => number;
  readonly #pins = new Set<Pin>();

  constructor(journal: Journal, revision: () => number) {
    this.#journal = journal;
    this.#revision = revision;
  }

  /** What is superseded at this revision may be swept. */
  get floor(): number {
    let floor = Number.POSITIVE_INFINITY;
    for (const pin of this.#pins) floor = Math.min(floor, pin.at);
    return floor;
  }

  turn(): Promise<void> {
    return new Promise((resolve) => this.#journal.soon(resolve));
  }

  /** Runs `task` with history pinned after `after`; the task may move the pin on. */
  async pinned<T>(after: number, task: (pin: Pin) => Promise<T>): Promise<T> {
    const pin = { at: after };
    this.#pins.add(pin);
    try {
      return await task(pin);
    } finally {
      this.#pins.delete(pin);
    }
  }

  /**
   * Walks history in steps that let others run in between, until it has caught up with what is durable. `then` runs in
   * the same turn as the last step, so that it can go on from there without gap or duplicate.
   */
  async run<T, R>(options: ReplayOptions<T>, then: () => R): Promise<R | undefined> {
    let cursor = options.after;
    while (cursor < this.#revision()) {
      const slice = options.read({ after: cursor, through: this.#revision(), prefix: options.prefix });
      for (const item of slice.items) options.visit(item);
      cursor = slice.next;
      if (!options.goOn(cursor)) return undefined;
      if (cursor < this.#revision()) await this.turn();
    }
    return then();
  }
}
