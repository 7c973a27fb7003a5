import { silentLogger } from '@sheaf/base';
import { resources } from '@sheaf/client';
import { type NetworkFaults, noFaults, Simulation } from '@sheaf/testkit';
import { type KeptServer, leanServers, type OpenServer, realServers } from '../kept-servers.ts';
import { Objects } from '../objects.ts';
import type { Outcome, ScheduleOptions } from '../subjects.ts';
import { registerWorkloads } from './controllers.ts';
import { WorldEvents } from './events.ts';
import type { Family } from './families.ts';
import { findComplaints, findRemains, type GoalFacts } from './goals.ts';
import { ground, isAside } from './kinds.ts';
import { type PlantedFault, tamperOf } from './planted-faults.ts';
import { Safety } from './safety.ts';
import { Users } from './users.ts';
import { World } from './world.ts';

/** How long a goal may take once faults have stopped: rests after failures of jobs add up. */
const patienceMs = 40 * 60_000;
const stepLimit = 20_000;

/** How a program ends: its controllers alone, with its server, or with its whole host. */
export type Death = 'controllers' | 'server' | 'host';

export interface StageOptions extends ScheduleOptions {
  /** On the lean server, not on the real one. */
  readonly isLean: boolean;
  readonly family: Family;
  /** Which server it is on, if neither of the two. */
  readonly open?: OpenServer;
}

/** A control plane with workloads, hosts for their containers, and those who watch that nothing happens that must never be. */
export class Stage {
  readonly simulation: Simulation<KeptServer>;
  readonly objects: Objects;
  readonly world: World;
  readonly users: Users;
  readonly events: WorldEvents;
  readonly safety: Safety;
  /** Called when a driver has died at one of its own steps, and with it the program. */
  onDeath: () => Promise<void> = () => this.die('controllers');
  /** Whether each request is carried out once, and its sender hears of it. */
  isExact = false;
  readonly #seed: number;
  readonly #isLean: boolean;
  #isCoarse = false;
  #late: readonly string[] = [];

  constructor({
    seed,
    keepsTrace = false,
    logger = silentLogger,
    planted: given = [],
    ...options
  }: StageOptions) {
    const planted = new Set(given as readonly PlantedFault[]);
    this.#seed = seed;
    this.#isLean = options.isLean;
    const tamper = tamperOf(planted);
    this.simulation = new Simulation({
      seed,
      keepsTrace,
      logger,
      carriesValues: options.isLean,
      open: options.open ?? (options.isLean ? leanServers(ground, {}) : realServers(ground)),
      register: (manager, life) => registerWorkloads(manager, options.family, this.world.open(life)),
      witness: (request) => this.safety.writes.watch(request),
      ...(tamper && { tamper }),
    });
    const { clock, scheduler, random } = this.simulation;
    this.objects = new Objects(() => this.simulation.server);
    this.world = new World({
      seed,
      clock,
      scheduler,
      planted,
      claimUid: (namespace, name) =>
        this.objects
          .all(resources.persistentVolumeClaims)
          .find(({ metadata }) => metadata.namespace === namespace && metadata.name === name)?.metadata.uid,
    });
    this.users = new Users(this.simulation, { objects: this.objects, family: options.family });
    const { objects, world, users } = this;
    this.safety = new Safety({ objects, world, users, isExact: () => this.isExact });
    this.events = new WorldEvents(world, { random, scheduler, isWork: (uid) => this.#isWork(uid) });
  }

  /** The first life finds its way before anything goes wrong: what its start can meet is met by the lives after it. */
  async start(): Promise<void> {
    await this.simulation.start();
    await this.simulation.server.prepare();
    this.#answerAtOnce(true);
    this.simulation.restartControllers();
    await this.simulation.settle();
    this.#answerAtOnce(this.#isCoarse);
    await this.quiesce();
  }

  get isGood(): boolean {
    return this.#complaints().length === 0;
  }

  get facts(): GoalFacts {
    const { objects, world, simulation, safety, users } = this;
    return { objects, world, safety, users, nowMs: simulation.clock.now() };
  }

  /** The next step of anything; false: nothing is left to happen. */
  async step(): Promise<boolean> {
    const isMore = await this.simulation.step();
    this.safety.look();
    if (this.world.hasDied) await this.onDeath();
    return isMore;
  }

  /** What users and the world have just done takes its effect. */
  readonly settle = async (): Promise<void> => {
    await this.simulation.settle();
    if (this.world.hasDied) await this.onDeath();
    this.safety.look();
  };

  /** Until everything waits for time to pass. */
  readonly quiesce = async (): Promise<void> => {
    await this.settle();
    while (this.simulation.scheduler.choices > 0) await this.step();
  };

  /** The program ends between two steps, and the next life begins; it may have read everything before anything else happens. */
  async die(death: Death, readsAtOnce = false): Promise<void> {
    const { simulation, world } = this;
    this.#answerAtOnce(readsAtOnce);
    world.hasDied = false;
    if (death === 'host') {
      simulation.scheduler.note('world: the hosts restart');
      world.restart();
    }
    if (death === 'controllers') simulation.restartControllers();
    else await simulation.restartServer();
    await simulation.settle();
    this.#answerAtOnce(this.#isCoarse);
  }

  setFaults(faults: NetworkFaults): void {
    this.simulation.setFaults(faults);
  }

  /** Whether what is read takes no steps from now on, and a watch tells in one step all that it has to tell. */
  set isCoarse(isCoarse: boolean) {
    this.#isCoarse = isCoarse;
    this.world.readsAtOnce = isCoarse;
    this.world.isFine = !isCoarse;
    this.simulation.tellsAllAtOnce = isCoarse;
    this.#answerAtOnce(isCoarse);
  }

  /** On the lean server nobody waits for what tells nothing of the order of things. */
  #answerAtOnce(reads: boolean): void {
    if (!this.#isLean) return;
    this.simulation.isAtOnce = (request) => (reads && request.method === 'GET') || isAside(request);
  }

  /** Faults stop, work goes well, and nodes take pods again: what was asked for must come. */
  async converge(): Promise<void> {
    this.setFaults(noFaults);
    this.events.calm();
    this.users.uncordon();
    await this.settle();
    await this.#until(() => findComplaints(this.facts));
  }

  /** Users take everything away; nothing may be left. */
  async clear(): Promise<void> {
    this.safety.isClearing = true;
    await this.#until(() => {
      const remains = findRemains(this.facts);
      if (remains.length > 0) this.users.deleteEverything();
      return remains;
    });
  }

  async #until(complaints: () => readonly string[]): Promise<void> {
    const { scheduler, clock } = this.simulation;
    const endMs = clock.monotonic() + patienceMs;
    const last = scheduler.count + stepLimit;
    while (this.isGood) {
      if (scheduler.choices === 0) {
        this.events.finishAllWork();
        await this.settle();
      }
      if (scheduler.choices === 0) {
        const found = complaints();
        if (found.length === 0) return;
        await this.settle();
        if (clock.monotonic() > endMs || scheduler.count > last) this.#late = found;
      }
      if (scheduler.count > 2 * last) this.#late = ['it does not come to rest'];
      await this.step();
    }
  }

  outcome(): Outcome {
    const { fingerprint, count, trace } = this.simulation.scheduler;
    return { seed: this.#seed, fingerprint, steps: count, complaints: this.#complaints(), trace };
  }

  #complaints(): readonly string[] {
    return [...this.safety.violations, ...this.users.shocks, ...this.#late];
  }

  #isWork(podUid: string): boolean {
    const pod = this.objects.get(resources.pods, podUid);
    return pod !== undefined && pod.spec.restartPolicy !== 'Always';
  }
}
