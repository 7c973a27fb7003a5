import { type NetworkFaults, noFaults } from '@sheaf/testkit';
import type { Outcome } from '../subjects.ts';
import { AddonStage, type StageOptions } from './stage.ts';

/** One run of add-ons under random use and faults, decided by its seed. */
export async function runSchedule(options: StageOptions): Promise<Outcome> {
  const stage = new AddonStage(options);
  try {
    await new Schedule(stage).run();
    return stage.outcome();
  } finally {
    await stage.simulation.stop();
  }
}

const fineRarity = 6;
const clearRarity = 3;

class Schedule {
  readonly #stage: AddonStage;
  #deathsLeft = 2;

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
    world.failures = [0, 10, 50, 100][random.integer(4)] ?? 0;
    await this.#use(2 + random.integer(7));
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

  async #use(actions: number): Promise<void> {
    const stage = this.#stage;
    const { simulation, users } = stage;
    const { random } = simulation;
    const pace = 4 + random.integer(40);
    for (let left = actions; left > 0 && stage.isGood; ) {
      const choice = random.integer(pace);
      if (choice === 0) {
        await users.act();
        await simulation.settle();
        left--;
      } else if (!(await this.#happens(choice)) && !(await simulation.step())) left--;
    }
  }

  /** What comes besides users and the steps of the program, if anything does. */
  async #happens(choice: number): Promise<boolean> {
    const { simulation, world } = this.#stage;
    const { random } = simulation;
    if (choice === 1) await world.happen();
    else if (choice === 2 && random.integer(6) === 0) await world.kill();
    else if (choice === 3 && random.integer(8) === 0) await this.#die();
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
