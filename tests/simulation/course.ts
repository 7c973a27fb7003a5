import { type NetworkFaults, noFaults } from '@sheaf/testkit';
import type { Death, Stage } from './stage.ts';
import type { Outcome } from './subjects.ts';

/** How long a run is, and what it is made of. */
export interface Shape {
  /** What users do: at least, and how many more at most. */
  readonly actions: readonly [least: number, more: number];
  /** How many of these make something, at first. */
  readonly furnished: number;
  /** Whether faults go on after the last action for as long as between two of them. */
  readonly outlastsUse: boolean;
  /** Steps between two actions: at least, and how many more at most. */
  readonly pace: readonly [least: number, more: number];
  /** The same where nothing goes on but time, and there is little to wait for; as elsewhere, if absent. */
  readonly quietPace?: number;
  /** Of how many moments between steps one may be an event of the world, and one a death. */
  readonly eventRarity: number;
  readonly deathRarity: number;
  /** How often the program dies at most. */
  readonly deaths: number;
  /** How it dies between two steps. */
  readonly waysToDie: readonly Death[];
  /** A life that begins takes so many steps to read everything, where that takes steps; mostly it gets the time for that. */
  readonly readingSteps?: number;
  /** In one of so many runs everything is a step: also what is read, and each event by itself. */
  readonly fineRarity: number;
  /** Whether everything is deleted at the end, in one of so many runs. */
  readonly clearRarity: number;
}

/** What a subject has of its own. */
export interface Script<S extends Stage> {
  readonly stage: S;
  /** Makes the stage ready, and what there is before anything goes wrong. */
  readonly begin: () => Promise<void>;
  /** Makes something. */
  readonly furnish?: () => Promise<void>;
  /** What may happen to the network in this run; chances are drawn in this order. */
  readonly faults: () => readonly (keyof NetworkFaults)[];
  /** What else may go wrong. */
  readonly disturb?: () => void;
  /** No program dies in this run. */
  readonly isDeathless?: () => boolean;
  /** What is looked at once everything is over. */
  readonly end?: () => Promise<void>;
}

/** Everywhere, most deaths are of the controllers. */
export const allDeaths: readonly Death[] = ['host', 'server', 'server', 'controllers', 'controllers'];
const deathsOfDrivers: readonly Death[] = ['host', 'server', 'controllers', 'controllers'];

/** Of 1000 chances, so many at most. */
const faultLimits: Readonly<NetworkFaults> = {
  lostRequest: 40,
  lostAnswer: 40,
  duplicated: 40,
  refused: 40,
  brokenWatch: 40,
  expiredWatch: 20,
  conflict: 60,
  repeatedEvent: 80,
};
export const allFaults = Object.keys(faultLimits) as readonly (keyof NetworkFaults)[];

/** Use under faults, then quiet, in which what was asked for must come; then, in some runs, everything is deleted. */
export async function runCourse<S extends Stage>(script: Script<S>, shape: Shape): Promise<Outcome> {
  const { stage } = script;
  try {
    await new Course(script, shape).run();
    await script.end?.();
    return stage.outcome();
  } finally {
    await stage.simulation.stop();
  }
}

class Course<S extends Stage> {
  readonly #script: Script<S>;
  readonly #stage: S;
  readonly #shape: Shape;
  #deathsLeft: number;

  constructor(script: Script<S>, shape: Shape) {
    this.#script = script;
    this.#stage = script.stage;
    this.#shape = shape;
    this.#deathsLeft = shape.deaths;
    script.stage.onDeath = () => this.#revive();
  }

  async run(): Promise<void> {
    const stage = this.#stage;
    const { random } = stage.simulation;
    const { actions, clearRarity, fineRarity } = this.#shape;
    stage.isCoarse = random.integer(fineRarity) > 0;
    await this.#script.begin();
    this.#disturb();
    await this.#use(actions[0] + random.integer(actions[1]));
    stage.simulation.setFaults(noFaults);
    await stage.calm();
    await stage.converge();
    if (stage.isGood && random.integer(clearRarity) === 0) await stage.clear();
  }

  #disturb(): void {
    const { simulation, drivers } = this.#stage;
    const { random } = simulation;
    const faults = { ...noFaults };
    for (const name of this.#script.faults())
      faults[name] = random.integer(2) === 0 ? 0 : random.integer(faultLimits[name]);
    simulation.setFaults(faults);
    this.#script.disturb?.();
    if (this.#script.isDeathless?.()) this.#deathsLeft = 0;
    else if (drivers) drivers.crashChance = random.integer(3) === 0 ? 1 + random.integer(10) : 0;
  }

  async #use(actions: number): Promise<void> {
    const stage = this.#stage;
    const { random, scheduler } = stage.simulation;
    const { furnished, outlastsUse } = this.#shape;
    const { pace, quietPace } = this.#drawPaces();
    const turns = outlastsUse ? actions + 1 : actions;
    for (let turn = 0; turn < turns && stage.isGood; ) {
      const choice = random.integer(scheduler.choices > 0 ? pace : quietPace);
      if (choice === 0 || turn < furnished) {
        if (turn < actions) await this.#act(turn);
        turn++;
      } else if (!(await this.#happens(choice)) && !(await stage.step())) turn++;
    }
  }

  /** How much happens between two actions of users differs from run to run. */
  #drawPaces(): { readonly pace: number; readonly quietPace: number } {
    const [least, more] = this.#shape.pace;
    const pace = least + this.#stage.simulation.random.integer(more);
    return { pace, quietPace: this.#shape.quietPace ?? pace };
  }

  async #act(turn: number): Promise<void> {
    // What there is at first, there must be something of.
    if (turn < this.#shape.furnished) await this.#script.furnish?.();
    else this.#stage.act();
    await this.#stage.settle();
  }

  /** What comes besides users and the steps of the program, if anything does. */
  async #happens(choice: number): Promise<boolean> {
    const stage = this.#stage;
    const { random } = stage.simulation;
    const { deathRarity, eventRarity } = this.#shape;
    if (choice === 1 && random.integer(eventRarity) === 0) await stage.happen();
    else if (choice === 2 && random.integer(deathRarity) === 0) await this.#crash();
    else if (choice === 3 && random.integer(3) === 0) stage.simulation.pass();
    else return false;
    await stage.settle();
    return true;
  }

  /** A driver has died in the middle of a call, and with it the program. */
  async #revive(): Promise<void> {
    const { drivers } = this.#stage;
    if (--this.#deathsLeft <= 0 && drivers) drivers.crashChance = 0;
    await this.#die(deathsOfDrivers);
  }

  async #crash(): Promise<void> {
    if (this.#deathsLeft-- > 0) await this.#die(this.#shape.waysToDie);
  }

  async #die(ways: readonly Death[]): Promise<void> {
    const stage = this.#stage;
    const { random, scheduler } = stage.simulation;
    const death = ways[random.integer(ways.length)] ?? 'server';
    const hasTime = random.integer(3) > 0;
    await stage.die(death, hasTime);
    const reads = hasTime ? (this.#shape.readingSteps ?? 0) : 0;
    for (let left = reads; left > 0 && scheduler.choices > 0; left--) await stage.stepOnly();
  }
}
