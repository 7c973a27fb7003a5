import type { Random } from '@sheaf/base';
import type { Scheduler } from '@sheaf/testkit';
import { drawWeighted } from '../weighted.ts';
import type { World } from './world.ts';

type Running = ReturnType<World['running']>[number];
type Happening = (events: WorldEvents, running: Running | undefined) => void;

/** What happens to containers by themselves and to hosts, and how often of 100 events. */
const happenings: readonly (readonly [weight: number, name: string, happen: Happening])[] = [
  [30, 'work is done', (events) => events.finishWork(0)],
  [12, 'work fails', (events) => events.finishWork(1)],
  [14, 'container ends', (_, running) => running?.host.exit(running.container.spec.id, 0)],
  [10, 'container is killed', (_, running) => running?.host.kill(running.container.spec.id)],
  [4, 'container has no memory', (_, running) => running?.host.runOutOfMemory(running.container.spec.id)],
  [14, 'pod is sick or is not', (events, running) => events.turnHealth(running)],
  [8, 'starts fail or do not', ({ world }) => void (world.failsStarts = !world.failsStarts)],
  [8, 'registry answers or does not', (events) => events.turnRegistry()],
];

/** The world around the control plane, which owes it nothing. */
export class WorldEvents {
  readonly world: World;
  readonly #random: Random;
  readonly #scheduler: Scheduler;
  /** Whether a container is one of a job: its pod works until it is done. */
  readonly #isWork: (podUid: string) => boolean;
  #isOffered = true;

  constructor(
    world: World,
    options: {
      readonly random: Random;
      readonly scheduler: Scheduler;
      readonly isWork: (podUid: string) => boolean;
    },
  ) {
    this.world = world;
    this.#random = options.random;
    this.#scheduler = options.scheduler;
    this.#isWork = options.isWork;
  }

  happen(): void {
    const [, name, happen] = drawWeighted(this.#random, happenings);
    const running = this.#some(this.world.running());
    this.#scheduler.note(`world: ${name} ${running?.container.spec.title ?? ''}`);
    happen(this, running);
  }

  /** From now on nothing goes wrong by itself. */
  calm(): void {
    this.#scheduler.note('world: calm');
    this.world.crashChance = 0;
    this.world.failsStarts = false;
    this.world.sick.clear();
    this.#isOffered = true;
    this.world.offerImages(true);
  }

  /** One of those who work for a job ends. */
  finishWork(exitCode: number): void {
    const work = this.#some(this.#working());
    if (work) work.host.exit(work.container.spec.id, exitCode);
  }

  /** All of them do well. */
  finishAllWork(): void {
    for (const { host, container } of this.#working()) host.exit(container.spec.id, 0);
  }

  turnHealth(running: Running | undefined): void {
    const address = running?.host.sandboxes.get(running.container.spec.sandboxId)?.address;
    if (address === undefined) return;
    if (!this.world.sick.delete(address)) this.world.sick.add(address);
  }

  turnRegistry(): void {
    this.#isOffered = !this.#isOffered;
    this.world.offerImages(this.#isOffered);
  }

  #working(): readonly Running[] {
    return this.world.running().filter(({ container }) => this.#isWork(podUidOf(container.spec.id)));
  }

  #some<T>(items: readonly T[]): T | undefined {
    return items[this.#random.integer(Math.max(1, items.length))];
  }
}

/** Ids of sandboxes and containers begin with it. */
export function podUidOf(id: string): string {
  return id.slice(0, id.indexOf('_'));
}
