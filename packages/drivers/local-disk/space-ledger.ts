import { statfs } from 'node:fs/promises';
import { type Disposable, disposable, StatusError } from '@sheaf/base';
import type { VolumeSpace } from '@sheaf/ports';
import type { DiskState } from './disk-state.ts';
import { reachableFrom } from './layer-graph.ts';
import { countMemories } from './local-memories.ts';

export interface SpaceNeed {
  /** Of what may be promised. */
  readonly promisedBytes: number;
  /** Of what the file system has left. */
  readonly takenBytes: number;
}

export interface SpaceOptions {
  /** How many times the room that there is may be promised; asked each time, where it is a function. */
  readonly overCommitment: number | (() => number);
  /** Never given out. */
  readonly keptFreeBytes?: number;
}

/** Counts what is promised from what is on disk, each time. Only work that is going on is held here, as long as it goes on. */
export class SpaceLedger {
  readonly #disk: DiskState;
  readonly #options: SpaceOptions;
  readonly #held = new Set<SpaceNeed>();

  constructor(disk: DiskState, options: SpaceOptions) {
    this.#disk = disk;
    this.#options = options;
  }

  async space(): Promise<VolumeSpace> {
    const { layout, layers } = this.#disk;
    const { bsize, blocks, bavail } = await statfs(layout.root);
    const freeBytes = bavail * bsize;
    const volumes = this.#disk.volumes.all().filter((volume) => volume.state !== 'removing');
    const tops = new Set(volumes.map((volume) => volume.top));
    const live = reachableFrom(layers.graph, this.#disk.liveRoots());
    const frozenBytes = await layers.allocated([...live].filter((name) => !tops.has(name)));
    const topBytes = await layers.allocated(tops);
    const memories = await countMemories(this.#disk);
    const held = this.#sum('promisedBytes') + memories.promisedBytes;
    return {
      totalBytes: blocks * bsize,
      freeBytes,
      promisedBytes: volumes.reduce((sum, volume) => sum + volume.bytes, 0) + frozenBytes + held,
      promisableBytes: Math.floor(
        (freeBytes + frozenBytes + topBytes + memories.takenBytes) * this.#overCommitment(),
      ),
    };
  }

  #overCommitment(): number {
    const { overCommitment } = this.#options;
    return typeof overCommitment === 'number' ? overCommitment : overCommitment();
  }

  /** Sets room aside for `what` until the end of the work. @throws StatusError with the figures when it does not fit */
  async hold(what: string, need: SpaceNeed): Promise<Disposable> {
    const space = await this.space();
    // From here to the end nothing else can happen.
    const promisable = Math.max(0, space.promisableBytes - space.promisedBytes);
    const kept = this.#options.keptFreeBytes ?? Math.ceil(space.totalBytes / 100);
    const free = Math.max(0, space.freeBytes - this.#sum('takenBytes') - kept);
    if (need.promisedBytes > promisable) throw refusal(what, need.promisedBytes, promisable);
    if (need.takenBytes > free) throw refusal(what, need.takenBytes, free);
    this.#held.add(need);
    return disposable(() => this.#held.delete(need));
  }

  #sum(part: keyof SpaceNeed): number {
    let sum = 0;
    for (const need of this.#held) sum += need[part];
    return sum;
  }
}

function refusal(what: string, needed: number, left: number): StatusError {
  return new StatusError({
    reason: 'Forbidden',
    message:
      `${what} needs ${shown(needed)}, but only ${shown(left)} can be given; ` +
      'remove volumes, snapshots or images, ask for less, or add storage',
    details: { causes: [{ reason: 'InsufficientSpace' }] },
  });
}

function shown(bytes: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];
  let value = bytes;
  let unit = 0;
  for (; value >= 1024 && unit < units.length - 1; unit++) value /= 1024;
  return `${Number.isInteger(value) ? value : value.toFixed(1)} ${units[unit]}`;
}
