import { type Clock, type Disposable, type Logger, toError } from '@sheaf/base';
import type { SqliteJournal } from './sqlite-journal.ts';

const stepEveryMs = 100;

/**
 * Verifies, once after each start and slowly, the history that opening did not read. Damage there harms no newest
 * record; it is reported, and reads of that history fail.
 */
export class Verification implements Disposable {
  readonly #journal: SqliteJournal;
  readonly #clock: Clock;
  readonly #logger: Logger;
  #timer: Disposable | undefined;

  constructor(options: { journal: SqliteJournal; clock: Clock; logger: Logger }) {
    this.#journal = options.journal;
    this.#clock = options.clock;
    this.#logger = options.logger;
  }

  /** Verifies everything up to `through`. */
  start(through: number): void {
    this.#schedule(0, through);
  }

  dispose(): void {
    this.#timer?.dispose();
  }

  #schedule(after: number, through: number): void {
    this.#timer = this.#clock.schedule(stepEveryMs, () => {
      try {
        const next = this.#journal.verify(after);
        if (next !== undefined && next < through) this.#schedule(next, through);
      } catch (error) {
        this.#logger.error('the history of the store is damaged', { error: toError(error) });
      }
    });
  }
}
