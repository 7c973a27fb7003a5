import { type Disposable, toError } from '@sheaf/base';
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
import { containerImagePrefix } from '@sheaf/ports';
import type { SimulatedChanges } from './simulated-changes.ts';
import type { SimulatedLife } from './simulated-life.ts';
import {
  allCells,
  allocatedBytes,
  reachable,
  type SimulatedLayer,
  type SimulatedMedium,
  type SimulatedVolume,
} from './simulated-medium.ts';
import { checkId, conflict, invalid, noRoom, notFound } from './simulated-refusals.ts';
import { SimulatedSnapshots } from './simulated-snapshots.ts';

const granularity = 4096;

interface CopyJob {
  progress: Progress;
  readonly bytes: number;
  readonly abort: AbortController;
}

export interface SimulatedVolumesParts {
  readonly life: SimulatedLife;
  readonly medium: SimulatedMedium;
  readonly changes: SimulatedChanges;
  readonly overCommitment: number;
}

type SnapshotOrder = Parameters<Volumes['snapshot']>[0];

/** Volumes of a simulated medium. What changes the medium is one step: a crash is before or after it. */
export class SimulatedVolumes implements Volumes {
  readonly #life: SimulatedLife;
  readonly #medium: SimulatedMedium;
  readonly #changes: SimulatedChanges;
  readonly #overCommitment: number;
  readonly #snapshots: SimulatedSnapshots;
  readonly #jobs = new Map<string, CopyJob>();

  constructor({ life, medium, changes, overCommitment }: SimulatedVolumesParts) {
    this.#life = life;
    this.#medium = medium;
    this.#changes = changes;
    this.#overCommitment = overCommitment;
    this.#snapshots = new SimulatedSnapshots(medium, life.clock, (what, bytes) =>
      this.#checkRoom(what, bytes),
    );
  }

  capabilities(): VolumeCapabilities {
    const can = { isAvailable: true, reason: 'simulated' };
    return { volumes: can, snapshot: can, clone: can, expand: can, onlineExpand: can };
  }

  async space(signal: AbortSignal): Promise<VolumeSpace> {
    await this.#enter('space-counted', signal);
    return this.#space();
  }

  async list(signal: AbortSignal): Promise<readonly VolumeObservation[]> {
    await this.#enter('volumes-listed', signal);
    return [...this.#medium.volumes.values()].map((volume) => this.#observe(volume));
  }

  async find(id: string, signal: AbortSignal): Promise<VolumeObservation | undefined> {
    await this.#enter('volume-found', signal);
    const volume = this.#medium.volumes.get(id);
    return volume && this.#observe(volume);
  }

  async mayWrite(path: string, signal: AbortSignal): Promise<boolean> {
    await this.#enter('writer-confirmed', signal);
    return this.#snapshots.confirmWriter(path);
  }

  onChange(listener: (id: string) => void): Disposable {
    return this.#changes.listen(listener);
  }

  async create(order: VolumeOrder, signal: AbortSignal): Promise<Progress> {
    checkId(order.id);
    checkBytes(order.bytes);
    await this.#enter('volume-made', signal);
    const progress = this.#jobs.get(order.id)?.progress;
    if (progress && progress.state !== 'working') this.#jobs.delete(order.id);
    if (this.#medium.volumes.has(order.id)) return { state: 'done' };
    return progress ?? this.#make(order);
  }

  async expand(
    id: string,
    { bytes: wanted, isAttached }: { bytes: number; isAttached: boolean },
    signal: AbortSignal,
  ): Promise<void> {
    checkBytes(wanted);
    await this.#enter('volume-expanded', signal);
    const volume = this.#snapshots.settled(id);
    const bytes = Math.ceil(wanted / granularity) * granularity;
    if (this.#snapshots.isPrepared(id)) throw conflict(`a snapshot of volume ${volume.title} is being taken`);
    if (bytes < volume.bytes)
      throw invalid(`volume ${volume.title} has ${volume.bytes} bytes and cannot shrink`);
    if (!isAttached && volume.top.bytes < bytes) this.#snapshots.checkUnused(volume);
    this.#checkRoom(`expanding volume ${volume.title}`, bytes - volume.bytes);
    volume.bytes = bytes;
    if (!isAttached) volume.top.bytes = bytes;
    await this.#leave(id);
  }

  async remove(id: string, signal: AbortSignal): Promise<void> {
    await this.#enter('volume-removed', signal);
    this.#jobs.get(id)?.abort.abort(new Error('the volume is removed'));
    this.#jobs.delete(id);
    if (this.#medium.volumes.has(id)) {
      this.#snapshots.checkUnused(this.#snapshots.settled(id));
      this.#snapshots.dropPrepared(id);
      this.#medium.volumes.delete(id);
    }
    await this.#leave(id);
  }

  async snapshot(order: SnapshotOrder, signal: AbortSignal) {
    checkId(order.id);
    await this.#enter('snapshot-taken', signal);
    const result = this.#snapshots.take(order);
    await this.#leave(order.volumeId);
    return result;
  }

  async listSnapshots(signal: AbortSignal): Promise<readonly SnapshotObservation[]> {
    await this.#enter('snapshots-listed', signal);
    return this.#snapshots.list();
  }

  async findPrepared(id: string, signal: AbortSignal): Promise<DiskFile | undefined> {
    await this.#enter('prepared-found', signal);
    return this.#snapshots.findPrepared(id);
  }

  async removeSnapshot(id: string, signal: AbortSignal): Promise<void> {
    await this.#enter('snapshot-removed', signal);
    const volumeId = this.#snapshots.remove(id);
    if (volumeId !== undefined) await this.#leave(volumeId);
  }

  async findUnowned(
    known: {
      readonly volumeIds: ReadonlySet<string>;
      readonly snapshotIds: ReadonlySet<string>;
      readonly imageIds: ReadonlySet<string>;
    },
    signal: AbortSignal,
  ): Promise<readonly UnownedFile[]> {
    await this.#enter('unowned-found', signal);
    const { volumes, snapshots, images } = this.#medium;
    const needed = reachable([
      ...[...volumes.values()].flatMap(({ id, top }) => (known.volumeIds.has(id) ? [top] : [])),
      ...[...snapshots.values()].flatMap(({ id, layer, overlay }) =>
        known.snapshotIds.has(id) ? [layer, ...(overlay ? [overlay] : [])] : [],
      ),
      ...[...images.values()].flatMap(({ id, layer }) =>
        layer && (known.imageIds.has(id) || id.startsWith(containerImagePrefix)) ? [layer] : [],
      ),
    ]);
    return [...this.#medium.layers()]
      .filter((layer) => !needed.has(layer))
      .map((layer) => ({ path: layer.path, allocatedBytes: allocatedBytes(layer) }));
  }

  async #enter(step: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    await this.#life.step(step);
  }

  /** It is done; whether anybody hears of it is another matter. */
  async #leave(id: string): Promise<void> {
    await this.#life.step('change-acknowledged');
    this.#changes.announce(id);
  }

  async #make(order: VolumeOrder): Promise<Progress> {
    const bytes = Math.ceil(order.bytes / granularity) * granularity;
    const source = this.#source(order);
    if (source && source.bytes > bytes)
      throw invalid(`volume ${order.title} is smaller than its content of ${source.bytes}; ask for more`);
    const frozenBytes = order.content.kind === 'volume' && source ? allocatedBytes(source) : 0;
    this.#checkRoom(`volume ${order.title}`, bytes + frozenBytes);
    if (order.provisioning === 'full') this.#checkFree(`volume ${order.title}`, bytes);
    if (source && order.provisioning === 'full') return this.#beginCopy(order, { bytes, source });
    const backing =
      order.content.kind === 'volume' ? this.#snapshots.freeze(order.content.volumeId, order.id) : source;
    const isFull = order.provisioning === 'full';
    this.#place(
      order,
      this.#medium.layer(`volume-${order.id}`, bytes, { isFull, ...(backing ? { backing } : {}) }),
    );
    await this.#leave(order.id);
    return { state: 'done' };
  }

  #source({ content }: VolumeOrder): SimulatedLayer | undefined {
    switch (content.kind) {
      case 'blank':
        return undefined;
      case 'image': {
        const image = this.#medium.images.get(content.imageId);
        if (!image) throw notFound(`image ${content.imageId} is not there`);
        if (!image.layer) throw conflict(`image ${image.order.title} is not ready; wait until it is`);
        return image.layer;
      }
      case 'snapshot': {
        const snapshot = this.#medium.snapshots.get(content.snapshotId);
        if (!snapshot || snapshot.overlay) throw notFound(`snapshot ${content.snapshotId} is not there`);
        return snapshot.layer;
      }
      case 'volume': {
        const volume = this.#snapshots.settled(content.volumeId);
        this.#snapshots.checkUnused(volume);
        return volume.top;
      }
    }
  }

  #beginCopy(order: VolumeOrder, { bytes, source }: { bytes: number; source: SimulatedLayer }): Progress {
    const abort = new AbortController();
    const signal = AbortSignal.any([abort.signal, this.#life.signal]);
    const job: CopyJob = { progress: { state: 'working', percent: 0 }, bytes, abort };
    this.#jobs.set(order.id, job);
    const cells = allCells(source);
    void this.#copy({ order, bytes, cells }, job, signal).catch((error: unknown) => {
      if (signal.aborted) return;
      job.progress = { state: 'failed', message: toError(error).message, nature: 'transient' };
      this.#changes.announce(order.id);
    });
    return job.progress;
  }

  async #copy(
    { order, bytes, cells }: { order: VolumeOrder; bytes: number; cells: Map<number, number> },
    job: CopyJob,
    signal: AbortSignal,
  ): Promise<void> {
    for (const percent of [25, 50, 75]) {
      await this.#life.work('layer-copied', signal);
      job.progress = { state: 'working', percent };
      this.#changes.announce(order.id);
    }
    await this.#life.step('volume-made');
    const layer = this.#medium.layer(`volume-${order.id}`, bytes, { isFull: true });
    layer.cells = cells;
    this.#place(order, layer);
    job.progress = { state: 'done' };
    await this.#leave(order.id);
  }

  #place({ id, title, provisioning }: VolumeOrder, top: SimulatedLayer): void {
    this.#medium.volumes.set(id, { id, title, provisioning, bytes: top.bytes, top });
  }

  #space(): VolumeSpace {
    let held = 0;
    for (const { progress, bytes } of this.#jobs.values()) if (progress.state === 'working') held += bytes;
    return this.#medium.space(this.#overCommitment, held);
  }

  #checkRoom(what: string, bytes: number): void {
    const { promisableBytes, promisedBytes } = this.#space();
    if (bytes > promisableBytes - promisedBytes) throw noRoom(what, bytes, promisableBytes - promisedBytes);
  }

  #checkFree(what: string, bytes: number): void {
    const { freeBytes } = this.#space();
    if (bytes > freeBytes) throw noRoom(what, bytes, freeBytes);
  }

  #observe(found: SimulatedVolume): VolumeObservation {
    const volume = this.#snapshots.settled(found.id);
    const chain = reachable([volume.top]);
    const image = [...this.#medium.images.values()].find(({ layer }) => layer && chain.has(layer));
    return {
      id: volume.id,
      title: volume.title,
      bytes: volume.top.bytes,
      allocatedBytes: allocatedBytes(volume.top),
      file: { path: volume.top.path, format: 'qcow2' },
      isBusy: false,
      ...(image ? { basedOn: image.id } : {}),
      snapshotIds: this.#snapshots.idsOf(volume.id),
    };
  }
}

function checkBytes(bytes: number): void {
  if (!Number.isSafeInteger(bytes) || bytes <= 0) throw invalid(`${bytes} is no size of a volume`);
}
