import { link, rm } from 'node:fs/promises';
import type { Disposable } from '@sheaf/base';
import type { ImageOrder, ImageOrigin } from '@sheaf/ports';
import type { ImageRecord, VolumeRecord } from './disk-records.ts';
import type { DiskState } from './disk-state.ts';
import { Download, type DownloadProgress } from './download.ts';
import { Deadline, DownloadRoom } from './download-bounds.ts';
import { syncDirectory, syncFile } from './durable-files.ts';
import type { HttpSource } from './http-source.ts';
import type { ImageLimits } from './image-limits.ts';
import { verifyImage } from './image-verification.ts';
import { formatOf } from './layer-files.ts';
import { freeze } from './layer-freeze.ts';
import type { LayerMerge } from './layer-merge.ts';
import { PartFile } from './part-file.ts';
import { imageLayerName } from './recovery.ts';
import { conflict, notFound } from './refusals.ts';
import type { SpaceLedger } from './space-ledger.ts';

export interface ImageWorkParts {
  readonly disk: DiskState;
  readonly ledger: SpaceLedger;
  readonly merge: LayerMerge;
  readonly source: HttpSource;
  readonly limits: ImageLimits;
  readonly onPercent: (id: string, percent: number) => void;
  readonly onBytes: (id: string, bytes: number) => void;
  /** What was kept for a copy is not needed for it any more. */
  readonly onCopied: () => void;
}

type ExportOrigin = OriginOf<'volume'> | OriginOf<'snapshot'>;

interface PinnedOrigin {
  readonly from: string;
  readonly pin: Disposable;
}

type OriginOf<K extends ImageOrigin['kind']> = Extract<ImageOrigin, { kind: K }>;

/** What is done for one image until it can be used. Each step is written down when it is durable, so the next life goes on. */
export class ImageWork {
  readonly #parts: ImageWorkParts;
  readonly #disk: DiskState;

  constructor(parts: ImageWorkParts) {
    this.#parts = parts;
    this.#disk = parts.disk;
  }

  async run(id: string, signal: AbortSignal): Promise<void> {
    const { order, state } = this.#record(id);
    const { origin } = order;
    if (origin.kind === 'image') return this.#clone(order, origin);
    if (origin.kind === 'volume' || origin.kind === 'snapshot') return this.#export(order, origin, signal);
    if (origin.kind === 'download' && state === 'receiving') await this.#download(order, origin, signal);
    await this.#verify(order, signal);
  }

  /** Opens what has come so far; to be closed by the caller. */
  openPart(id: string): Promise<PartFile> {
    const { checkpointBytes } = this.#parts.limits;
    const onDurable = async (receivedBytes: number): Promise<void> => {
      await this.update(id, { receivedBytes });
    };
    const record = this.#record(id);
    return PartFile.open(this.#disk.layout.part(id), record.receivedBytes, { checkpointBytes, onDurable });
  }

  /** Room for what is announced of an upload, and has not come. */
  async holdUpload(id: string): Promise<Disposable> {
    const { order, receivedBytes } = this.#record(id);
    const total = order.origin.kind === 'upload' ? (order.origin.totalBytes ?? 0) : 0;
    const missing = Math.max(0, total - receivedBytes);
    return this.#parts.ledger.hold(`image ${order.title}`, { promisedBytes: total, takenBytes: missing });
  }

  async update(id: string, change: Partial<ImageRecord>): Promise<ImageRecord> {
    return this.#disk.images.put({ ...this.#record(id), ...change });
  }

  #record(id: string): ImageRecord {
    const record = this.#disk.images.get(id);
    if (!record || record.state === 'removing') throw notFound(`image ${id} is not there`);
    return record;
  }

  async #download(order: ImageOrder, origin: OriginOf<'download'>, signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#disk;
    const { source, limits } = this.#parts;
    const { pinned, totalBytes } = this.#record(order.id);
    const part = await this.openPart(order.id);
    const room = new DownloadRoom(this.#parts.ledger, `image ${order.title}`, part);
    const deadline = new Deadline(clock, limits.downloadMs, signal);
    try {
      await room.hold(totalBytes);
      const wanted = {
        ...origin,
        isVerified: order.sha512 !== undefined,
        maxBytes: order.maxBytes,
        pinned,
        totalBytes,
      };
      const progress: DownloadProgress = {
        onSource: async (fresh, total) => {
          const { totalBytes: _, ...record } = this.#record(order.id);
          await this.#disk.images.put({
            ...record,
            pinned: fresh,
            ...(total === undefined ? {} : { totalBytes: total }),
          });
          await room.hold(total);
        },
        onBytes: (bytes) => this.#parts.onBytes(order.id, bytes),
      };
      await new Download({ source, clock, logger, limits }, wanted, { part, progress }).run(deadline.signal);
    } finally {
      deadline.dispose();
      room.dispose();
      await part.close();
    }
    await this.update(order.id, { state: 'verifying' });
  }

  async #verify(order: ImageOrder, signal: AbortSignal): Promise<void> {
    const { layers, layout, serial } = this.#disk;
    await this.#disk.withWorkFile(async (unpackTo) => {
      const { path, format, virtualBytes } = await verifyImage(this.#disk, { order, unpackTo }, signal);
      const layer = imageLayerName(order.id, format);
      await serial.run(async () => {
        signal.throwIfAborted();
        await syncFile(path);
        await rm(layers.path(layer), { force: true });
        await link(path, layers.path(layer));
        await syncDirectory(layout.layers);
        await this.#finish(order.id, layer, { format, virtualBytes });
        await rm(layout.part(order.id), { force: true });
      });
    });
  }

  async #clone(order: ImageOrder, { imageId }: OriginOf<'image'>): Promise<void> {
    await this.#disk.serial.run(async () => {
      const original = this.#disk.images.get(imageId);
      if (original?.state !== 'done' || !original.layer || !original.image)
        throw conflict(`image ${imageId} is not there or not ready; wait until it is`);
      const { layers, layout } = this.#disk;
      const layer = imageLayerName(order.id, original.image.format);
      // Neither is ever written to, so they can be one file.
      await rm(layers.path(layer), { force: true });
      await link(layers.path(original.layer), layers.path(layer));
      await syncDirectory(layout.layers);
      await this.#finish(order.id, layer, original.image);
    });
  }

  async #export(order: ImageOrder, origin: ExportOrigin, signal: AbortSignal): Promise<void> {
    const { from, pin } = await this.#pinWhenIdle(order.id, origin, signal);
    try {
      await this.#disk.withWorkFile((fresh) => this.#copy({ order, from, fresh }, signal));
    } finally {
      pin.dispose();
      this.#parts.onCopied();
    }
  }

  async #copy(
    { order, from, fresh }: { order: ImageOrder; from: string; fresh: string },
    signal: AbortSignal,
  ): Promise<void> {
    const { layers, qemuImg, serial } = this.#disk;
    const { virtualBytes } = await layers.get(from);
    const source = { path: layers.path(from), format: formatOf(from) };
    const bytes = await qemuImg.measure(source, signal);
    const need = { promisedBytes: bytes, takenBytes: bytes };
    const room = await this.#parts.ledger.hold(`image ${order.title}`, need);
    try {
      const onPercent = (percent: number): void => this.#parts.onPercent(order.id, percent);
      await qemuImg.copy({ from: source, to: fresh, provisioning: 'thin', onPercent }, signal);
      await serial.run(async () => {
        signal.throwIfAborted();
        const layer = imageLayerName(order.id, 'qcow2');
        await this.#disk.placeLayer(fresh, layer);
        await this.#finish(order.id, layer, { format: 'qcow2', virtualBytes });
      });
    } finally {
      room.dispose();
    }
  }

  /** What is being merged has locks that a copy would run into. */
  async #pinWhenIdle(id: string, origin: ExportOrigin, signal: AbortSignal): Promise<PinnedOrigin> {
    const { merge } = this.#parts;
    for (;;) {
      signal.throwIfAborted();
      const pinned = await this.#disk.serial.run(async () => {
        const top = this.#topOf(origin);
        return merge.isBusy(top) ? undefined : this.#pinOrigin(id, { origin, top }, signal);
      });
      if (pinned) return pinned;
      await merge.currentEnded();
    }
  }

  #topOf(origin: ExportOrigin): string {
    if (origin.kind === 'snapshot') {
      const snapshot = this.#disk.snapshots.get(origin.snapshotId);
      if (snapshot?.state !== 'taken') throw notFound(`snapshot ${origin.snapshotId} is not there`);
      return snapshot.layer;
    }
    return this.#volume(origin.volumeId).top;
  }

  #volume(id: string): VolumeRecord {
    const volume = this.#disk.volumes.get(id);
    if (volume?.state !== 'made') throw notFound(`volume ${id} is not there`);
    return volume;
  }

  async #pinOrigin(
    id: string,
    { origin, top }: { origin: ExportOrigin; top: string },
    signal: AbortSignal,
  ): Promise<PinnedOrigin> {
    if (origin.kind === 'snapshot') return { from: top, pin: this.#disk.pin(top) };
    const frozen = `frozen-${id}.qcow2`;
    await freeze(this.#disk, { volume: this.#volume(origin.volumeId), frozen }, signal);
    return { from: frozen, pin: this.#disk.pin(frozen) };
  }

  async #finish(id: string, layer: string, image: NonNullable<ImageRecord['image']>): Promise<void> {
    await this.#disk.layers.refresh(layer);
    await this.update(id, { state: 'done', layer, image });
  }
}
