import type { Clock } from '@sheaf/base';
import { type MachineFacts, readFacts } from './machine-facts.ts';
import { type QmpClient, textAt } from './qmp-client.ts';

/** What was done to the machine behind our back, through its second control socket, is seen after so long. */
const keepMs = 1000;

interface Kept {
  readonly facts: MachineFacts;
  readonly changes: number;
  readonly untilMs: number;
}

/**
 * What a machine says about itself. Whether it runs is asked each time; the rest, which takes six questions, for a moment only
 * when something may have changed it.
 */
export class KeptFacts {
  readonly #qmp: QmpClient;
  readonly #clock: Clock;
  #kept: Kept | undefined;

  constructor(qmp: QmpClient, clock: Clock) {
    this.#qmp = qmp;
    this.#clock = clock;
  }

  async read(): Promise<MachineFacts> {
    const kept = this.#kept;
    if (kept && kept.changes === this.#qmp.changes && this.#clock.monotonic() < kept.untilMs) {
      const status = textAt(await this.#qmp.execute('query-status'), 'status') ?? 'unknown';
      // What happened in between is asked for like everything else.
      if (kept.changes === this.#qmp.changes) return { ...kept.facts, status };
    }
    const { changes } = this.#qmp;
    const untilMs = this.#clock.monotonic() + keepMs;
    const facts = await readFacts(this.#qmp);
    this.#kept = { facts, changes, untilMs };
    return facts;
  }
}
