import type { ApiExtensions } from '@sheaf/api';
import type { DisposableStore } from '@sheaf/base';
import { type Client, type ClientRequest, resources } from '@sheaf/client';
import { type Extend, leanServers, type OpenServer, realServers } from '../kept-servers.ts';
import { isDeleting } from '../objects.ts';
import { Stage } from '../stage.ts';
import type { ScheduleOptions } from '../subjects.ts';
import { extendApi, registerControllers } from './controllers.ts';
import { WorldEvents } from './events.ts';
import { findComplaints, findRemains, type GoalFacts } from './goals.ts';
import { type PlantedFault, withoutFinalizers } from './planted-faults.ts';
import { Safety } from './safety.ts';
import { ground } from './servers.ts';
import { Users } from './users.ts';
import { type Drivers, World } from './world.ts';

/** A start that failed waits up to five minutes. */
const patienceMs = 20 * 60_000;

export interface StageOptions extends ScheduleOptions {
  /** On the lean server, not on the real one. */
  readonly isLean?: boolean;
  /** Which servers it is on, if neither of the two. */
  readonly servers?: (extend: Extend) => OpenServer;
  /** A stage on the lean server that has stopped: this one begins where it ended. */
  readonly beginning?: MachineStage | undefined;
}

const aside =
  /^\/apis?$|\/(events|storageclasses|csidrivers|volumesnapshotclasses|customresourcedefinitions)(\/|\?|$)/;

/** What is written for people to read, and what is there before any machine is. */
function isAside({ target }: ClientRequest): boolean {
  return aside.test(target);
}

/** A control plane with machines, the world around it, and those who watch that nothing happens that must never be. */
export class MachineStage extends Stage {
  readonly world: World;
  readonly users: Users;
  readonly events: WorldEvents;
  readonly safety: Safety;
  #drivers: Drivers | undefined;

  constructor(options: StageOptions) {
    const { seed, planted: names = [], isLean = false, beginning } = options;
    const planted = new Set(names as readonly PlantedFault[]);
    const extend = (api: ApiExtensions, client: Client): void => {
      const { clock, random } = this.simulation;
      extendApi(api, { client, clock, random, drivers: () => this.#driversOfNow() });
    };
    super({
      ...options,
      isLean,
      isAside,
      patienceMs,
      open: serversFor(options, extend),
      register: (manager, life) => registerControllers(manager, this.#open(life)),
      ...(planted.has('forgetsFinalizer') ? { tamper: withoutFinalizers } : {}),
    });
    const { simulation, objects } = this;
    const { clock, scheduler, random } = simulation;
    const isClaimLeaving = (uid: string): boolean => this.#isLeaving(uid);
    this.world = new World({ seed, clock, scheduler, planted, isClaimLeaving });
    this.safety = new Safety(objects, this.world);
    this.users = new Users({ simulation, objects });
    this.events = new WorldEvents(this.world, { random, scheduler });
    if (beginning) this.#takeOver(beginning);
  }

  #takeOver({ simulation, world, safety }: MachineStage): void {
    this.simulation.clock.advance(simulation.clock.monotonic());
    this.world.takeOver(world);
    this.safety.takeOver(safety);
  }

  override get drivers(): World {
    return this.world;
  }

  act(): void {
    this.users.act();
  }

  happen(): void {
    this.events.happen();
  }

  calm(): void {
    this.events.calm();
  }

  protected override look(): void {
    this.safety.look();
  }

  protected override restartHost(): void {
    this.simulation.scheduler.note('world: the host restarts');
    this.world.host.restart();
  }

  protected findComplaints(): readonly string[] {
    return findComplaints(this.#facts);
  }

  protected findRemains(): readonly string[] {
    return findRemains(this.#facts);
  }

  protected get violations(): readonly string[] {
    return [...this.safety.violations, ...this.users.shocks];
  }

  protected deleteEverything(): void {
    this.users.deleteEverything();
  }

  get #facts(): GoalFacts {
    const { objects, world, simulation, safety } = this;
    return { objects, world, safety, nowMs: simulation.clock.now() };
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

function serversFor({ isLean, servers, beginning }: StageOptions, extend: Extend): OpenServer {
  if (isLean) return leanServers(ground, { extend, beginning: beginning?.kept });
  return servers?.(extend) ?? realServers(ground, extend);
}
