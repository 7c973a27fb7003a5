import { type Logger, silentLogger } from '@sheaf/base';
import type { ClientRequest } from '@sheaf/client';
import { Simulation, type SimulationOptions } from '@sheaf/testkit';
import { KeptObjects } from '@sheaf/testkit/lean-server/index';
import type { KeptServer } from './kept-servers.ts';
import { Objects } from './objects.ts';
import type { Outcome } from './subjects.ts';

/** How a program ends: its controllers alone, with its server, or with its whole host. */
export type Death = 'controllers' | 'server' | 'host';

/** What the drivers of a program are to those who let it die. */
export interface MortalDrivers {
  /** Of 1000 steps inside of calls, so many are the death of the program. */
  crashChance: number;
  /** The program has died in the middle of a call. */
  hasDied: boolean;
  /** What they are asked is answered without being chosen. */
  readsAtOnce: boolean;
}

type SimulationParts = Pick<SimulationOptions<KeptServer>, 'open' | 'register' | 'witness' | 'tamper'>;

export interface StageParts extends SimulationParts {
  readonly seed: number;
  readonly keepsTrace?: boolean;
  readonly logger?: Logger;
  /** On the lean server, where what nobody could tell the order of is answered at once. */
  readonly isLean: boolean;
  /** What is written for people to read, and what is there before anything else is. */
  readonly isAside: (request: ClientRequest) => boolean;
  /** How long a goal may take once faults have stopped. */
  readonly patienceMs: number;
}

type Between = () => Promise<void>;

const stepLimit = 20_000;

/** A control plane, the world around it, those who use it, and those who watch that nothing happens that must never be. */
export abstract class Stage {
  readonly simulation: Simulation<KeptServer>;
  readonly objects: Objects;
  /** Called when a driver has died at one of its own steps, and with it the program. */
  onDeath: () => Promise<void> = () => this.die('controllers');
  readonly #parts: StageParts;
  #isCoarse = false;
  #late: readonly string[] = [];

  constructor(parts: StageParts) {
    const { seed, keepsTrace = false, logger = silentLogger, isLean } = parts;
    const { open, register, witness, tamper } = parts;
    this.#parts = parts;
    this.simulation = new Simulation({
      seed,
      keepsTrace,
      logger,
      carriesValues: isLean,
      open,
      register,
      ...(witness && { witness }),
      ...(tamper && { tamper }),
    });
    this.objects = new Objects(() => this.simulation.server);
  }

  /** Users do something; what it has to wait for goes on by itself. */
  abstract act(): void;

  /** The world does something by itself. */
  abstract happen(): void | Promise<void>;

  /** From now on nothing goes wrong by itself. */
  abstract calm(): void | Promise<void>;

  /** What is not as it has to be in the end. */
  protected abstract findComplaints(): readonly string[];

  /** What is left after everything has been deleted. */
  protected abstract findRemains(): readonly string[];

  /** What has happened and must never. */
  protected abstract get violations(): readonly string[];

  /** Users ask for everything to be deleted; again, where they were refused. */
  protected abstract deleteEverything(): void;

  /** Those of the program, if it has any. */
  get drivers(): MortalDrivers | undefined {
    return undefined;
  }

  /** Looks at what must never be. */
  protected look(): void {
    // Where it is looked at elsewhere.
  }

  /** Its processes are gone. */
  protected restartHost(): void {
    // Where none is simulated.
  }

  /** While everything waits: what goes on in the world by itself. */
  protected finishWork(): void | Promise<void> {
    // Where nothing does.
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
    this.#answerAtOnce(true);
    this.simulation.restartControllers();
    await this.simulation.settle();
    this.#answerAtOnce(this.#isCoarse);
    await this.quiesce();
  }

  get isGood(): boolean {
    return this.#complaints().length === 0;
  }

  /** The next step of anything; false: nothing is left to happen. */
  async step(): Promise<boolean> {
    const isMore = await this.stepOnly();
    if (this.drivers?.hasDied) await this.onDeath();
    return isMore;
  }

  /** A step after which a dead driver stays dead. */
  async stepOnly(): Promise<boolean> {
    const isMore = await this.simulation.step();
    this.look();
    return isMore;
  }

  /** What users and the world have just done takes its effect. */
  readonly settle = async (): Promise<void> => {
    await this.simulation.settle();
    if (this.drivers?.hasDied) await this.onDeath();
    this.look();
  };

  /** Until everything waits for time to pass. */
  readonly quiesce = async (): Promise<void> => {
    await this.settle();
    while (this.simulation.scheduler.choices > 0) await this.step();
  };

  /** The program ends between two steps, and the next life begins; it may have read everything before anything else happens. */
  async die(death: Death, readsAtOnce = false): Promise<void> {
    const { simulation, drivers } = this;
    this.#answerAtOnce(readsAtOnce);
    if (drivers) drivers.hasDied = false;
    if (death === 'host') this.restartHost();
    if (death === 'controllers') simulation.restartControllers();
    else await simulation.restartServer();
    await simulation.settle();
    this.#answerAtOnce(this.#isCoarse);
  }

  /** Whether what is read takes no steps from now on, and a watch tells in one step all that it has to tell. */
  set isCoarse(isCoarse: boolean) {
    this.#isCoarse = isCoarse;
    if (this.drivers) this.drivers.readsAtOnce = isCoarse;
    this.simulation.tellsAllAtOnce = isCoarse;
    this.#answerAtOnce(isCoarse);
  }

  #answerAtOnce(reads: boolean): void {
    const { isLean, isAside } = this.#parts;
    if (isLean)
      this.simulation.isAtOnce = (request) => (reads && request.method === 'GET') || isAside(request);
  }

  /** Until there is no complaint, or its time is over; `between` its steps something may happen. */
  async converge(complaints = () => this.findComplaints(), between: Between = nothing): Promise<void> {
    const { scheduler, clock } = this.simulation;
    const endMs = clock.monotonic() + this.#parts.patienceMs;
    const last = scheduler.count + stepLimit;
    while (this.isGood) {
      await between();
      if (scheduler.choices === 0) await this.finishWork();
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
      const remains = this.findRemains();
      if (remains.length > 0) this.deleteEverything();
      return remains;
    }, between);
  }

  outcome(): Outcome {
    const { fingerprint, count, trace } = this.simulation.scheduler;
    return { seed: this.#parts.seed, fingerprint, steps: count, complaints: this.#complaints(), trace };
  }

  #complaints(): readonly string[] {
    return [...this.violations, ...this.#late];
  }
}

function nothing(): Promise<void> {
  return Promise.resolve();
}
