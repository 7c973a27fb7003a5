import type { Random } from '@sheaf/base';
import type { Scheduler } from '@sheaf/testkit';
import { drawWeighted } from '../weighted.ts';
import { imageNames } from './kinds.ts';
import { urlOf } from './machine-objects.ts';
import type { World } from './world.ts';

type Happening = (events: WorldEvents, id: string) => void;

/** What happens to machines by themselves and to the host, and how often of 100 events. */
const happenings: readonly (readonly [weight: number, name: string, happen: Happening])[] = [
  [14, 'guests write', ({ world }) => world.guests.write()],
  [14, 'guest shuts down', ({ world }, id) => world.host.shutDownGuest(id)],
  [8, 'guest panics', ({ world }, id) => world.host.panicGuest(id)],
  [12, 'process is killed', ({ world }, id) => world.host.killProcess(id)],
  [10, 'process stands still', ({ world }, id) => world.host.freezeProcess(id)],
  [8, 'process goes on', (events) => events.thawAll()],
  [8, 'guest is deaf', ({ world }, id) => world.host.machines.get(id)?.process?.guest.type('D')],
  [4, 'guest lets go', ({ world }, id) => world.host.machines.get(id)?.process?.guest.type('E')],
  [8, 'starts fail or do not', (events) => events.turnStarts()],
  [6, 'disk is full or is not', ({ world }) => void (world.isDiskFull = !world.isDiskFull)],
  [8, 'sources stall or do not', (events) => events.turnSources()],
];

/** A disk of three cells of 64 KiB. */
const content = Buffer.concat([1, 2, 3].map((value) => Buffer.alloc(64 * 1024, value)));

/** The world around the control plane, which owes it nothing. */
export class WorldEvents {
  readonly world: World;
  readonly #random: Random;
  readonly #scheduler: Scheduler;
  #isStalled = false;
  #failsStarts = false;

  constructor(world: World, { random, scheduler }: { random: Random; scheduler: Scheduler }) {
    this.world = world;
    this.#random = random;
    this.#scheduler = scheduler;
    this.#offer();
    world.host.faults.startMs = random.integer(3) === 0 ? 1000 * random.integer(20) : 0;
  }

  happen(): void {
    const [, name, happen] = drawWeighted(this.#random, happenings);
    const ids = [...this.world.host.machines.keys()];
    const id = ids[this.#random.integer(Math.max(1, ids.length))] ?? '';
    this.#scheduler.note(`world: ${name} ${id}`);
    happen(this, id);
  }

  /** From now on nothing goes wrong by itself. Guests stay as they are. */
  calm(): void {
    this.#scheduler.note('world: calm');
    this.world.crashChance = 0;
    this.world.isDiskFull = false;
    this.world.host.faults.startFailure = () => undefined;
    this.#isStalled = false;
    this.#offer();
    this.thawAll();
  }

  thawAll(): void {
    for (const [id, { process }] of this.world.host.machines)
      if (process?.isFrozen) this.world.host.thawProcess(id);
  }

  turnStarts(): void {
    this.#failsStarts = !this.#failsStarts;
    const words = this.#failsStarts ? 'the program does not like it' : undefined;
    this.world.host.faults.startFailure = () => words;
  }

  turnSources(): void {
    this.#isStalled = !this.#isStalled;
    this.#offer();
  }

  #offer(): void {
    const answer = { content, etag: 'one' };
    for (const name of imageNames)
      this.world.sources.offer(urlOf(name), [
        this.#isStalled ? { ...answer, stallsAfter: 64 * 1024 } : answer,
      ]);
  }
}
