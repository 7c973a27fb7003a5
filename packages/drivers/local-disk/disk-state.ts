import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, type Disposable, disposable, type Logger, type Random } from '@sheaf/base';
import type { DirectoryLayout } from './directory-layout.ts';
import type { ImageRecord, MemoryRecord, SnapshotRecord, VolumeRecord } from './disk-records.ts';
import { placeDurably, syncDirectory } from './durable-files.ts';
import { LayerFiles } from './layer-files.ts';
import { reachableFrom } from './layer-graph.ts';
import { ProgramRunner } from './program-runner.ts';
import { QemuImg } from './qemu-img.ts';
import { RecordFolder } from './records.ts';
import { Serial } from './serial.ts';

export interface DiskSurroundings {
  readonly directory: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/**
 * What is in the directory: records say what there is, layers hold its data. A layer is removed only when a record that led to
 * it is removed and no other leads to it; what no record has ever led to is left alone and shown.
 */
export class DiskState {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly layout: DirectoryLayout;
  readonly layers: LayerFiles;
  readonly runner: ProgramRunner;
  readonly qemuImg: QemuImg;
  /** Whoever changes which layer lies on which, or which record leads to which layer, does it in here. */
  readonly serial = new Serial();
  readonly volumes: RecordFolder<VolumeRecord>;
  readonly snapshots: RecordFolder<SnapshotRecord>;
  readonly images: RecordFolder<ImageRecord>;
  readonly memories: RecordFolder<MemoryRecord>;
  readonly #pins = new Set<{ readonly layer: string }>();

  private constructor(
    surroundings: DiskSurroundings,
    layout: DirectoryLayout,
    parts: Pick<DiskState, 'runner' | 'volumes' | 'snapshots' | 'images' | 'memories'>,
  ) {
    this.clock = surroundings.clock;
    this.random = surroundings.random;
    this.logger = surroundings.logger;
    this.layout = layout;
    this.layers = new LayerFiles(layout);
    this.runner = parts.runner;
    this.qemuImg = new QemuImg(parts.runner);
    this.volumes = parts.volumes;
    this.snapshots = parts.snapshots;
    this.images = parts.images;
    this.memories = parts.memories;
  }

  /** The directory is prepared and this process has its lock. */
  static async open(surroundings: DiskSurroundings, layout: DirectoryLayout): Promise<DiskState> {
    const state = new DiskState(surroundings, layout, {
      runner: await ProgramRunner.open(surroundings.clock),
      volumes: await RecordFolder.open<VolumeRecord>(layout.records('volumes')),
      snapshots: await RecordFolder.open<SnapshotRecord>(layout.records('snapshots')),
      images: await RecordFolder.open<ImageRecord>(layout.records('images')),
      memories: await RecordFolder.open<MemoryRecord>(layout.records('memories')),
    });
    await state.layers.load();
    return state;
  }

  /** Gives a name for an unfinished file that no other has. What is still there in the end is removed. */
  async withWorkFile<T>(use: (path: string) => Promise<T>): Promise<T> {
    const path = join(this.layout.work, this.random.uuid());
    try {
      return await use(path);
    } finally {
      await rm(path, { force: true });
    }
  }

  /** Keeps a layer while it is read, whatever happens to its owner. */
  pin(layer: string): Disposable {
    const pin = { layer };
    this.#pins.add(pin);
    return disposable(() => this.#pins.delete(pin));
  }

  get pinned(): readonly string[] {
    return [...this.#pins].map((pin) => pin.layer);
  }

  /** True while something is copied that would be gone with these layers. */
  isCopied(roots: readonly string[]): boolean {
    const others = [...this.#recordRoots()].filter((layer) => !roots.includes(layer));
    const kept = reachableFrom(this.layers.graph, others);
    const leaving = reachableFrom(this.layers.graph, roots);
    return this.pinned.some((layer) => leaving.has(layer) && !kept.has(layer));
  }

  /** True while an image is to be made from it. */
  isAwaited(kind: 'volume' | 'snapshot', id: string): boolean {
    return this.images.all().some(({ state, order: { origin } }) => {
      const originId =
        origin.kind === 'volume' ? origin.volumeId : origin.kind === 'snapshot' && origin.snapshotId;
      return state === 'receiving' && origin.kind === kind && originId === id;
    });
  }

  /** Layers that something needs for itself. */
  liveRoots(): Set<string> {
    return new Set([...this.#recordRoots(), ...this.pinned]);
  }

  #recordRoots(): Set<string> {
    return new Set([
      ...this.volumes.all().flatMap((volume) => (volume.state === 'removing' ? [] : [volume.top])),
      ...this.snapshots
        .all()
        .flatMap((snapshot) => (snapshot.state === 'removing' ? [] : layersOf(snapshot))),
      ...this.images.all().flatMap(({ state, layer }) => (state === 'done' && layer ? [layer] : [])),
    ]);
  }

  /** Ends what is being removed: the layers that only it needed, then its record. Within `serial`. */
  async sweep(): Promise<void> {
    const volumes = this.volumes.all().filter((volume) => volume.state === 'removing');
    const snapshots = this.snapshots.all().filter((snapshot) => snapshot.state === 'removing');
    const images = this.images.all().filter((image) => image.state === 'removing');
    const dying = reachableFrom(this.layers.graph, [
      ...volumes.map((volume) => volume.top),
      ...snapshots.flatMap(layersOf),
      ...images.flatMap((image) => image.layer ?? []),
    ]);
    const live = reachableFrom(this.layers.graph, this.liveRoots());
    await this.layers.remove([...dying].filter((name) => !live.has(name)));
    for (const { id } of volumes) await this.volumes.delete(id);
    for (const { id } of snapshots) await this.snapshots.delete(id);
    for (const { id } of images) {
      await rm(this.layout.part(id), { force: true });
      await this.images.delete(id);
    }
  }

  /** Puts a finished file into the place of a layer. Within `serial`. */
  async placeLayer(path: string, name: string): Promise<void> {
    await placeDurably(path, this.layers.path(name));
    await this.layers.refresh(name);
  }

  /** Gives a layer another's name, whose file goes. Within `serial`. */
  async renameLayer(from: string, to: string): Promise<void> {
    await rename(this.layers.path(from), this.layers.path(to));
    await syncDirectory(this.layout.layers);
    await this.layers.refresh(from);
    await this.layers.refresh(to);
  }
}

export function layersOf({ layer, overlay }: SnapshotRecord): string[] {
  return overlay === undefined ? [layer] : [layer, overlay];
}
