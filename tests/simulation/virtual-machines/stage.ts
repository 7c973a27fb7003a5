import type { ApiExtensions } from '@sheaf/api';
import { type DisposableStore, silentLogger } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import { Simulation } from '@sheaf/testkit';
import { KeptObjects } from '@sheaf/testkit/lean-server/index';
import { type Extend, type KeptServer, leanServers, type OpenServer, realServers } from '../kept-servers.ts';
import { isDeleting, Objects } from '../objects.ts';
import type { Outcome, ScheduleOptions } from '../subjects.ts';
import { extendApi, registerControllers } from './controllers.ts';
import { WorldEvents } from './events.ts';
import { findRemains, type GoalFacts } from './goals.ts';
import { type PlantedFault, withoutFinalizers } from './planted-faults.ts';
import { Safety } from './safety.ts';
import { ground } from './servers.ts';
import { Users } from './users.ts';
import { type Drivers, World } from './world.ts';

/** How long a goal may take once faults have stopped; a start that failed waits up to five minutes. */
const patienceMs = 20 * 60_000;
const stepLimit = 20_000;

/** How a program ends: its controllers alone, with its server, or with its whole host. */
export type Death = 'controllers' | 'server' | 'host';

export interface StageOptions extends ScheduleOptions {
  /** On the lean server, not on the real one. */
  readonly isLean?: boolean;
  /** Which servers it is on, if neither of the two. */
  readonly servers?: (extend: Extend) => OpenServer;
  /** A stage on the lean server that has stopped: this one begins where it ended. */
  readonly beginning?: Stage | undefined;
}

type Between = () => Promise<void>;

const aside =
  /^\/apis?$|\/(events|storageclasses|csidrivers|volumesnapshotclasses|customresourcedefinitions)(\/|\?|$)/;

/** What is written for people to read, and what is there before any machine is. */
function isAside(target: string): boolean {
  return aside.test(target);
}

function nothing(): Promise<void> {
  return Promise.resolve();
}

function serversFor({ isLean, servers, beginning }: StageOptions, extend: Extend): OpenServer {
  if (isLean) return leanServers(ground, { extend, beginning: beginning?.kept });
  return servers?.(extend) ?? realServers(ground, extend);
}

/** A control plane with machines, the world around it, and those who watch that nothing happens that must never be. */
export class Stage {
  readonly simulation: Simulation<KeptServer>;
  readonly objects: Objects;
  readonly world: World;
  readonly users: Users;
  readonly events: WorldEvents;
  /** Called when a driver has died at one of its own steps, and with it the program. */
  onDeath: () => Promise<void> = () => this.die('controllers');
  readonly #seed: number;
  readonly #isLean: boolean;
  #isCoarse = false;
  readonly safety: Safety;
  #drivers: Drivers | undefined;
  #late: readonly string[] = [];

  constructor(options: StageOptions) {
    const {
      seed,
      keepsTrace = false,
      logger = silentLogger,
      planted: names = [],
      isLean = false,
      beginning,
    } = options;
    const planted = new Set(names as readonly PlantedFault[]);
    this.#seed = seed;
    this.#isLean = isLean;
    const extend = (api: ApiExtensions, client: Client): void => {
      const { clock, random } = this.simulation;
      extendApi(api, { client, clock, random, drivers: () => this.#driversOfNow() });
    };
    this.simulation = new Simulation({
      seed,
      keepsTrace,
      logger,
      carriesValues: isLean,
      open: serversFor(options, extend),
      register: (manager, life) => registerControllers(manager, this.#open(life)),
      ...(planted.has('forgetsFinalizer') ? { tamper: withoutFinalizers } : {}),
    });
    const { clock, scheduler, random } = this.simulation;
    this.objects = new Objects(() => this.simulation.server);
    this.world = new World({
      seed,
      clock,
      scheduler,
      planted,
      isClaimLeaving: (uid) => this.#isLeaving(uid),
    });
    this.safety = new Safety(this.objects, this.world);
    this.users = new Users(this.simulation, this.objects);
    this.events = new WorldEvents(this.world, { random, scheduler });
    if (beginning) this.#takeOver(beginning);
  }

  #takeOver({ simulation, world, safety }: Stage): void {
    this.simulation.clock.advance(simulation.clock.monotonic());
    this.world.takeOver(world);
    this.safety.takeOver(safety);
  }

  /** What the lean server keeps. */
  get kept(): KeptObjects | undefined {
    const { views } = this.simulation.server;
    return views instanceof KeptObjects ? views : undefined;
  }

  /** The first life finds its way before anything goes wrong: what its start can meet is met by the lives after it. */
  async start(): Promise<void> {
    await this.simulation.start();
    await this.simulation.server.prepare();
    this.#answerAtOnce(this.#isLean);
    this.simulation.restartControllers();
    await this.simulation.settle();
    this.#answerAtOnce(this.#isCoarse);
    await this.quiesce();
  }

  get isGood(): boolean {
    return this.#complaints().length === 0;
  }

  get facts(): GoalFacts {
    const { objects, world, simulation, safety } = this;
    return { objects, world, safety, nowMs: simulation.clock.now() };
  }

  /** The next step of anything; false: nothing is left to happen. */
  async step(): Promise<boolean> {
    const isMore = await this.stepOnly();
    if (this.world.hasDied) await this.onDeath();
    return isMore;
  }

  /** A step after which a dead driver stays dead. */
  async stepOnly(): Promise<boolean> {
    const isMore = await this.simulation.step();
    this.safety.look();
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
      simulation.scheduler.note('world: the host restarts');
      world.host.restart();
    }
    if (death === 'controllers') simulation.restartControllers();
    else await simulation.restartServer();
    await simulation.settle();
    this.#answerAtOnce(this.#isCoarse);
  }

  /** Whether what is read takes no steps from now on, and a watch tells in one step all that it has to tell. */
  set isCoarse(isCoarse: boolean) {
    this.#isCoarse = isCoarse;
    this.world.readsAtOnce = isCoarse;
    this.simulation.tellsAllAtOnce = isCoarse;
    this.#answerAtOnce(isCoarse);
  }

  /** On the lean server nobody waits for what tells nothing of the order of things. */
  #answerAtOnce(reads: boolean): void {
    if (!this.#isLean) return;
    this.simulation.isAtOnce = ({ method, target }) => (reads && method === 'GET') || isAside(target);
  }

  /** Until there is no complaint, or its time is over; `between` its steps something may happen. */
  async converge(complaints: () => readonly string[], between: Between = nothing): Promise<void> {
    const { scheduler, clock } = this.simulation;
    const endMs = clock.monotonic() + patienceMs;
    const last = scheduler.count + stepLimit;
    while (this.isGood) {
      await between();
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

  /** Users take everything away; nothing may be left. */
  async clear(between: Between = nothing): Promise<void> {
    await this.converge(() => {
      const remains = findRemains(this.facts);
      if (remains.length > 0) this.users.deleteEverything();
      return remains;
    }, between);
  }

  outcome(): Outcome {
    const { fingerprint, count, trace } = this.simulation.scheduler;
    return { seed: this.#seed, fingerprint, steps: count, complaints: this.#complaints(), trace };
  }

  #complaints(): readonly string[] {
    return [...this.safety.violations, ...this.users.shocks, ...this.#late];
  }

  #open(life: DisposableStore): Drivers {
    this.#drivers = this.world.open(life);
    return this.#drivers;
  }

  #driversOfNow(): Drivers {
    if (!this.#drivers) throw new Error('no life has begun');
    return this.#drivers;
  }

  #isLeaving(uid: string): boolean {
    const claim = this.objects.get(resources.persistentVolumeClaims, uid);
    return claim !== undefined && isDeleting(claim);
  }
}
