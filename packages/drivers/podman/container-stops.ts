import { sleep } from '@sheaf/base';
import { containerObservation, isRunning } from './engine-containers.ts';
import type { PodmanEngine } from './podman-engine.ts';
import { refusals } from './refusals.ts';
import { RestError } from './rest-client.ts';

interface Stop {
  deadline: number;
  readonly done: Promise<void>;
}

const pollMs = 25;

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
      return await under.done;
    }
    const done = Promise.resolve()
      .then(() => this.#run(id))
      .finally(() => this.#stops.delete(id));
    this.#stops.set(id, { deadline, done });
    await done;
  }

  async #run(id: string): Promise<void> {
    const { catalog, parts } = this.#engine;
    const { clock, limits } = parts;
    const seen = await catalog.find('container', id);
    if (!seen) throw refusals.noContainer(id);
    if (!isRunning(seen)) return;
    const { engineId, sandboxId } = seen.listed;
    if (this.#remaining(id) > 0) await this.#signal(engineId, seen.detail.stopSignal);
    while (this.#remaining(id) > 0) {
      if (await this.#hasEnded(id)) return;
      await sleep(clock, Math.min(pollMs, Math.max(1, this.#remaining(id))), this.#engine.signal);
    }
    const end = clock.monotonic() + limits.endMs;
    while (!(await this.#hasEnded(id))) {
      if (clock.monotonic() > end) throw refusals.notEnding(id);
      await this.#signal(engineId, 9);
      await sleep(clock, pollMs, this.#engine.signal);
    }
    this.#engine.announce(sandboxId);
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
