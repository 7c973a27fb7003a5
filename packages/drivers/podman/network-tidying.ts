import { removeNetwork, removePortRules } from './network-traces.ts';
import type { PodmanEngine } from './podman-engine.ts';
import { SharedTurns } from './shared-turns.ts';

/** The network of pods comes with the first sandbox, and is taken away when the last one has gone. */
export class NetworkTidying {
  readonly #engine: PodmanEngine;
  readonly #turns = new SharedTurns();
  #gone: string[] = [];
  #next: Promise<void> | undefined;

  constructor(engine: PodmanEngine) {
    this.#engine = engine;
  }

  /** It is not taken away meanwhile. */
  async use<T>(task: () => Promise<T>): Promise<T> {
    return await this.#turns.share(task);
  }

  /** Takes away what the end of a sandbox has left; those that go at the same time share the work. */
  async tidy(engineId: string): Promise<void> {
    this.#gone.push(engineId);
    this.#next ??= this.#turns.alone(() => {
      const gone = this.#gone;
      this.#gone = [];
      this.#next = undefined;
      return this.#tidy(gone);
    });
    await this.#next;
  }

  /** Rules of an end that was cut off; and the bridge, after the last one. */
  async #tidy(engineIds: readonly string[]): Promise<void> {
    await removePortRules(engineIds);
    const all = await this.#engine.catalog.all();
    if (all.some(({ listed }) => listed.sharing?.network === 'pod')) return;
    await removeNetwork(this.#engine.parts.layout);
  }
}
