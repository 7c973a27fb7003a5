import { type Clock, disposable } from '@sheaf/base';

/** Longest delay that Node's timers take; longer ones go in steps. */
const longestDelayMs = 2 ** 31 - 1;

/** The machine's clock. Its timers do not keep the process alive. */
export const systemClock: Clock = {
  now() {
    return Date.now();
  },
  monotonic() {
    return performance.now();
  },
  schedule(delayMs, task) {
    let timer = start(delayMs, task);
    return disposable(() => clearTimeout(timer));

    function start(remainingMs: number, run: () => void): NodeJS.Timeout {
      if (remainingMs <= longestDelayMs) return setTimeout(run, Math.max(0, remainingMs)).unref();
      return setTimeout(() => {
        timer = start(remainingMs - longestDelayMs, run);
      }, longestDelayMs).unref();
    }
  },
};
