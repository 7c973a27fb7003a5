import { constants } from 'node:os';
import { type Clock, type Disposable, sleep } from '@sheaf/base';
import type { HostProcesses } from './host-processes.ts';
import { refusals } from './refusals.ts';
import { send } from './run-processes.ts';

interface Stop {
  /** By the clock that never goes back. */
  deadlineMs: number;
  readonly ended: Promise<void>;
}

const pollMs = 10;
/** A process that was killed and is still there after this waits in the kernel. */
const patienceMs = 30_000;

/** Ends runs in the time that they are given; those who ask for one later make that time shorter, never longer. */
export class RunStops implements Disposable {
  readonly #host: HostProcesses;
  readonly #clock: Clock;
  readonly #stops = new Map<string, Stop>();
  #isDisposed = false;

  constructor(host: HostProcesses) {
    this.#host = host;
    this.#clock = host.clock;
  }

  dispose(): void {
    this.#isDisposed = true;
  }

  /** Resolves when it has ended. An aborted `signal` ends the waiting alone. */
  async stop(id: string, graceMs: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const deadlineMs = this.#clock.monotonic() + graceMs;
    const stop = this.#stops.get(id) ?? this.#begin(id, { deadlineMs, isAtOnce: graceMs === 0 });
    stop.deadlineMs = Math.min(stop.deadlineMs, deadlineMs);
    let onAbort = (): void => undefined;
    const aborted = new Promise<never>((_, reject) => {
      onAbort = () => reject(signal.reason as Error);
      signal.addEventListener('abort', onAbort, { once: true });
    });
    try {
      await Promise.race([stop.ended, aborted]);
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  #begin(
    id: string,
    { deadlineMs, isAtOnce }: { readonly deadlineMs: number; readonly isAtOnce: boolean },
  ): Stop {
    const ended = Promise.resolve().then(() => this.#end(id, isAtOnce));
    const stop: Stop = { deadlineMs, ended };
    this.#stops.set(id, stop);
    const forget = (): void => void this.#stops.delete(id);
    ended.then(forget, forget);
    return stop;
  }

  async #end(id: string, isAtOnce: boolean): Promise<void> {
    if (!isAtOnce) await this.#ask(id);
    let lastMs: number | undefined;
    while (!this.#isDisposed && (await this.#isThere(id))) {
      const nowMs = this.#clock.monotonic();
      if (nowMs >= (this.#stops.get(id)?.deadlineMs ?? 0)) {
        lastMs ??= nowMs + patienceMs;
        if (nowMs > lastMs) throw refusals.notEnding(id);
        await this.#host.kill(id);
      }
      await sleep(this.#clock, pollMs);
    }
  }

  async #isThere(id: string): Promise<boolean> {
    const run = await this.#host.findRun(id);
    return run !== undefined && run.state !== 'ended';
  }

  async #ask(id: string): Promise<void> {
    const run = await this.#host.findRun(id);
    if (run?.processId === undefined) return;
    const name = await this.#host.stopSignal(id);
    const number = /^\d+$/.test(name) ? Number(name) : constants.signals[name as NodeJS.Signals];
    send(run.processId, number ?? 'SIGTERM');
  }
}
