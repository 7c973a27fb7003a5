import type { Clock, Disposable } from '@sheaf/base';
import type { SimulatedContainer } from './simulated-container.ts';

interface Stop {
  deadline: number;
  timer: Disposable | undefined;
  readonly done: PromiseWithResolvers<void>;
}

/** Ends that one driver has under way; they do not outlive it. */
export class SimulatedStops implements Disposable {
  readonly #clock: Clock;
  readonly #life: AbortSignal;
  readonly #stops = new Map<SimulatedContainer, Stop>();

  constructor(clock: Clock, life: AbortSignal) {
    this.#clock = clock;
    this.#life = life;
  }

  async stop(container: SimulatedContainer, graceMs: number): Promise<void> {
    if (container.state !== 'running') return;
    const deadline = this.#clock.monotonic() + graceMs;
    const stop = this.#stops.get(container) ?? this.#begin(container, graceMs);
    if (deadline < stop.deadline) this.#schedule(container, stop, deadline);
    await stop.done.promise;
    this.#life.throwIfAborted();
  }

  dispose(): void {
    for (const { timer, done } of this.#stops.values()) {
      timer?.dispose();
      done.resolve();
    }
    this.#stops.clear();
  }

  #begin(container: SimulatedContainer, graceMs: number): Stop {
    const stop: Stop = { deadline: Infinity, timer: undefined, done: Promise.withResolvers() };
    this.#stops.set(container, stop);
    container.whenEnded(() => {
      stop.timer?.dispose();
      stop.done.resolve();
      this.#stops.delete(container);
    });
    if (graceMs > 0) container.process?.terminate();
    return stop;
  }

  #schedule(container: SimulatedContainer, stop: Stop, deadline: number): void {
    stop.timer?.dispose();
    stop.deadline = deadline;
    if (container.state !== 'running') return;
    stop.timer = this.#clock.schedule(deadline - this.#clock.monotonic(), () => container.process?.kill());
  }
}
