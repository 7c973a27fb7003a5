import type { DiskFile, ImageObservation, ImageOrder, VolumeSpace } from '@sheaf/ports';

export const cellBytes = 64 * 1024;
const metadataBytes = 192 * 1024;
const directory = '/simulated/layers';

/** A file that may lie on another. Content is kept as one value for each cell of 64 KiB. */
export interface SimulatedLayer {
  readonly path: string;
  cells: Map<number, number>;
  bytes: number;
  backing?: SimulatedLayer;
  /** Taken from the medium in full. */
  readonly isFull?: boolean;
  /** Machines that have it open for writing. */
  openers: number;
}

export interface SimulatedVolume {
  readonly id: string;
  readonly title: string;
  readonly provisioning: 'thin' | 'full';
  bytes: number;
  top: SimulatedLayer;
}

export interface SimulatedSnapshot {
  readonly id: string;
  readonly volumeId: string;
  readonly bytes: number;
  takenAt: number;
  readonly layer: SimulatedLayer;
  overlay?: SimulatedLayer | undefined;
}

export interface SimulatedImage {
  readonly id: string;
  readonly order: ImageOrder;
  state: 'receiving' | 'verifying' | 'done' | 'failed';
  received: Uint8Array;
  totalBytes?: number | undefined;
  pinned?: { readonly url: string; readonly etag?: string | undefined } | undefined;
  failure?:
    | {
        readonly message: string;
        readonly nature: 'transient' | 'fault';
        readonly during: 'receiving' | 'verifying';
      }
    | undefined;
  layer?: SimulatedLayer;
  content?: Uint8Array;
  format?: NonNullable<ImageObservation['image']>['format'];
}

/** Room for the memory of a machine, in a file that its hypervisor writes. */
export interface SimulatedMemoryFile {
  readonly id: string;
  readonly title: string;
  readonly bytes: number;
  state: 'prepared' | 'kept';
}

/** What outlives the simulated drivers, and what simulated machines write to. */
export class SimulatedMedium {
  readonly volumes = new Map<string, SimulatedVolume>();
  readonly snapshots = new Map<string, SimulatedSnapshot>();
  readonly images = new Map<string, SimulatedImage>();
  readonly memories = new Map<string, SimulatedMemoryFile>();
  /** The sizes of files that simulated machines have written their memory to, by their paths. */
  readonly files = new Map<string, number>();
  readonly #totalBytes: number;

  constructor(totalBytes = 1024 ** 3) {
    this.#totalBytes = totalBytes;
  }

  layer(
    name: string,
    bytes: number,
    more: { backing?: SimulatedLayer; isFull?: boolean } = {},
  ): SimulatedLayer {
    return { path: `${directory}/${name}`, cells: new Map(), bytes, openers: 0, ...more };
  }

  /** As a machine has it; @throws Error as a machine would say it */
  open({ path }: DiskFile): SimulatedOpenDisk {
    const layer = [...this.layers()].find((item) => item.path === path);
    if (!layer) throw new Error(`Could not open '${path}': No such file or directory`);
    if (layer.openers > 0) throw new Error(`Failed to get "write" lock on ${path}`);
    return new SimulatedOpenDisk(layer);
  }

  /** Whether it is, or was, a file of the driver's. */
  isLayer(path: string): boolean {
    return path.startsWith(`${directory}/`);
  }

  memoryPath(id: string): string {
    return `${directory}/memory-${id}`;
  }

  memoryBytes(id: string): number {
    const path = this.memoryPath(id);
    return (this.files.get(path) ?? 0) + (this.files.get(`${path}.part`) ?? 0);
  }

  /** What a file lies on, the next one first. */
  filesBeneath(path: string): string[] {
    const [top, ...beneath] = reachable([...this.layers()].filter((layer) => layer.path === path));
    return top ? beneath.map((layer) => layer.path) : [];
  }

  /** Holds what another medium holds, and shares nothing with it that changes. */
  takeOver(other: SimulatedMedium): void {
    const copies = new Map<SimulatedLayer, SimulatedLayer>();
    const copied = (layer: SimulatedLayer): SimulatedLayer => {
      let copy = copies.get(layer);
      if (!copy) {
        const backing = layer.backing && copied(layer.backing);
        copy = { ...layer, cells: new Map(layer.cells), openers: 0, ...(backing ? { backing } : {}) };
        copies.set(layer, copy);
      }
      return copy;
    };
    for (const [id, each] of other.volumes) this.volumes.set(id, { ...each, top: copied(each.top) });
    for (const [id, each] of other.snapshots) {
      const overlay = each.overlay && copied(each.overlay);
      this.snapshots.set(id, { ...each, layer: copied(each.layer), overlay });
    }
    for (const [id, each] of other.images)
      this.images.set(id, { ...each, ...(each.layer ? { layer: copied(each.layer) } : {}) });
    for (const [id, each] of other.memories) this.memories.set(id, { ...each });
    for (const [path, bytes] of other.files) this.files.set(path, bytes);
  }

  /** All that something needs. */
  layers(): Set<SimulatedLayer> {
    const tops = [
      ...[...this.volumes.values()].map(({ top }) => top),
      ...[...this.snapshots.values()].flatMap(({ layer, overlay }) => (overlay ? [layer, overlay] : [layer])),
      ...[...this.images.values()].flatMap(({ layer }) => layer ?? []),
    ];
    return reachable(tops);
  }

  /** `held`: what work that is going on has been promised. */
  space(overCommitment: number, held: number): VolumeSpace {
    const tops = new Set([...this.volumes.values()].map(({ top }) => top));
    let taken = 0;
    let frozen = 0;
    for (const layer of this.layers()) {
      taken += allocatedBytes(layer);
      if (!tops.has(layer)) frozen += allocatedBytes(layer);
    }
    for (const { state, received } of this.images.values()) if (state !== 'done') taken += received.length;
    let promised = [...this.volumes.values()].reduce((sum, { bytes }) => sum + bytes, 0);
    for (const { id, state, bytes } of this.memories.values()) {
      const memoryBytes = this.memoryBytes(id);
      taken += memoryBytes;
      promised += state === 'prepared' ? Math.max(bytes, memoryBytes) : memoryBytes;
    }
    return {
      totalBytes: this.#totalBytes,
      freeBytes: Math.max(0, this.#totalBytes - taken),
      promisedBytes: promised + frozen + held,
      promisableBytes: Math.floor(this.#totalBytes * overCommitment),
    };
  }
}

/** A file that a simulated machine has open. */
export class SimulatedOpenDisk {
  readonly #layer: SimulatedLayer;
  #isOpen = true;

  constructor(layer: SimulatedLayer) {
    this.#layer = layer;
    layer.openers++;
  }

  async write(cell: number, value: number): Promise<void> {
    if ((cell + 1) * cellBytes > this.#layer.bytes) throw new Error(`cell ${cell} is beyond the end`);
    this.#layer.cells.set(cell, value);
  }

  async read(cell: number): Promise<number> {
    return readCell(this.#layer, cell);
  }

  /** The machine lets it grow. */
  resize(bytes: number): void {
    this.#layer.bytes = Math.max(this.#layer.bytes, bytes);
  }

  async close(): Promise<void> {
    if (this.#isOpen) this.#layer.openers--;
    this.#isOpen = false;
  }
}

export function readCell(top: SimulatedLayer, cell: number): number {
  for (let layer: SimulatedLayer | undefined = top; layer; layer = layer.backing) {
    const value = layer.cells.get(cell);
    if (value !== undefined) return value;
    // A grown volume shows zeros where what lies below has its end.
    if (layer.backing && cell * cellBytes >= layer.backing.bytes) return 0;
  }
  return 0;
}

/** Everything that can be read from `top`. */
export function allCells(top: SimulatedLayer): Map<number, number> {
  const cells = new Map<number, number>();
  for (let cell = 0; cell * cellBytes < top.bytes; cell++) {
    const value = readCell(top, cell);
    if (value !== 0) cells.set(cell, value);
  }
  return cells;
}

export function allocatedBytes({ cells, bytes, isFull }: SimulatedLayer): number {
  return metadataBytes + (isFull ? bytes : cells.size * cellBytes);
}

export function reachable(tops: readonly SimulatedLayer[]): Set<SimulatedLayer> {
  const found = new Set<SimulatedLayer>();
  for (const top of tops)
    for (let layer: SimulatedLayer | undefined = top; layer && !found.has(layer); layer = layer.backing)
      found.add(layer);
  return found;
}
