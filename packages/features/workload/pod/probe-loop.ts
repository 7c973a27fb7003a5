import type { Probe } from '@sheaf/api/workload/index';
import { type Clock, sleep } from '@sheaf/base';
import type { CheckResult } from '@sheaf/ports';

export interface ProbeLoopOptions {
  readonly clock: Clock;
  readonly probe: Probe;
  /** When its container was started, milliseconds since 1970. */
  readonly startedAtMs: number;
  readonly carryOut: (signal: AbortSignal) => Promise<CheckResult>;
  /** False: this round is left out. */
  readonly isDue: () => boolean;
  /** `isEnough`: there have been as many of its kind in a row as count. True ends the loop. */
  readonly onResult: (result: CheckResult, isEnough: boolean) => boolean;
}

/** Carries a probe out again and again until the signal aborts, or what it looked for is found. */
export async function runProbeLoop(options: ProbeLoopOptions, signal: AbortSignal): Promise<void> {
  const { clock, probe, startedAtMs, isDue } = options;
  const streak = new Streak(probe);
  const beginMs = startedAtMs + (probe.initialDelaySeconds ?? 0) * 1000;
  await pause(clock, Math.max(0, beginMs - clock.now()), signal);
  while (!signal.aborted) {
    if (isDue() && (await runOnce(options, streak, signal))) return;
    await pause(clock, (probe.periodSeconds ?? 10) * 1000, signal);
  }
}

async function runOnce(options: ProbeLoopOptions, streak: Streak, signal: AbortSignal): Promise<boolean> {
  const result = await boundedCheck(options, signal);
  return signal.aborted || options.onResult(result, streak.isEnough(result.isHealthy));
}

async function boundedCheck(
  { clock, probe, carryOut }: ProbeLoopOptions,
  signal: AbortSignal,
): Promise<CheckResult> {
  const text = `no answer within ${probe.timeoutSeconds ?? 1} s`;
  const late = new AbortController();
  const timer = clock.schedule((probe.timeoutSeconds ?? 1) * 1000, () => late.abort(new Error(text)));
  try {
    return await carryOut(AbortSignal.any([late.signal, signal]));
  } catch (error) {
    return { isHealthy: false, text: late.signal.aborted ? text : String(error) };
  } finally {
    timer.dispose();
  }
}

class Streak {
  readonly #probe: Probe;
  #isHealthy: boolean | undefined;
  #count = 0;

  constructor(probe: Probe) {
    this.#probe = probe;
  }

  isEnough(isHealthy: boolean): boolean {
    this.#count = isHealthy === this.#isHealthy ? this.#count + 1 : 1;
    this.#isHealthy = isHealthy;
    const { successThreshold = 1, failureThreshold = 3 } = this.#probe;
    return this.#count >= (isHealthy ? successThreshold : failureThreshold);
  }
}

/** Ends early, without a word, when the signal aborts. */
async function pause(clock: Clock, milliseconds: number, signal: AbortSignal): Promise<void> {
  await sleep(clock, milliseconds, signal).catch(() => undefined);
}
