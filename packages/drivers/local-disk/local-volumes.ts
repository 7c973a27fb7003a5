import { type Disposable, type Logger, toError } from '@sheaf/base';
import type {
  DiskFile,
  Progress,
  SnapshotObservation,
  UnownedFile,
  VolumeCapabilities,
  VolumeObservation,
  VolumeOrder,
  VolumeSpace,
  Volumes,
} from '@sheaf/ports';
import type { Announcer } from './announcer.ts';
import { checkId } from './directory-layout.ts';
import type { VolumeRecord } from './disk-records.ts';
import type { DiskState } from './disk-state.ts';
import { checkUnused } from './layer-freeze.ts';
import { chainOf, childrenOf } from './layer-graph.ts';
import type { LayerMerge } from './layer-merge.ts';
import { conflict, invalid, notFound } from './refusals.ts';
import type { SpaceLedger } from './space-ledger.ts';
import { findUnowned, type KnownIds } from './unowned-files.ts';
import type { VolumeMaking } from './volume-making.ts';
import type { SnapshotOrder, VolumeSnapshots } from './volume-snapshots.ts';

const granularity = 4096;
const metadataBytes = 1024 * 1024;

export interface LocalVolumesParts {
  readonly disk: DiskState;
  readonly ledger: SpaceLedger;
  readonly making: VolumeMaking;
  readonly snapshots: VolumeSnapshots;
  readonly merge: LayerMerge;
  readonly announcer: Announcer;
  readonly capabilities: VolumeCapabilities;
}

/** Volumes as qcow2 files in one directory. */
export class LocalVolumes implements Volumes {
  readonly #disk: DiskState;
  readonly #parts: LocalVolumesParts;
  readonly #logger: Logger;

  constructor(parts: LocalVolumesParts) {
    this.#parts = parts;
    this.#disk = parts.disk;
    this.#logger = parts.disk.logger;
  }

  capabilities(): VolumeCapabilities {
    return this.#parts.capabilities;
  }

  async space(signal: AbortSignal): Promise<VolumeSpace> {
    signal.throwIfAborted();
    return this.#parts.ledger.space();
  }

  async list(signal: AbortSignal): Promise<readonly VolumeObservation[]> {
    const found: VolumeObservation[] = [];
    for (const { id, title } of this.#disk.volumes.all()) {
      try {
        const volume = await this.find(id, signal);
        if (volume) found.push(volume);
      } catch (error) {
        signal.throwIfAborted();
        // One that is damaged does not hide the others; whoever asks for it is told.
        this.#logger.error('a volume cannot be read', { id, title, error: toError(error).message });
      }
    }
    return found;
  }

  async find(id: string, signal: AbortSignal): Promise<VolumeObservation | undefined> {
    signal.throwIfAborted();
    if (this.#parts.snapshots.isPrepared(id))
      await this.#disk.serial.run(() => this.#parts.snapshots.settle(id));
    const volume = this.#disk.volumes.get(id);
    return volume?.state === 'made' ? this.#observe(volume) : undefined;
  }

  async mayWrite(path: string, signal: AbortSignal): Promise<boolean> {
    signal.throwIfAborted();
    const name = this.#disk.layers.nameOf(path);
    if (name === undefined) return true;
    return await this.#disk.serial.run(() => this.#parts.snapshots.confirmWriter(name, signal));
  }

  onChange(listener: (id: string) => void): Disposable {
    return this.#parts.announcer.listen(listener);
  }

  async create(order: VolumeOrder, signal: AbortSignal): Promise<Progress> {
    checkOrder(order);
    signal.throwIfAborted();
    return this.#disk.serial.run(async () => {
      const state = this.#disk.volumes.get(order.id)?.state;
      if (state === 'removing') throw conflict(`volume ${order.title} is being removed`);
      const progress = this.#parts.making.progressOf(order.id);
      if (state === 'made') return { state: 'done' };
      if (progress) return progress;
      if (order.content.kind === 'volume') await this.#checkIdle(order.content.volumeId);
      const begun = await this.#parts.making.make(order, signal);
      this.#logger.info('volume made', { id: order.id, title: order.title, state: begun.state });
      return begun;
    });
  }

  async expand(
    id: string,
    { bytes, isAttached }: { bytes: number; isAttached: boolean },
    signal: AbortSignal,
  ): Promise<void> {
    checkBytes(bytes);
    await this.#disk.serial.run(async () => {
      const volume = await this.#checkIdle(id);
      if (this.#parts.snapshots.isPrepared(id))
        throw conflict(`a snapshot of volume ${volume.title} is being taken; expand it afterwards`);
      await this.#expand(volume, { bytes: Math.ceil(bytes / granularity) * granularity, isAttached }, signal);
    });
    this.#parts.announcer.announce(id);
  }

  async remove(id: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    await this.#parts.making.cancel(id);
    await this.#disk.serial.run(async () => {
      await this.#parts.snapshots.settle(id);
      const volume = this.#disk.volumes.get(id);
      if (!volume) return;
      await this.#checkRemovable(volume, signal);
      await this.#parts.snapshots.dropPrepared(id, signal);
      await this.#disk.volumes.markRemoving(volume);
      await this.#disk.sweep();
      this.#logger.info('volume removed', { id, title: volume.title });
    });
    this.#parts.announcer.announce(id);
    this.#parts.merge.begin();
  }

  async snapshot(order: SnapshotOrder, signal: AbortSignal) {
    checkId(order.id);
    signal.throwIfAborted();
    const result = await this.#disk.serial.run(async () => {
      if (this.#disk.snapshots.get(order.id)?.state !== 'taken') await this.#checkIdle(order.volumeId);
      return this.#parts.snapshots.take(order, signal);
    });
    this.#parts.announcer.announce(order.volumeId);
    return result;
  }

  async listSnapshots(signal: AbortSignal): Promise<readonly SnapshotObservation[]> {
    signal.throwIfAborted();
    return this.#parts.snapshots.list();
  }

  async findPrepared(id: string, signal: AbortSignal): Promise<DiskFile | undefined> {
    signal.throwIfAborted();
    return this.#disk.serial.run(() => this.#parts.snapshots.findPrepared(id));
  }

  async removeSnapshot(id: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const volumeId = this.#disk.snapshots.get(id)?.volumeId;
    await this.#disk.serial.run(() => this.#parts.snapshots.remove(id, signal));
    if (volumeId !== undefined) this.#parts.announcer.announce(volumeId);
    this.#parts.merge.begin();
  }

  async findUnowned(known: KnownIds, signal: AbortSignal): Promise<readonly UnownedFile[]> {
    signal.throwIfAborted();
    return this.#disk.serial.run(() => findUnowned(this.#disk, known));
  }

  async #expand(
    volume: VolumeRecord,
    { bytes, isAttached }: { bytes: number; isAttached: boolean },
    signal: AbortSignal,
  ): Promise<void> {
    if (bytes < volume.bytes)
      throw invalid(
        `volume ${volume.title} has ${volume.bytes} bytes and cannot shrink to ${bytes}; make a new one`,
      );
    const more = bytes - volume.bytes;
    const isFull = volume.provisioning === 'full';
    const room = await this.#parts.ledger.hold(`expanding volume ${volume.title}`, {
      promisedBytes: more,
      takenBytes: metadataBytes + (isFull ? more : 0),
    });
    try {
      if (more > 0) await this.#disk.volumes.put({ ...volume, bytes });
      if (!isAttached) await this.#resize(volume, bytes, signal);
    } finally {
      room.dispose();
    }
  }

  async #resize(volume: VolumeRecord, bytes: number, signal: AbortSignal): Promise<void> {
    const { layers, qemuImg } = this.#disk;
    const { virtualBytes, backing } = await layers.get(volume.top);
    if (virtualBytes >= bytes) return;
    await checkUnused(this.#disk, volume, signal);
    const provisioning = backing === undefined ? volume.provisioning : 'thin';
    const path = layers.path(volume.top);
    const isInterrupted = volume.bytes > virtualBytes;
    if (isInterrupted && provisioning === 'full')
      await qemuImg.forgetGrowth(path, volume.bytes - virtualBytes, signal);
    await qemuImg.resize(path, { bytes, provisioning }, signal);
  }

  async #checkRemovable(volume: VolumeRecord, signal: AbortSignal): Promise<void> {
    // What is being merged is open in our own program; what is lost is open nowhere.
    const isMerging = this.#parts.merge.isBusy(volume.top);
    if (!isMerging && (await this.#disk.layers.has(volume.top)))
      await checkUnused(this.#disk, volume, signal);
    if (this.#disk.isCopied([volume.top]) || this.#disk.isAwaited('volume', volume.id))
      throw conflict(`volume ${volume.title} is being copied; wait until that is done, or remove the copy`);
  }

  /** The volume, with no doubt about where it writes and nothing that changes it. Within `serial`. */
  async #checkIdle(id: string): Promise<VolumeRecord> {
    await this.#parts.snapshots.settle(id);
    const volume = this.#disk.volumes.get(id);
    if (volume?.state !== 'made') throw notFound(`volume ${id} is not there; make it first`);
    if (this.#parts.merge.isBusy(volume.top))
      throw conflict(`the layers of volume ${volume.title} are being merged; try again soon`);
    return volume;
  }

  async #observe(volume: VolumeRecord): Promise<VolumeObservation | undefined> {
    const { layers, images } = this.#disk;
    const state = await layers.find(volume.top);
    // Removed meanwhile.
    if (!state && !this.#disk.volumes.get(volume.id)) return undefined;
    const chain = chainOf(layers.graph, volume.top);
    const image = images.all().find(({ layer }) => layer !== undefined && chain.includes(layer));
    return {
      id: volume.id,
      title: volume.title,
      bytes: (state ?? (await layers.get(volume.top))).virtualBytes,
      allocatedBytes: await layers.allocated(this.#ownLayers(volume, chain)),
      file: { path: layers.path(volume.top), format: 'qcow2' },
      isBusy: this.#parts.merge.isBusy(volume.top),
      ...(image ? { basedOn: image.id } : {}),
      snapshotIds: this.#parts.snapshots.idsOf(volume.id),
    };
  }

  /** Those that go with the volume. */
  #ownLayers(volume: VolumeRecord, chain: readonly string[]): string[] {
    const children = childrenOf(this.#disk.layers.graph);
    const roots = this.#disk.liveRoots();
    const firstShared = chain.findIndex(
      (name) => name !== volume.top && (roots.has(name) || (children.get(name)?.length ?? 0) > 1),
    );
    return firstShared < 0 ? [...chain] : chain.slice(0, firstShared);
  }
}

function checkOrder(order: VolumeOrder): void {
  checkId(order.id);
  checkBytes(order.bytes);
}

function checkBytes(bytes: number): void {
  if (!Number.isSafeInteger(bytes) || bytes <= 0) throw invalid(`${bytes} is no size of a volume`);
}
