import type { Clock } from '@sheaf/base';
import type { StartProblem } from './container-status.ts';

interface FailedStart {
  readonly problem: StartProblem;
  readonly untilMs: number;
}

/**
 * Starts that the host has refused, each with its rest: a start that fails makes something and takes it away again, which is told
 * like any change, and would otherwise be tried again at once.
 */
export class FailedStarts {
  readonly #clock: Clock;
  readonly #failed = new Map<string, FailedStart>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  note(runId: string, problem: StartProblem, restMs: number): void {
    this.#failed.set(runId, { problem, untilMs: this.#clock.monotonic() + restMs });
  }

  /** `undefined`: it may be tried now. */
  restOf(runId: string): { readonly problem: StartProblem; readonly retryMs: number } | undefined {
    const failed = this.#failed.get(runId);
    const leftMs = failed ? failed.untilMs - this.#clock.monotonic() : 0;
    return failed && leftMs > 0 ? { problem: failed.problem, retryMs: leftMs } : undefined;
  }

  forget(runId: string): void {
    this.#failed.delete(runId);
  }

  /** Of a pod that is no more. */
  forgetPod(podUid: string): void {
    for (const runId of this.#failed.keys()) if (runId.startsWith(`${podUid}_`)) this.#failed.delete(runId);
  }
}
