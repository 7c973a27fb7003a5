import type { Stage } from './stage.ts';

/** Seeds of beginnings are not those of schedules. */
const firstSeed = 2 ** 31;

/** A stage on the lean server, as its last user has left it. */
type Make<S extends Stage> = (seed: number, index: number) => Promise<S>;

/**
 * What there is before short runs: the state in which users have left it, and no program running. To get there takes longer than a run, so a process makes each at its first use, and many runs begin with the same.
 */
export class Beginnings<S extends Stage> {
  readonly #make: Make<S>;
  readonly #made = new Map<number, Promise<S>>();

  constructor(make: Make<S>) {
    this.#make = make;
  }

  /** @throws Error when a beginning is not what it should be, which is a finding of its own */
  of(index: number): Promise<S> {
    let stage = this.#made.get(index);
    if (!stage) {
      stage = this.#begin(index);
      this.#made.set(index, stage);
    }
    return stage;
  }

  async #begin(index: number): Promise<S> {
    const stage = await this.#make(firstSeed + index, index);
    await stage.simulation.stop();
    const { complaints } = stage.outcome();
    if (complaints.length > 0)
      throw new Error(`beginning ${index} is not what it should be: ${complaints.join('; ')}`);
    return stage;
  }
}
