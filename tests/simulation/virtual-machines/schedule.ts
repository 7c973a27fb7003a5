import { type NetworkFaults, noFaults } from '@sheaf/testkit';
import type { Outcome, ScheduleOptions } from '../subjects.ts';
import { beginningCount, beginningOf } from './beginnings.ts';
import { findComplaints } from './goals.ts';
import { claimNames, machineNames } from './kinds.ts';
import { type Death, Stage, type StageOptions } from './stage.ts';

/** How long a run is, and what it is made of. */
export interface Shape {
  /** On the lean server, where what nobody could tell the order of is answered at once. */
  readonly isLean: boolean;
  /** How much there is before things begin to go wrong. */
  readonly furnish: (stage: Stage) => Promise<void>;
  /** What users do: at least, and how many more at most. */
  readonly actions: readonly [least: number, more: number];
  /** Steps between two actions: at least, and how many more at most. */
  readonly pace: readonly [least: number, more: number];
  /** How often the program dies at most; in driver calls, that is of so many runs one where it may. */
  readonly deaths: number;
  /** Of how many moments between steps one is a death. */
  readonly deathRarity: number;
  /** In one of so many runs everything is a step: also what is read, and each event by itself. */
  readonly fineRarity: number;
  /** Whether everything is deleted at the end, in one of so many runs. */
  readonly clearRarity: number;
}

/** A life that begins needs about so many for its informers. */
const readingSteps = 250;

/** Long runs of both machines in two namespaces, on the API server itself. */
const rich: Shape = {
  isLean: false,
  furnish: furnishAll,
  actions: [10, 30],
  pace: [4, 44],
  deaths: 3,
  deathRarity: 12,
  fineRarity: 1,
  clearRarity: 1,
};

/** Short runs of a machine or two. Most defects need few things to happen: many short runs find more in an hour than few long ones. */
const light: Shape = {
  isLean: true,
  furnish: furnishFew,
  actions: [1, 4],
  pace: [3, 14],
  deaths: 2,
  deathRarity: 6,
  fineRarity: 8,
  clearRarity: 8,
};

/** One run of virtual machines, their volumes and images under random use and faults, decided by its seed. */
export function runSchedule(options: StageOptions): Promise<Outcome> {
  return runShape(rich, options);
}

export function runLightSchedule(options: ScheduleOptions): Promise<Outcome> {
  return runShape(light, options);
}

async function runShape(shape: Shape, options: StageOptions): Promise<Outcome> {
  const beginning = shape.isLean ? await beginningOf(options.seed % beginningCount) : undefined;
  const stage = new Stage({ ...options, isLean: shape.isLean, beginning });
  try {
    await new Schedule(stage, shape).run();
    return stage.outcome();
  } finally {
    await stage.simulation.stop();
  }
}

/** In most runs there are machines when things begin to go wrong; in most of these they run by then. */
async function furnishAll({ simulation, users, quiesce }: Stage): Promise<void> {
  const chance = simulation.random.integer(6);
  if (chance === 0) return;
  users.furnish();
  for (let passes = chance === 1 ? 0 : 8; passes > 0; passes--) {
    await quiesce();
    simulation.pass();
  }
}

/** What there is, is there already; now and then users begin something of their own. */
async function furnishFew({ simulation, users, settle }: Stage): Promise<void> {
  if (simulation.random.integer(6) > 0) return;
  users.furnish(claimNames.slice(0, 1), machineNames.slice(0, 1));
  await settle();
}

class Schedule {
  readonly #stage: Stage;
  readonly #shape: Shape;
  #restartsLeft: number;

  constructor(stage: Stage, shape: Shape) {
    this.#stage = stage;
    this.#shape = shape;
    this.#restartsLeft = shape.deaths;
    stage.onDeath = () => this.#revive();
  }

  async run(): Promise<void> {
    const stage = this.#stage;
    const { simulation, world, events } = stage;
    const { random } = simulation;
    const { furnish, actions, clearRarity, fineRarity } = this.#shape;
    stage.isCoarse = random.integer(fineRarity) > 0;
    await stage.start();
    await furnish(stage);
    simulation.setFaults(this.#randomFaults());
    world.crashChance = random.integer(3) === 0 ? 1 + random.integer(10) : 0;
    await this.#use(actions[0] + random.integer(actions[1]));
    simulation.setFaults(noFaults);
    events.calm();
    await stage.converge(() => findComplaints(stage.facts));
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
    const { random } = stage.simulation;
    const [least, more] = this.#shape.pace;
    // How much happens between two actions of users differs from run to run.
    const pace = least + random.integer(more);
    for (let left = actions; left > 0 && stage.isGood; ) {
      const choice = random.integer(pace);
      if (choice === 0) {
        stage.users.act();
        await stage.settle();
        left--;
      } else if (!(await this.#happens(choice)) && !(await stage.step())) left--;
    }
  }

  /** What comes besides users and the steps of the program, if anything does. */
  async #happens(choice: number): Promise<boolean> {
    const stage = this.#stage;
    const { random } = stage.simulation;
    if (choice === 1 && random.integer(4) === 0) stage.events.happen();
    else if (choice === 2 && random.integer(this.#shape.deathRarity) === 0) await this.#crash();
    else if (choice === 3 && random.integer(3) === 0) stage.simulation.pass();
    else return false;
    await stage.settle();
    return true;
  }

  /** A driver has died in the middle of a call, and with it the program. */
  async #revive(): Promise<void> {
    if (--this.#restartsLeft <= 0) this.#stage.world.crashChance = 0;
    await this.#begin(['host', 'server', 'controllers', 'controllers']);
  }

  async #crash(): Promise<void> {
    if (this.#restartsLeft-- > 0)
      await this.#begin(['host', 'server', 'server', 'controllers', 'controllers']);
  }

  async #begin(deaths: readonly Death[]): Promise<void> {
    const stage = this.#stage;
    const { random, scheduler } = stage.simulation;
    const death = deaths[random.integer(deaths.length)] ?? 'server';
    // A new life reads everything first; mostly it gets the time for that.
    const hasTime = random.integer(3) > 0;
    await stage.die(death, hasTime && this.#shape.isLean);
    const reads = hasTime && !this.#shape.isLean ? readingSteps : 0;
    for (let left = reads; left > 0 && scheduler.choices > 0; left--) await stage.stepOnly();
  }
}
