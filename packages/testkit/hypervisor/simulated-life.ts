import { type Clock, type Disposable, type Random, sleep } from '@sheaf/base';

/** What decides how long a step takes, and whether a life ends in it. */
export interface SteppedHost {
  readonly clock: Clock;
  readonly random: Random;
  readonly faults: {
    readonly longestStepMs: number;
    readonly onStep: (step: string, id: string) => void;
  };
}

/** The work of one driver until its death, which comes between two steps. */
export class SimulatedLife implements Disposable {
  readonly #host: SteppedHost;
  readonly #controller = new AbortController();

  constructor(host: SteppedHost) {
    this.#host = host;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  dispose(): void {
    this.#controller.abort(new Error('the driver has been disposed'));
  }

  /** An aborted signal ends the waiting; the death of this life ends the work, too. */
  async call<T>(step: string, signal: AbortSignal, task: () => T | Promise<T>): Promise<T> {
    signal.throwIfAborted();
    const result = this.step('called', step).then(task);
    result.catch(() => undefined);
    const aborted = Promise.withResolvers<never>();
    const onAbort = (): void => aborted.reject(reasonOf(signal));
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      return await Promise.race([result, aborted.promise]);
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** A moment between two steps, in which this life may end. */
  async step(step: string, id: string): Promise<void> {
    const { clock, random, faults } = this.#host;
    await Promise.resolve();
    if (faults.longestStepMs > 0) await sleep(clock, random.integer(faults.longestStepMs + 1), this.signal);
    faults.onStep(step, id);
    this.signal.throwIfAborted();
  }
}

function reasonOf(signal: AbortSignal): Error {
  const { reason } = signal as { reason: unknown };
  return reason instanceof Error ? reason : new Error('the caller gave up waiting', { cause: reason });
}
