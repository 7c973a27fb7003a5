import type { ResourceRef } from '@sheaf/client';
import { type NetworkFaults, noFaults } from '@sheaf/testkit';
import type { Mirror } from '../mirrored-server.ts';
import type { Outcome, ScheduleOptions } from '../subjects.ts';
import { everything, familyOf } from './families.ts';
import { type Death, Stage, type StageOptions } from './stage.ts';

/** How long a run is, and what it is made of. */
interface Shape {
  readonly isLean: boolean;
  /** What users do: at least, and how many more at most. */
  readonly actions: readonly [least: number, more: number];
  /** Steps between two actions: at least, and how many more at most. */
  readonly pace: readonly [least: number, more: number];
  /** How many of these make something, at first. */
  readonly furnished: number;
  readonly deaths: number;
  /** Of how many moments between steps one is a death. */
  readonly deathRarity: number;
  /** In one of so many runs everything is a step: also what is read, and each event by itself. */
  readonly fineRarity: number;
  /** Whether everything is deleted at the end, in one of so many runs. */
  readonly clearRarity: number;
}

/** Where nothing goes on, there is little to wait for. */
const quietPace = 4;

/** Long runs on the API server itself. */
const rich: Shape = {
  isLean: false,
  actions: [8, 24],
  furnished: 2,
  pace: [4, 60],
  deaths: 3,
  deathRarity: 12,
  fineRarity: 2,
  clearRarity: 2,
};

/** Short runs: most defects need few things to happen, so many short runs find more in an hour than few long ones. */
const light: Shape = {
  isLean: true,
  actions: [1, 4],
  furnished: 1,
  pace: [3, 16],
  deaths: 2,
  deathRarity: 6,
  fineRarity: 24,
  clearRarity: 8,
};

/** One run of workloads under random use and faults, decided by its seed. */
export function runSchedule(options: ScheduleOptions): Promise<Outcome> {
  return runShape(rich, { ...options, isLean: false, family: everything });
}

export function runLightSchedule(options: ScheduleOptions): Promise<Outcome> {
  return runShape(light, { ...options, isLean: true, family: familyOf(options.seed) });
}

/** A long run on a server that is mirrored; what the two keep in the end is compared, too. */
export async function runMirroredSchedule(
  options: ScheduleOptions,
  mirror: Mirror,
  kinds: readonly ResourceRef[],
): Promise<Outcome> {
  const open = mirror.servers(() => undefined);
  return runShape(rich, { ...options, isLean: false, family: everything, open }, ({ simulation }) =>
    mirror.compareAll(simulation.server.client, kinds),
  );
}

async function runShape(
  shape: Shape,
  options: StageOptions,
  atEnd: (stage: Stage) => Promise<void> = () => Promise.resolve(),
): Promise<Outcome> {
  const stage = new Stage(options);
  try {
    await new Schedule(stage, shape).run();
    await atEnd(stage);
    return stage.outcome();
  } finally {
    await stage.simulation.stop();
  }
}

class Schedule {
  readonly #stage: Stage;
  readonly #shape: Shape;
  #deathsLeft: number;

  constructor(stage: Stage, shape: Shape) {
    this.#stage = stage;
    this.#shape = shape;
    this.#deathsLeft = shape.deaths;
    stage.onDeath = () => this.#revive();
  }

  async run(): Promise<void> {
    const stage = this.#stage;
    const { actions, clearRarity, fineRarity } = this.#shape;
    const { random } = stage.simulation;
    stage.isCoarse = random.integer(fineRarity) > 0;
    stage.isExact = random.integer(2) === 0;
    await stage.start();
    stage.setFaults(this.#randomFaults());
    if (stage.isExact) this.#deathsLeft = 0;
    else stage.world.crashChance = random.integer(3) === 0 ? 1 + random.integer(10) : 0;
    await this.#use(actions[0] + random.integer(actions[1]));
    await stage.converge();
    if (stage.isGood && random.integer(clearRarity) === 0) await stage.clear();
  }

  /** Where numbers are held, no request is carried out without its sender's knowledge. */
  #randomFaults(): NetworkFaults {
    const { isExact, simulation } = this.#stage;
    const { random } = simulation;
    const chance = (limit: number): number => (random.integer(2) === 0 ? 0 : random.integer(limit));
    const faults = {
      ...noFaults,
      lostRequest: chance(40),
      refused: chance(40),
      brokenWatch: chance(40),
      expiredWatch: chance(20),
      conflict: chance(60),
      repeatedEvent: chance(80),
    };
    return isExact ? faults : { ...faults, lostAnswer: chance(40), duplicated: chance(40) };
  }

  async #use(actions: number): Promise<void> {
    const stage = this.#stage;
    const { random } = stage.simulation;
    const { furnished } = this.#shape;
    const [least, more] = this.#shape.pace;
    // How much happens between two actions of users differs from run to run.
    const pace = least + random.integer(more);
    for (let left = actions; left > 0 && stage.isGood; ) {
      const choice = random.integer(stage.simulation.scheduler.choices > 0 ? pace : quietPace);
      if (choice === 0 || left > actions - furnished) {
        // What there is at first, there must be something of.
        if (left > actions - furnished) await this.#furnish();
        else stage.users.act();
        await stage.settle();
        left--;
      } else if (!(await this.#happens(choice)) && !(await stage.step())) left--;
    }
  }

  async #furnish(): Promise<void> {
    await this.#stage.users.create().catch(() => undefined);
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
    if (--this.#deathsLeft <= 0) this.#stage.world.crashChance = 0;
    await this.#begin(['host', 'server', 'controllers', 'controllers']);
  }

  async #crash(): Promise<void> {
    if (this.#deathsLeft-- > 0) await this.#begin(['host', 'server', 'server', 'controllers', 'controllers']);
  }

  async #begin(deaths: readonly Death[]): Promise<void> {
    const stage = this.#stage;
    const { random } = stage.simulation;
    const death = deaths[random.integer(deaths.length)] ?? 'server';
    // A new life reads everything first; mostly it gets the time for that.
    await stage.die(death, random.integer(3) > 0);
  }
}
