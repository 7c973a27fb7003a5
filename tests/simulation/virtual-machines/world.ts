import type { Clock, DisposableStore, Random } from '@sheaf/base';
import type { Hypervisor, Images, MachineFiles, MachineMemories, MachineSpec, Volumes } from '@sheaf/ports';
import { type Scheduler, SeededRandom, StepClock, scheduledPort } from '@sheaf/testkit';
import { SimulatedHost, SimulatedHypervisor } from '@sheaf/testkit/hypervisor/index';
import { SimulatedMachineFiles } from '@sheaf/testkit/machine-files/index';
import {
  openSimulatedDisk,
  type SimulatedDiskFaults,
  SimulatedMedium,
  SimulatedSources,
} from '@sheaf/testkit/volumes/index';
import { GuestWrites } from './guest-writes.ts';
import { type PlantedFault, withFilesOf } from './planted-faults.ts';

/** The drivers of one life of the program. */
export interface Drivers {
  readonly hypervisor: Hypervisor;
  readonly volumes: Volumes;
  readonly images: Images;
  readonly memories: MachineMemories;
  readonly files: MachineFiles;
}

export interface WorldOptions {
  readonly seed: number;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly planted: ReadonlySet<PlantedFault>;
  /** Whether the deletion of the claim of this UID has been asked for. */
  readonly isClaimLeaving: (uid: string) => boolean;
}

const longestStepMs = 2;
const mediumBytes = 256 * 1024 * 1024;
const immediate: readonly string[] = ['capabilities', 'onChange', 'dispose'];
const reading: ReadonlySet<string> = new Set(['find', 'list', 'listSnapshots', 'findUnowned', 'space']);

/** A host, its disk and what it downloads from. What the drivers begin outlives them. */
export class World {
  readonly host: SimulatedHost;
  readonly medium = new SimulatedMedium(mediumBytes);
  readonly sources = new SimulatedSources();
  readonly files = new SimulatedMachineFiles();
  readonly guests: GuestWrites;
  isDiskFull = false;
  /** Whether what controllers ask of volumes, images and files is answered without being chosen. */
  readsAtOnce = false;
  /** Of 1000 steps of a disk driver, so many are its last. */
  crashChance = 0;
  /** Told when a driver has died at one of its own steps: the program is dead. */
  hasDied = false;
  readonly #options: WorldOptions;
  readonly #random: Random;
  readonly #clock: StepClock;
  #lives = 0;
  /** As the driver of this life says. */
  #mayWrite: (path: string) => Promise<boolean> = () => Promise.resolve(true);
  #kill: () => void = () => undefined;

  constructor(options: WorldOptions) {
    const { seed, clock, scheduler } = options;
    this.#options = options;
    this.#random = new SeededRandom(seed + 2);
    this.#clock = new StepClock(clock, { scheduler, name: 'driver', longestStepMs });
    this.host = new SimulatedHost({
      clock: this.#clock,
      random: this.#random,
      hasFile: (path) => this.#hasFile(path),
      mayWrite: (path) =>
        options.planted.has('opensBeneath') ? Promise.resolve(true) : this.#mayWrite(path),
      filesBeneath: (path) => this.medium.filesBeneath(path),
      capabilities: { parallelStarts: 2 },
    });
    this.host.faults.ignoresLocks = options.planted.has('mixesFiles');
    this.guests = new GuestWrites(this.host, this.medium);
    this.host.faults.longestStepMs = longestStepMs;
    this.host.faults.onStep = () => this.#mayDie();
  }

  /** Goes on as another world would in which no program runs any more; the clock shows the same time. */
  takeOver(other: World): void {
    this.host.takeOver(other.host);
    this.medium.takeOver(other.medium);
    for (const [path, bytes] of other.files.contents) this.files.contents.set(path, bytes);
    this.guests.takeOver(other.guests);
  }

  /** Drivers for one more life of the program; they die with it. */
  open(life: DisposableStore): Drivers {
    const name = `drivers${++this.#lives}`;
    let isOver = false;
    const hypervisor = new SimulatedHypervisor(this.host);
    const disk = openSimulatedDisk({
      medium: this.medium,
      sources: this.sources,
      clock: this.#clock,
      random: this.#random,
      faults: this.#diskFaults(),
    });
    this.#mayWrite = (path) => disk.volumes.mayWrite(path, new AbortController().signal);
    const kill = (): void => {
      isOver = true;
      hypervisor.dispose();
      disk.crash();
    };
    this.#kill = kill;
    const begun = new AbortController();
    // As the program does: until the first look is over, no machine can run.
    hypervisor.probe(begun.signal).catch(() => undefined);
    life.add({ dispose: kill });
    const scheduled = <T extends object>(port: T, kind: string): T =>
      scheduledPort(port, {
        scheduler: this.#options.scheduler,
        name: `${name} ${kind}`,
        immediate,
        isAtOnce: (method) => this.readsAtOnce && reading.has(method),
        isOver: () => isOver,
        onCall: () => this.#noteOpenFiles(),
      });
    return {
      hypervisor: this.#followed(hypervisor),
      volumes: scheduled(this.#hasty(disk.volumes), 'volumes'),
      images: scheduled(disk.images, 'images'),
      memories: scheduled(disk.memories, 'memories'),
      files: scheduled(this.files as MachineFiles, 'files'),
    };
  }

  /** Paths of all files that there are. */
  hasLayer(path: string): boolean {
    for (const layer of this.medium.layers()) if (layer.path === path) return true;
    return false;
  }

  #hasFile(path: string): boolean {
    return this.files.contents.has(path) || this.hasLayer(path);
  }

  /** A dead driver is told at its next step; the schedule then ends the rest of the program. */
  #mayDie(): boolean {
    if (!this.hasDied && this.crashChance > 0 && this.#random.integer(1000) < this.crashChance) {
      this.hasDied = true;
      this.#kill();
    }
    return this.hasDied;
  }

  #diskFaults(): SimulatedDiskFaults {
    return {
      crashesAt: () => this.#mayDie(),
      diskIsFull: () => this.isDiskFull,
      corrupts: () => false,
    };
  }

  /** Machines lock what they write to; disk drivers see these locks. */
  #noteOpenFiles(): void {
    const open = new Map<string, number>();
    for (const { process } of this.host.machines.values())
      for (const { file } of process?.openDisks ?? [])
        if (file) open.set(file.path, (open.get(file.path) ?? 0) + 1);
    for (const layer of this.medium.layers()) layer.openers = open.get(layer.path) ?? 0;
  }

  /** A machine that is told to lets the file of its disk grow. */
  grow(id: string, { name, bytes }: { readonly name: string; readonly bytes: number }): void {
    const path = this.host.machines.get(id)?.process?.disks.get(name)?.file?.path;
    for (const layer of this.medium.layers())
      if (layer.path === path) layer.bytes = Math.max(layer.bytes, bytes);
  }

  #followed(hypervisor: Hypervisor): Hypervisor {
    const { planted } = this.#options;
    const isSkipped = (method: string | symbol): boolean =>
      (method === 'find' && planted.has('startsUnseen') && this.#random.integer(8) === 0) ||
      (method === 'end' && planted.has('losesEnds'));
    return withCalls(hypervisor, async (method, args, run) => {
      if (isSkipped(method)) return undefined;
      if (method === 'start') await this.#mayHang();
      const answer = await run(method === 'start' ? this.#mayMix(args) : args);
      if (method === 'resizeDisk') this.grow(...(args as Parameters<World['grow']>));
      return answer;
    });
  }

  /** Never goes on. */
  async #mayHang(): Promise<void> {
    if (this.#options.planted.has('hangsStarts') && this.#random.integer(4) === 0)
      await new Promise(() => undefined);
  }

  #mayMix(args: readonly unknown[]): readonly unknown[] {
    const { planted } = this.#options;
    if (planted.has('opensBeneath') && this.#random.integer(2) === 0) return this.#beneath(args);
    if (!planted.has('mixesFiles') || this.#random.integer(2) === 0) return args;
    const [spec, ...rest] = args as [MachineSpec, ...unknown[]];
    const others = [...this.host.machines.values()].filter((machine) => machine.spec.id !== spec.id);
    return [withFilesOf(spec, [...(others[0]?.process?.disks.values() ?? [])]), ...rest];
  }

  #beneath(args: readonly unknown[]): readonly unknown[] {
    const [spec, ...rest] = args as [MachineSpec, ...unknown[]];
    const disks = spec.disks.map((disk) => {
      const [path] = this.medium.filesBeneath(disk.file?.path ?? '');
      return path === undefined || disk.isReadOnly === true
        ? disk
        : { ...disk, file: { path, format: 'qcow2' as const } };
    });
    return [{ ...spec, disks }, ...rest];
  }

  #hasty(volumes: Volumes): Volumes {
    const { planted, isClaimLeaving } = this.#options;
    if (!planted.has('removesBeforeDetach')) return volumes;
    return withCalls(volumes, (_method, args, run) => {
      const { volumes: all } = this.medium;
      for (const id of all.keys()) if (isClaimLeaving(id)) all.delete(id);
      return run(args);
    });
  }
}

type Call = (
  method: string,
  args: readonly unknown[],
  run: (args: readonly unknown[]) => Promise<unknown>,
) => Promise<unknown>;

/** A port whose calls that take time go through `call`. */
function withCalls<T extends object>(port: T, call: Call): T {
  return new Proxy(port, {
    get(target, property): unknown {
      const method: unknown = Reflect.get(target, property);
      if (typeof method !== 'function' || typeof property !== 'string') return method;
      const run = (args: readonly unknown[]): unknown => Reflect.apply(method, target, args);
      if (immediate.includes(property)) return (...args: unknown[]) => run(args);
      return (...args: unknown[]) => call(property, args, (given) => Promise.resolve(run(given)));
    },
  });
}
