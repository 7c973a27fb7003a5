import type { Clock } from '@sheaf/base';
import { type MachineFacts, readFacts } from './machine-facts.ts';
import { type QmpClient, textAt } from './qmp-client.ts';

/** What was done to the machine behind our back, through its second control socket, is seen after so long. */
const keepMs = 1000;

interface Kept {
  readonly facts: MachineFacts;
  readonly changes: number;
  readonly turns: number;
  readonly untilMs: number;
}

/**
 * What a machine says about itself. It is asked for a moment only when something may have changed it, and that its processors run or
 * stand is told as an event: one that is on its way is followed by a look of its own. Whether one that stands has come to its end
 * is asked each time.
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
      if (kept.facts.status === 'running' && kept.turns === this.#qmp.turns) return kept.facts;
      const facts = await this.#withStatus(kept);
      // What happened in between is asked for like everything else.
      if (kept.changes === this.#qmp.changes) return facts;
    }
    const { changes, turns } = this.#qmp;
    const untilMs = this.#clock.monotonic() + keepMs;
    const facts = await readFacts(this.#qmp);
    this.#kept = { facts, changes, turns, untilMs };
    return facts;
  }

  async #withStatus(kept: Kept): Promise<MachineFacts> {
    const { turns } = this.#qmp;
    const status = textAt(await this.#qmp.execute('query-status'), 'status') ?? 'unknown';
    const facts = { ...kept.facts, status };
    if (this.#kept === kept) this.#kept = { ...kept, facts, turns };
    return facts;
  }
}
