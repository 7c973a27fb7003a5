import { type NetworkFaults, noFaults } from '@sheaf/testkit';
import type { Outcome } from '../subjects.ts';
import { beginningCount, beginningOf } from './beginnings.ts';
import { AddonStage, type StageOptions } from './stage.ts';

/** What users do: at least, and how many more at most. Most defects need few things to happen. */
const actions = { least: 1, more: 3 };
/** Steps between two actions, and from the last one until faults stop: the same. */
const paces = { least: 4, more: 24 };
/** Where nothing goes on, there is little to wait for. */
const quietPace = 3;
const deaths = 2;
/** Of how many moments between steps one is a death. */
const deathRarity = 8;
/** In one of so many runs everything is a step: also what is read, and each event by itself. */
const fineRarity = 16;
/** Whether everything is switched off at the end, in one of so many runs. */
const clearRarity = 4;
/** Of so many events of the world one is the end of a process in the middle of what it does. */
const killRarity = 6;
/** Of 100 ends of an operation, so many are failures, in one of these runs each. */
const failures = [0, 10, 50, 100];

/** One run of add-ons under random use and faults, decided by its seed. */
export async function runSchedule(options: StageOptions): Promise<Outcome> {
  const beginning = await beginningOf(options.seed % beginningCount);
  const stage = new AddonStage({ ...options, beginning });
  try {
    await new Schedule(stage).run();
    return stage.outcome();
  } finally {
    await stage.simulation.stop();
  }
}

class Schedule {
  readonly #stage: AddonStage;
  #deathsLeft = deaths;

  constructor(stage: AddonStage) {
    this.#stage = stage;
  }

  async run(): Promise<void> {
    const stage = this.#stage;
    const { simulation, world } = stage;
    const { random } = simulation;
    stage.isCoarse = random.integer(fineRarity) > 0;
    await stage.start();
    simulation.setFaults(this.#randomFaults());
    world.failures = failures[random.integer(failures.length)] ?? 0;
    await this.#use(actions.least + random.integer(actions.more));
    simulation.setFaults(noFaults);
    world.failures = 0;
    await stage.converge();
    if (stage.isGood && random.integer(clearRarity) === 0) await stage.clear();
  }

  #randomFaults(): NetworkFaults {
    const { random } = this.#stage.simulation;
    const chance = (limit: number): number => (random.integer(2) === 0 ? 0 : random.integer(limit));
    return {
      lostRequest: chance(40),
      lostAnswer: chance(40),
      duplicated: chance(40),
      refused: chance(40),
      brokenWatch: chance(40),
      expiredWatch: chance(20),
      conflict: chance(60),
      repeatedEvent: chance(80),
    };
  }

  async #use(count: number): Promise<void> {
    const stage = this.#stage;
    const { simulation, users } = stage;
    const { random, scheduler } = simulation;
    const pace = paces.least + random.integer(paces.more);
    for (let left = count; left >= 0 && stage.isGood; ) {
      const choice = random.integer(scheduler.choices > 0 ? pace : quietPace);
      if (choice === 0) {
        if (left-- === 0) return;
        await users.act();
        await simulation.settle();
      } else if (!(await this.#happens(choice)) && !(await simulation.step())) left--;
    }
  }

  /** What comes besides users and the steps of the program, if anything does. */
  async #happens(choice: number): Promise<boolean> {
    const { simulation, world } = this.#stage;
    const { random } = simulation;
    if (choice === 1) await (random.integer(killRarity) === 0 ? world.kill() : world.happen());
    else if (choice === 2 && random.integer(deathRarity) === 0) await this.#die();
    else if (choice === 3 && random.integer(3) === 0) simulation.pass();
    else return false;
    await simulation.settle();
    return true;
  }

  async #die(): Promise<void> {
    if (this.#deathsLeft-- <= 0) return;
    const stage = this.#stage;
    stage.answerReads(stage.simulation.random.integer(3) > 0);
    if (stage.simulation.random.integer(2) === 0) stage.simulation.restartControllers();
    else await stage.simulation.restartServer();
    await stage.simulation.settle();
    stage.answerReads(stage.isCoarse);
  }
}
