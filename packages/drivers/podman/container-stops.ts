import { sleep } from '@sheaf/base';
import { containerObservation, isRunning, type SeenContainer } from './engine-containers.ts';
import type { PodmanEngine } from './podman-engine.ts';
import { refusals } from './refusals.ts';
import { RestError } from './rest-client.ts';

interface Stop {
  deadline: number;
  /** Has it look again now. */
  wake: () => void;
  readonly done: Promise<void>;
}

/** Between the first looks, and between later ones: an end is announced, but not always at once. */
const [firstMs, longestMs] = [10, 250];
/** A container that was killed and has not ended is killed again after this time. */
const againMs = 1000;

/** Ends of containers that are under way: one for each, with the earliest deadline that anybody gave. */
export class ContainerStops {
  readonly #engine: PodmanEngine;
  readonly #stops = new Map<string, Stop>();

  constructor(engine: PodmanEngine) {
    this.#engine = engine;
  }

  async stop(id: string, graceMs: number): Promise<void> {
    const deadline = this.#engine.parts.clock.monotonic() + graceMs;
    const under = this.#stops.get(id);
    if (under) {
      under.deadline = Math.min(under.deadline, deadline);
      under.wake();
      return await under.done;
    }
    const done = Promise.resolve()
      .then(() => this.#run(id))
      .finally(() => this.#stops.delete(id));
    this.#stops.set(id, { deadline, wake: () => undefined, done });
    await done;
  }

  async #run(id: string): Promise<void> {
    const { catalog, parts } = this.#engine;
    const { clock, limits } = parts;
    const seen = await catalog.find('container', id);
    if (!seen) throw refusals.noContainer(id);
    if (!isRunning(seen)) return;
    const { engineId, sandboxId } = seen.listed;
    if (this.#remaining(id) > 0) {
      await this.#signal(engineId, seen.detail.stopSignal);
      if (await this.#ends(seen, () => this.#remaining(id))) return;
    }
    const end = clock.monotonic() + limits.endMs;
    for (;;) {
      await this.#signal(engineId, 9);
      const again = clock.monotonic() + againMs;
      if (await this.#ends(seen, () => again - clock.monotonic())) break;
      if (clock.monotonic() > end) throw refusals.notEnding(id);
    }
    this.#engine.announce(sandboxId);
  }

  /** Whether it ends while time remains: looked at when something is announced of its sandbox, and from time to time. */
  async #ends({ listed }: SeenContainer, remaining: () => number): Promise<boolean> {
    const { clock } = this.#engine.parts;
    const stop = this.#stops.get(listed.id);
    const listening = this.#engine.listen((sandboxId) => {
      if (sandboxId === listed.sandboxId) stop?.wake();
    });
    try {
      for (let pauseMs = firstMs; remaining() > 0; pauseMs = Math.min(2 * pauseMs, longestMs)) {
        const { promise: announced, resolve } = Promise.withResolvers<void>();
        if (stop) stop.wake = resolve;
        if (await this.#hasEnded(listed.id)) return true;
        const pause = sleep(clock, Math.min(pauseMs, Math.max(1, remaining())), this.#engine.signal);
        await Promise.race([announced, pause]);
      }
      return await this.#hasEnded(listed.id);
    } finally {
      listening.dispose();
    }
  }

  #remaining(id: string): number {
    return (this.#stops.get(id)?.deadline ?? 0) - this.#engine.parts.clock.monotonic();
  }

  async #hasEnded(id: string): Promise<boolean> {
    const seen = await this.#engine.catalog.find('container', id);
    return !seen || containerObservation(seen).state === 'ended';
  }

  async #signal(engineId: string, signal: number): Promise<void> {
    try {
      await this.#engine.call({ method: 'POST', path: `/containers/${engineId}/kill?signal=${signal}` });
    } catch (error) {
      // It ended meanwhile.
      if (!(error instanceof RestError)) throw error;
    }
  }
}
