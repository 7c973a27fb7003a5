import type { KubeObject } from '@sheaf/api';
import { silentLogger } from '@sheaf/base';
import { type ClientRequest, resources } from '@sheaf/client';
import { registerAddons } from '@sheaf/features/addon';
import { register as registerGarbageCollection } from '@sheaf/features/garbage-collection';
import { register as registerHelmChart } from '@sheaf/features/helm-chart';
import { register as registerJob } from '@sheaf/features/workload/job';
import type { Manager } from '@sheaf/runtime';
import { Simulation } from '@sheaf/testkit';
import { KeptObjects } from '@sheaf/testkit/lean-server/index';
import { type KeptServer, leanServers } from '../kept-servers.ts';
import { Objects } from '../objects.ts';
import type { Outcome, ScheduleOptions } from '../subjects.ts';
import { findComplaints, findRemains } from './goals.ts';
import { HelmWorld } from './helm-world.ts';
import { ground, isAside, isWatched } from './kinds.ts';
import { registerOriginalAddons } from './original-addons.ts';
import { isOfNewJob, type PlantedFault, tamperOf } from './planted-faults.ts';
import { Users } from './users.ts';

/** How long a goal may take once faults have stopped. */
const patienceMs = 60 * 60_000;
const stepLimit = 20_000;

export interface StageOptions extends ScheduleOptions {
  /** The controllers of add-ons; another model of them can be put in their place. */
  readonly registerAddons?: (manager: Manager) => void;
  /** A stage that has stopped: this one begins where it ended. */
  readonly beginning?: AddonStage;
}

/** A control plane with the controllers of add-ons, charts and Jobs, a node that runs Helm, and those who use it. */
export class AddonStage {
  readonly simulation: Simulation<KeptServer>;
  readonly objects: Objects;
  readonly world: HelmWorld;
  readonly users: Users;
  /** Whether what is read is answered without being chosen. */
  isCoarse = true;
  readonly #seed: number;
  #late: readonly string[] = [];

  constructor({ seed, keepsTrace = false, logger = silentLogger, ...options }: StageOptions) {
    this.#seed = seed;
    const planted = new Set((options.planted ?? []) as readonly PlantedFault[]);
    const usual = planted.has('comparesTimes') ? registerOriginalAddons : registerAddons;
    const register = options.registerAddons ?? usual;
    const tamper = tamperOf(planted);
    this.simulation = new Simulation({
      seed,
      keepsTrace,
      logger,
      carriesValues: true,
      witness: (request, { isLate }) =>
        isLate && isOfNewJob(request) ? () => this.#noteLate(request) : undefined,
      ...(tamper && { tamper }),
      open: leanServers(ground, { beginning: options.beginning?.kept }),
      register: (manager) => {
        register(manager);
        registerHelmChart(manager);
        registerJob(manager);
        registerGarbageCollection(manager, { isMonitored: isWatched, concurrency: 4 });
      },
    });
    const { scheduler, random } = this.simulation;
    this.objects = new Objects(() => this.simulation.server);
    const parts = { client: () => this.simulation.server.client, objects: this.objects, scheduler, random };
    this.world = new HelmWorld(parts);
    this.users = new Users({ ...parts, onJobDeleted: (uid) => this.world.excused.add(uid) });
    if (options.beginning) this.#takeOver(options.beginning);
  }

  #takeOver({ simulation, world }: AddonStage): void {
    this.simulation.clock.advance(simulation.clock.monotonic());
    for (const [name, release] of world.releases) this.world.releases.set(name, release);
  }

  /** What the server keeps. */
  get kept(): KeptObjects | undefined {
    const { views } = this.simulation.server;
    return views instanceof KeptObjects ? views : undefined;
  }

  async start(): Promise<void> {
    await this.simulation.start();
    await this.simulation.server.prepare();
    this.answerReads(true);
    this.simulation.restartControllers();
    await this.simulation.settle();
    this.answerReads(this.isCoarse);
    await this.quiesce();
  }

  answerReads(atOnce: boolean): void {
    this.simulation.tellsAllAtOnce = this.isCoarse;
    this.simulation.isAtOnce = (request) => (atOnce && request.method === 'GET') || isAside(request);
  }

  /** Until everything waits for time to pass. */
  async quiesce(): Promise<void> {
    while (this.simulation.scheduler.choices > 0) await this.simulation.step();
  }

  #noteLate({ value }: ClientRequest): void {
    const { name } = (value as unknown as KubeObject).metadata;
    const late = this.objects.all(resources.jobs).find(({ metadata }) => metadata.name === name);
    if (late) this.world.late.add(late.metadata.uid ?? '');
  }

  get isGood(): boolean {
    return this.complaints().length === 0;
  }

  /** Faults have stopped and Helm goes well: each add-on comes to what it says, or to a named fault. */
  converge(): Promise<void> {
    return this.#until(() => findComplaints(this));
  }

  /** All are switched off, and whatever has failed is tried again; nothing may be left. */
  async clear(): Promise<void> {
    for (const { metadata } of this.users.addons()) {
      const { name = '' } = metadata;
      await this.users.quietly(() => this.users.setEnabled(name, false));
      await this.users.quietly(() => this.users.tryAgain(name));
    }
    await this.#until(() => findRemains(this));
  }

  async #until(complaints: () => readonly string[]): Promise<void> {
    const { scheduler, clock } = this.simulation;
    const endMs = clock.monotonic() + patienceMs;
    const last = scheduler.count + stepLimit;
    while (this.isGood) {
      if (scheduler.choices === 0) {
        await this.world.finishAll();
        await this.simulation.settle();
      }
      if (scheduler.choices === 0) {
        const found = complaints();
        if (found.length === 0) return;
        if (clock.monotonic() > endMs || scheduler.count > last) this.#late = found;
      }
      if (scheduler.count > 2 * last) this.#late = ['it does not come to rest'];
      await this.simulation.step();
    }
  }

  complaints(): readonly string[] {
    return [...this.world.violations, ...this.#late];
  }

  addonState(name: string): string {
    const addon = this.objects.all(resources.addons).find(({ metadata }) => metadata.name === name);
    return addon?.status?.status ?? '';
  }

  outcome(): Outcome {
    const { fingerprint, count, trace } = this.simulation.scheduler;
    return { seed: this.#seed, fingerprint, steps: count, complaints: this.complaints(), trace };
  }
}
