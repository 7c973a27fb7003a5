import { type Clock, StatusError, sleep, toError } from '@sheaf/base';

/** A sender whose connection broke is noticed within this time, unless it fell silent. */
const turnMs = 10_000;

/** One sender a claim: the next one waits a moment for the one before to be over, which may have broken off just now. */
export class UploadTurns {
  readonly #clock: Clock;
  readonly #running = new Map<string, Promise<unknown>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @throws StatusError 409 when the one before goes on */
  async run<T>(id: string, send: () => Promise<T>, signal: AbortSignal): Promise<T> {
    await this.#myTurn(id, signal);
    const sent = send();
    // Those that wait care for its end alone.
    const over = sent.catch(toError);
    this.#running.set(id, over);
    try {
      return await sent;
    } finally {
      if (this.#running.get(id) === over) this.#running.delete(id);
    }
  }

  async #myTurn(id: string, signal: AbortSignal): Promise<void> {
    const endMs = this.#clock.monotonic() + turnMs;
    for (;;) {
      const before = this.#running.get(id);
      if (!before) return;
      if (this.#clock.monotonic() >= endMs)
        throw new StatusError({
          reason: 'Conflict',
          message:
            'somebody is uploading to this claim already; wait until that has ended, or break it off, and try again',
        });
      const rest = new AbortController();
      const waited = sleep(
        this.#clock,
        endMs - this.#clock.monotonic(),
        AbortSignal.any([signal, rest.signal]),
      );
      await Promise.race([before, waited]).finally(() => rest.abort(new Error('it is over')));
      await waited.catch(() => undefined);
    }
  }
}
