import type { Disposable } from './disposable.ts';

/**
 * Time as the code may see it. Injected by the composition root; the testkit owns one that only moves when told.
 */
export interface Clock {
  /** Wall-clock time in milliseconds since 1970-01-01 UTC. May step; never used to tell operations apart. */
  now(): number;
  /** Milliseconds from an arbitrary origin; never steps back. For durations and deadlines. */
  monotonic(): number;
  /** Runs `task` once after `delayMs` milliseconds, unless disposed before. */
  schedule(delayMs: number, task: () => void): Disposable;
}

/** Resolves after `delayMs`, or rejects with the signal's reason when `signal` aborts first. */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(abortReason(signal));
    const timer = clock.schedule(delayMs, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    function onAbort(): void {
      timer.dispose();
      if (signal) reject(abortReason(signal));
    }
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

function abortReason(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new Error('aborted', { cause: signal.reason });
}
