import { type Clock, type Disposable, disposable } from '@sheaf/base';
import type { Scheduler } from './scheduler.ts';

/**
 * A clock for drivers: what is to happen within a few milliseconds happens when it is chosen, and takes no time; everything else
 * waits for the clock below. So what a driver does between two of its steps is a choice, not a question of speed.
 */
export class StepClock implements Clock {
  readonly #clock: Clock;
  readonly #scheduler: Scheduler;
  readonly #name: string;
  readonly #longestStepMs: number;
  #steps = 0;

  constructor(clock: Clock, options: { scheduler: Scheduler; name: string; longestStepMs: number }) {
    this.#clock = clock;
    this.#scheduler = options.scheduler;
    this.#name = options.name;
    this.#longestStepMs = options.longestStepMs;
  }

  now(): number {
    return this.#clock.now();
  }

  monotonic(): number {
    return this.#clock.monotonic();
  }

  schedule(delayMs: number, task: () => void): Disposable {
    if (delayMs > this.#longestStepMs) return this.#clock.schedule(delayMs, task);
    const lane = `${this.#name}#${++this.#steps}`;
    this.#scheduler.add(lane, 'goes on', task);
    return disposable(() => this.#scheduler.drop(lane));
  }
}
