import { type Clock, disposable } from '@sheaf/base';

/** The real time, for processes that are really killed. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  schedule(delayMs, task) {
    const timer = setTimeout(task, delayMs);
    return disposable(() => clearTimeout(timer));
  },
};
