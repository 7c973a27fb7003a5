import type { Container, LifecycleHandler } from '@sheaf/api/workload/index';
import { type Clock, sleep, toError } from '@sheaf/base';
import type { CheckResult } from '@sheaf/ports';
import type { ContainerChecks } from './container-checks.ts';
import type { ContainerRun } from './run-ids.ts';

export interface HookTarget {
  readonly container: Container;
  readonly run: Pick<ContainerRun, 'observed'>;
}

/** What a container asks to be done after its start and before its end. */
export class LifecycleHooks {
  readonly #checks: ContainerChecks;
  readonly #clock: Clock;

  constructor(checks: ContainerChecks, clock: Clock) {
    this.#checks = checks;
    this.#clock = clock;
  }

  /** Bounded by `limitMs`, if there is one; what goes wrong is told, and stops nothing. */
  async run(
    { container, run }: HookTarget,
    hook: LifecycleHandler,
    { limitMs, signal }: { readonly limitMs?: number; readonly signal: AbortSignal },
  ): Promise<CheckResult> {
    const late = new AbortController();
    const giveUp = (): void => late.abort(new Error(`not done within ${limitMs} ms`));
    const timer = limitMs === undefined ? undefined : this.#clock.schedule(limitMs, giveUp);
    const all = AbortSignal.any([late.signal, signal]);
    try {
      if (hook.sleep) {
        await sleep(this.#clock, hook.sleep.seconds * 1000, all);
        return { isHealthy: true };
      }
      const { id: runId, sandboxId } = run.observed;
      return await this.#checks.carryOut({ container, runId, sandboxId }, hook, all);
    } catch (error) {
      return {
        isHealthy: false,
        text: late.signal.aborted ? `not done within ${limitMs} ms` : toError(error).message,
      };
    } finally {
      timer?.dispose();
    }
  }
}
