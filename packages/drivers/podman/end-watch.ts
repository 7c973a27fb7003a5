import type { Disposable } from '@sheaf/base';
import { containerObservation } from './engine-containers.ts';
import type { PodmanEngine } from './podman-engine.ts';

/** Without an announcement it is looked again after this time: an event may have been lost. */
const longestMs = 5000;

/** Whether a container has ended, for one who asks again and again: the engine is asked when something has happened to it. */
export class EndWatch implements Disposable {
  readonly #engine: PodmanEngine;
  readonly #id: string;
  readonly #listening: Disposable;
  #hasEnded = false;
  #lookedAt: number | undefined;

  constructor(engine: PodmanEngine, id: string) {
    this.#engine = engine;
    this.#id = id;
    this.#listening = engine.listen(() => {
      this.#lookedAt = undefined;
    });
  }

  /** Nothing more will be printed by it. */
  async hasEnded(): Promise<boolean> {
    if (this.#hasEnded || this.#isFresh()) return this.#hasEnded;
    this.#lookedAt = this.#engine.parts.clock.monotonic();
    const seen = await this.#engine.catalog.find('container', this.#id);
    this.#hasEnded = seen === undefined || containerObservation(seen).state === 'ended';
    return this.#hasEnded;
  }

  dispose(): void {
    this.#listening.dispose();
  }

  #isFresh(): boolean {
    const now = this.#engine.parts.clock.monotonic();
    return this.#lookedAt !== undefined && now - this.#lookedAt < longestMs;
  }
}
