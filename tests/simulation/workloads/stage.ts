import { resources } from '@sheaf/client';
import { leanServers, type OpenServer, realServers } from '../kept-servers.ts';
import { Stage } from '../stage.ts';
import type { ScheduleOptions } from '../subjects.ts';
import { registerWorkloads } from './controllers.ts';
import { WorldEvents } from './events.ts';
import type { Family } from './families.ts';
import { findComplaints, findRemains, type GoalFacts } from './goals.ts';
import { ground, isAside } from './kinds.ts';
import { type PlantedFault, tamperOf } from './planted-faults.ts';
import { Safety } from './safety.ts';
import { Users } from './users.ts';
import { World } from './world.ts';

/** Rests after failures of jobs add up. */
const patienceMs = 40 * 60_000;

export interface StageOptions extends ScheduleOptions {
  /** On the lean server, not on the real one. */
  readonly isLean: boolean;
  readonly family: Family;
  /** Which server it is on, if neither of the two. */
  readonly open?: OpenServer;
}

/** A control plane with workloads, hosts for their containers, and those who watch that nothing happens that must never be. */
export class WorkloadStage extends Stage {
  readonly world: World;
  readonly users: Users;
  readonly events: WorldEvents;
  readonly safety: Safety;
  /** Whether each request is carried out once, and its sender hears of it. */
  isExact = false;

  constructor(options: StageOptions) {
    const { seed, isLean, family, open, planted: names = [] } = options;
    const planted = new Set(names as readonly PlantedFault[]);
    const tamper = tamperOf(planted);
    super({
      ...options,
      patienceMs,
      isAside,
      open: open ?? (isLean ? leanServers(ground, {}) : realServers(ground)),
      register: (manager, life) => registerWorkloads(manager, family, this.world.open(life)),
      witness: (request) => this.safety.writes.watch(request),
      ...(tamper && { tamper }),
    });
    const { simulation, objects } = this;
    const { clock, scheduler, random } = simulation;
    this.world = new World({
      seed,
      clock,
      scheduler,
      planted,
      claimUid: (namespace, name) =>
        objects
          .all(resources.persistentVolumeClaims)
          .find(({ metadata }) => metadata.namespace === namespace && metadata.name === name)?.metadata.uid,
    });
    this.users = new Users({ simulation, objects, family });
    const { world, users } = this;
    this.safety = new Safety({ objects, world, users, isExact: () => this.isExact });
    this.events = new WorldEvents(world, { random, scheduler, isWork: (uid) => this.#isWork(uid) });
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

  /** Work goes well, and nodes take pods again. */
  calm(): Promise<void> {
    this.events.calm();
    this.users.uncordon();
    return this.settle();
  }

  override async clear(): Promise<void> {
    this.safety.isClearing = true;
    await super.clear();
  }

  protected override look(): void {
    this.safety.look();
  }

  protected override restartHost(): void {
    this.simulation.scheduler.note('world: the hosts restart');
    this.world.restart();
  }

  protected override finishWork(): Promise<void> {
    this.events.finishAllWork();
    return this.settle();
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
    const { objects, world, simulation, safety, users } = this;
    return { objects, world, safety, users, nowMs: simulation.clock.now() };
  }

  #isWork(podUid: string): boolean {
    const pod = this.objects.get(resources.pods, podUid);
    return pod !== undefined && pod.spec.restartPolicy !== 'Always';
  }
}
