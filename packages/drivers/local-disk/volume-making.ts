import { type Disposable, toError } from '@sheaf/base';
import type { Progress, VolumeContent, VolumeOrder } from '@sheaf/ports';
import type { VolumeRecord } from './disk-records.ts';
import type { DiskState } from './disk-state.ts';
import { isFull } from './durable-files.ts';
import { formatOf } from './layer-files.ts';
import { checkUnused, freeze } from './layer-freeze.ts';
import type { LayerMerge } from './layer-merge.ts';
import { isFullFailure } from './qemu-img.ts';
import { conflict, invalid, notFound } from './refusals.ts';
import type { SpaceLedger } from './space-ledger.ts';

/** Guests with large sectors need whole ones. */
const granularity = 4096;
const metadataBytes = 1024 * 1024;

interface Source {
  readonly layer: string;
  readonly bytes: number;
  /** The volume whose state of now is to be frozen as `layer` first. */
  readonly volume?: VolumeRecord;
}

interface CopyJob {
  progress: Progress;
  readonly abort: AbortController;
  readonly ended: Promise<void>;
}

export interface VolumeMakingParts {
  readonly disk: DiskState;
  readonly ledger: SpaceLedger;
  readonly merge: LayerMerge;
  readonly onChange: (id: string) => void;
  /** What was kept for a copy is not needed for it any more. */
  readonly onCopied: () => void;
}

/** Makes volumes: at once where data are shared, in the background where they are copied. */
export class VolumeMaking {
  readonly #disk: DiskState;
  readonly #ledger: SpaceLedger;
  readonly #merge: LayerMerge;
  readonly #onChange: (id: string) => void;
  readonly #onCopied: () => void;
  readonly #jobs = new Map<string, CopyJob>();

  constructor({ disk, ledger, merge, onChange, onCopied }: VolumeMakingParts) {
    this.#disk = disk;
    this.#ledger = ledger;
    this.#merge = merge;
    this.#onChange = onChange;
    this.#onCopied = onCopied;
  }

  /** How far a copy is; a failure is told once. */
  progressOf(id: string): Progress | undefined {
    const job = this.#jobs.get(id);
    if (job && job.progress.state !== 'working') this.#jobs.delete(id);
    return job?.progress;
  }

  /** Within `serial`. */
  async make(order: VolumeOrder, signal: AbortSignal): Promise<Progress> {
    const record = recordOf(order);
    const source = await this.#source(order);
    await this.#checkSource(record, source, signal);
    const room = await this.#holdRoom(record, source);
    const isCopy = source !== undefined && record.provisioning === 'full';
    try {
      if (source?.volume) await freeze(this.#disk, { volume: source.volume, frozen: source.layer }, signal);
      if (!isCopy) await this.#makeAtOnce(record, source, signal);
    } catch (error) {
      room.dispose();
      throw error;
    }
    if (isCopy) return this.#beginCopy(record, source, room);
    room.dispose();
    return { state: 'done' };
  }

  /** Ends the copying of a volume that is not wanted any more. */
  async cancel(id: string): Promise<void> {
    const job = this.#jobs.get(id);
    job?.abort.abort(new Error('the volume is removed'));
    await job?.ended;
    this.#jobs.delete(id);
  }

  async dispose(): Promise<void> {
    for (const job of this.#jobs.values()) job.abort.abort(new Error('the process ends'));
    for (const job of this.#jobs.values()) await job.ended;
  }

  async #source({ id, content }: VolumeOrder): Promise<Source | undefined> {
    switch (content.kind) {
      case 'blank':
        return undefined;
      case 'image':
        return this.#imageSource(content);
      case 'snapshot':
        return this.#snapshotSource(content);
      case 'volume': {
        const volume = this.#disk.volumes.get(content.volumeId);
        if (volume?.state !== 'made') throw notFound(`volume ${content.volumeId} is not there`);
        const { virtualBytes } = await this.#disk.layers.get(volume.top);
        return { layer: `frozen-${id}.qcow2`, bytes: virtualBytes, volume };
      }
    }
  }

  #imageSource({ imageId }: Extract<VolumeContent, { kind: 'image' }>): Source {
    const record = this.#disk.images.get(imageId);
    if (!record || record.state === 'removing') throw notFound(`image ${imageId} is not there`);
    if (record.state !== 'done' || !record.layer || !record.image)
      throw conflict(`image ${record.order.title} is not ready; wait until it is`);
    return { layer: record.layer, bytes: record.image.virtualBytes };
  }

  #snapshotSource({ snapshotId }: Extract<VolumeContent, { kind: 'snapshot' }>): Source {
    const snapshot = this.#disk.snapshots.get(snapshotId);
    if (snapshot?.state !== 'taken') throw notFound(`snapshot ${snapshotId} is not there`);
    return { layer: snapshot.layer, bytes: snapshot.bytes };
  }

  async #checkSource(record: VolumeRecord, source: Source | undefined, signal: AbortSignal): Promise<void> {
    if (source && source.bytes > record.bytes)
      throw invalid(
        `volume ${record.title} of ${record.bytes} bytes is smaller than its content of ${source.bytes}; ask for more`,
      );
    if (source?.volume) await checkUnused(this.#disk, source.volume, signal);
    if (source && record.provisioning === 'full' && this.#merge.isBusy(source.layer))
      throw conflict(
        `the layers that volume ${record.title} is copied from are being merged; try again soon`,
      );
  }

  /** Of a volume that is cloned, what it has stays, and all of it may be written once more. */
  async #holdRoom(
    { title, bytes, provisioning }: VolumeRecord,
    source: Source | undefined,
  ): Promise<Disposable> {
    const frozenBytes = source?.volume ? await this.#disk.layers.allocated([source.volume.top]) : 0;
    return this.#ledger.hold(`volume ${title}`, {
      promisedBytes: bytes + frozenBytes,
      takenBytes: metadataBytes + (provisioning === 'full' ? bytes : 0),
    });
  }

  async #makeAtOnce(record: VolumeRecord, source: Source | undefined, signal: AbortSignal): Promise<void> {
    await this.#disk.withWorkFile(async (fresh) => {
      const backing = source && { name: source.layer, format: formatOf(source.layer) };
      await this.#disk.qemuImg.create(
        fresh,
        { bytes: record.bytes, provisioning: record.provisioning, ...(backing ? { backing } : {}) },
        signal,
      );
      await this.#place(record, fresh);
    });
  }

  /** From here on it is there, whatever happens. Within `serial`. */
  async #place(record: VolumeRecord, path: string): Promise<void> {
    await this.#disk.volumes.put(record);
    await this.#disk.placeLayer(path, record.top);
    await this.#disk.volumes.put({ ...record, state: 'made' });
    this.#onChange(record.id);
  }

  #beginCopy(record: VolumeRecord, source: Source, room: Disposable): Progress {
    const abort = new AbortController();
    const pin = this.#disk.pin(source.layer);
    const progress: Progress = { state: 'working', percent: 0 };
    const ended = this.#copy(record, source, abort.signal).then(
      () => this.#end(record.id, { state: 'done' }),
      (error: unknown) => this.#end(record.id, failureOf(error)),
    );
    const released = ended.finally(() => {
      pin.dispose();
      room.dispose();
      this.#onCopied();
    });
    this.#jobs.set(record.id, { progress, abort, ended: released });
    return progress;
  }

  async #copy(record: VolumeRecord, { layer, bytes }: Source, signal: AbortSignal): Promise<void> {
    const { layers, qemuImg, serial } = this.#disk;
    await this.#disk.withWorkFile(async (fresh) => {
      const from = { path: layers.path(layer), format: formatOf(layer) };
      const onPercent = (percent: number): void => this.#progress(record.id, percent);
      await qemuImg.copy({ from, to: fresh, provisioning: record.provisioning, onPercent }, signal);
      if (bytes < record.bytes) await qemuImg.resize(fresh, record, signal);
      await serial.run(async () => {
        signal.throwIfAborted();
        await this.#place(record, fresh);
      });
    });
  }

  #progress(id: string, percent: number): void {
    const job = this.#jobs.get(id);
    if (!job) return;
    job.progress = { state: 'working', percent };
    this.#onChange(id);
  }

  #end(id: string, progress: Progress): void {
    const job = this.#jobs.get(id);
    if (job) job.progress = progress;
    if (progress.state === 'failed') this.#disk.logger.warn('a volume cannot be copied', { id, ...progress });
    this.#onChange(id);
  }
}

function recordOf(order: VolumeOrder): VolumeRecord {
  const { id, title, provisioning } = order;
  const bytes = Math.ceil(order.bytes / granularity) * granularity;
  return { id, title, bytes, provisioning, top: `volume-${id}.qcow2`, state: 'making' };
}

function failureOf(error: unknown): Progress {
  const message =
    isFull(error) || isFullFailure(error)
      ? 'the disk is full; remove volumes, snapshots or images, or add storage'
      : toError(error).message;
  return { state: 'failed', message, nature: 'transient' };
}
