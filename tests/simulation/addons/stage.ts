import type { KubeObject } from '@sheaf/api';
import { type ClientRequest, resources } from '@sheaf/client';
import { registerAddons } from '@sheaf/features/addon';
import { register as registerGarbageCollection } from '@sheaf/features/garbage-collection';
import { register as registerHelmChart } from '@sheaf/features/helm-chart';
import { register as registerJob } from '@sheaf/features/workload/job';
import type { Manager } from '@sheaf/runtime';
import { leanServers } from '../kept-servers.ts';
import { Stage } from '../stage.ts';
import type { ScheduleOptions } from '../subjects.ts';
import { findComplaints, findRemains } from './goals.ts';
import { HelmWorld } from './helm-world.ts';
import { ground, isAside, isWatched } from './kinds.ts';
import { registerOriginalAddons } from './original-addons.ts';
import { isOfNewJob, type PlantedFault, tamperOf } from './planted-faults.ts';
import { Users } from './users.ts';

/** Rests after failures of operations add up. */
const patienceMs = 60 * 60_000;
/** Of so many events of the world one is the end of a process in the middle of what it does. */
const killRarity = 6;

export interface StageOptions extends ScheduleOptions {
  /** The controllers of add-ons; another model of them can be put in their place. */
  readonly registerAddons?: (manager: Manager) => void;
  /** A stage that has stopped: this one begins where it ended. */
  readonly beginning?: AddonStage;
}

/** A control plane with the controllers of add-ons, charts and Jobs, a node that runs Helm, and those who use it. */
export class AddonStage extends Stage {
  readonly world: HelmWorld;
  readonly users: Users;
  #isClearing = false;

  constructor(options: StageOptions) {
    const { beginning } = options;
    const planted = new Set((options.planted ?? []) as readonly PlantedFault[]);
    const usual = planted.has('comparesTimes') ? registerOriginalAddons : registerAddons;
    const register = options.registerAddons ?? usual;
    const tamper = tamperOf(planted);
    super({
      ...options,
      isLean: true,
      isAside,
      patienceMs,
      open: leanServers(ground, { beginning: beginning?.kept }),
      register: (manager) => {
        register(manager);
        registerHelmChart(manager);
        registerJob(manager);
        registerGarbageCollection(manager, { isMonitored: isWatched, concurrency: 4 });
      },
      witness: (request, { isLate }) =>
        isLate && isOfNewJob(request) ? () => this.#noteLate(request) : undefined,
      ...(tamper && { tamper }),
    });
    const { simulation, objects } = this;
    const { scheduler, random } = simulation;
    this.world = new HelmWorld({ client: () => simulation.server.client, objects, scheduler, random });
    this.users = new Users({ simulation, objects, onJobDeleted: (uid) => this.world.excused.add(uid) });
    if (beginning) this.#takeOver(beginning);
  }

  #takeOver({ simulation, world }: AddonStage): void {
    this.simulation.clock.advance(simulation.clock.monotonic());
    this.world.takeOver(world);
  }

  #noteLate({ value }: ClientRequest): void {
    const { name } = (value as unknown as KubeObject).metadata;
    const late = this.objects.all(resources.jobs).find(({ metadata }) => metadata.name === name);
    if (late) this.world.late.add(late.metadata.uid ?? '');
  }

  act(): void {
    this.users.act();
  }

  happen(): Promise<void> {
    return this.simulation.random.integer(killRarity) === 0 ? this.world.kill() : this.world.happen();
  }

  /** Most operations begin late in a run: how many of them fail is limited from the beginning. */
  calm(): void {
    this.simulation.scheduler.note('world: calm');
  }

  protected override async finishWork(): Promise<void> {
    await this.world.finishAll();
    await this.settle();
  }

  /** Each add-on comes to what it says, or to a named fault. */
  protected findComplaints(): readonly string[] {
    return findComplaints(this);
  }

  protected findRemains(): readonly string[] {
    return findRemains(this);
  }

  protected get violations(): readonly string[] {
    return [...this.world.violations, ...this.users.shocks];
  }

  /** Once: it is the controllers that have to go on trying. */
  protected deleteEverything(): void {
    if (this.#isClearing) return;
    this.#isClearing = true;
    this.world.failuresLeft = 0;
    this.users.switchOff();
  }

  addonState(name: string): string {
    const addon = this.objects.all(resources.addons).find(({ metadata }) => metadata.name === name);
    return addon?.status?.status ?? '';
  }
}
