import { StatusError } from '@sheaf/base';
import type { DiskFile, Hypervisor, MachineObservation, MemoryOrder, Progress } from '@sheaf/ports';
import type { SimulatedMedium } from '@sheaf/testkit/volumes/index';

type OpenDisk = ReturnType<SimulatedMedium['open']>;

interface Disk {
  readonly name: string;
  file: DiskFile;
  open: OpenDisk;
}

/** Machines that do nothing but keep disks open, as far as volumes are concerned. They outlive every crash. */
export class SimulatedMachines
  implements Pick<Hypervisor, 'list' | 'resizeDisk' | 'switchDisks' | 'saveMemory' | 'askAgent'>
{
  readonly #medium: SimulatedMedium;
  readonly #disks = new Map<string, Disk[]>();
  /** Whether the file systems are frozen, of those whose guest has an agent. */
  readonly #agents = new Map<string, boolean>();
  /** What agents were asked for and disks were switched, oldest first. */
  readonly done: string[] = [];
  /** The disks that went on in new files at one moment, each time. */
  readonly moments: (readonly string[])[] = [];
  /** The memory that is being kept of each machine. */
  readonly #saves = new Map<string, MemoryOrder>();
  /** Is told of each such moment. */
  onMoment: () => void = () => {};
  /** It takes until the end of saves is asked for. */
  isStuck = false;

  constructor(medium: SimulatedMedium) {
    this.#medium = medium;
  }

  start(id: string, disks: readonly { readonly name: string; readonly file: DiskFile }[]): void {
    this.#disks.set(
      id,
      disks.map(({ name, file }) => ({ name, file, open: this.#medium.open(file) })),
    );
  }

  async end(id: string): Promise<void> {
    for (const { open } of this.#disks.get(id) ?? []) await open.close();
    this.#disks.delete(id);
    this.#agents.delete(id);
  }

  installAgent(id: string): void {
    this.#agents.set(id, false);
  }

  isFrozen(id: string): boolean {
    return this.#agents.get(id) === true;
  }

  async askAgent(id: string, { execute }: { readonly execute: string }): Promise<unknown> {
    const isFrozen = this.#agents.get(id);
    if (isFrozen === undefined) throw new StatusError({ reason: 'ServiceUnavailable', message: 'no agent' });
    if (execute === 'guest-fsfreeze-status') return isFrozen ? 'frozen' : 'thawed';
    const freezes = execute === 'guest-fsfreeze-freeze';
    if (!freezes && execute !== 'guest-fsfreeze-thaw') throw new Error(`no command ${execute}`);
    if (freezes && isFrozen) throw new Error('it is frozen already');
    this.done.push(freezes ? 'freeze' : 'thaw');
    this.#agents.set(id, freezes);
    return freezes === isFrozen ? 0 : 1;
  }

  async write(id: string, cell: number, value: number): Promise<void> {
    await this.#disk(id).open.write(cell, value);
  }

  read(id: string, cell: number): Promise<number> {
    return this.#disk(id).open.read(cell);
  }

  pathOf(id: string): string {
    return this.#disk(id).file.path;
  }

  async list(): Promise<readonly MachineObservation[]> {
    return [...this.#disks].map(([id, disks]) => ({
      id,
      title: id,
      state: 'running',
      startedAt: 0,
      devices: disks.map(({ name, file }) => ({ name, kind: 'disk', path: file.path, isLeaving: false })),
      forwards: [],
      sockets: 1,
      memoryBytes: 2 ** 26,
      isAgentConnected: this.#agents.has(id),
      ...(this.#saves.has(id) && { isMemoryBeingKept: true }),
      guestResets: 0,
    }));
  }

  async resizeDisk(id: string, { name, bytes }: { name: string; bytes: number }): Promise<void> {
    this.#disk(id, name).open.resize(bytes);
  }

  async switchDisks(
    id: string,
    disks: readonly { readonly name: string; readonly overlay: DiskFile }[],
  ): Promise<void> {
    const changes = disks.filter(({ name, overlay }) => this.#disk(id, name).file.path !== overlay.path);
    if (changes.length > 0) {
      this.moments.push(changes.map(({ name }) => name).sort());
      this.onMoment();
    }
    for (const { name, overlay } of changes) {
      const disk = this.#disk(id, name);
      this.done.push('switch');
      await disk.open.close();
      disk.file = overlay;
      disk.open = this.#medium.open(overlay);
    }
  }

  /** Is half done, then done: memory and disks in one step. */
  async saveMemory(id: string, order: MemoryOrder): Promise<Progress> {
    const { path, disks } = order;
    const isSwitched = disks.every(({ name, overlay }) => this.#disk(id, name).file.path === overlay.path);
    if (isSwitched && this.#medium.files.has(path)) return { state: 'done' };
    if (this.#saves.has(id) && !this.isStuck) {
      await this.endSaves(id);
      return { state: 'done' };
    }
    this.#saves.set(id, order);
    return { state: 'working', percent: 50 };
  }

  async endSaves(id: string): Promise<void> {
    const order = this.#saves.get(id);
    this.#saves.delete(id);
    if (!order) return;
    this.done.push('memory');
    this.#medium.files.set(order.path, 2 ** 20);
    await this.switchDisks(id, order.disks);
  }

  #disk(id: string, name?: string): Disk {
    const disk = this.#disks.get(id)?.find((each) => name === undefined || each.name === name);
    if (!disk) throw new StatusError({ reason: 'NotFound', message: `machine ${id} has no such disk` });
    return disk;
  }
}
