import { createReadStream } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { type Disposable, StatusError, toError } from '@sheaf/base';
import type { ImageObservation, ImageOrder, Images, Progress } from '@sheaf/ports';
import type { Announcer } from './announcer.ts';
import { checkId } from './directory-layout.ts';
import type { ImageRecord } from './disk-records.ts';
import type { DiskState } from './disk-state.ts';
import { isFull } from './durable-files.ts';
import { checkedUrl, SourceFault } from './http-source.ts';
import { ImageUpload, type UploadPart } from './image-upload.ts';
import type { ImageWork } from './image-work.ts';
import { chainOf, reachableFrom } from './layer-graph.ts';
import { isFullFailure } from './qemu-img.ts';
import { conflict, invalid, notFound } from './refusals.ts';

type Failure = NonNullable<ImageRecord['failure']>;

interface Job {
  readonly abort: AbortController;
  readonly ended: Promise<void>;
  percent: number;
  receivedBytes?: number;
}

/** Images as files in the same directory as the volumes that are based on them. */
export class LocalImages implements Images {
  readonly #disk: DiskState;
  readonly #work: ImageWork;
  readonly #upload: ImageUpload;
  readonly #announcer: Announcer;
  readonly #jobs = new Map<string, Job>();
  /** Failures that could not be written down; the next life finds them out again. */
  readonly #unwritten = new Map<string, Failure>();
  #isDisposed = false;

  constructor(parts: { disk: DiskState; work: ImageWork; announcer: Announcer }) {
    this.#disk = parts.disk;
    this.#work = parts.work;
    this.#announcer = parts.announcer;
    this.#upload = new ImageUpload(parts.disk, parts.work, (id) => this.#announcer.announce(id));
  }

  /** Goes on with what an earlier life was about. */
  resume(): void {
    for (const record of this.#disk.images.all()) this.#beginIfDue(record);
  }

  async list(signal: AbortSignal): Promise<readonly ImageObservation[]> {
    const found: ImageObservation[] = [];
    for (const { id } of this.#disk.images.all()) {
      const image = await this.find(id, signal);
      if (image) found.push(image);
    }
    return found;
  }

  async find(id: string, signal: AbortSignal): Promise<ImageObservation | undefined> {
    signal.throwIfAborted();
    const record = this.#disk.images.get(id);
    return record && record.state !== 'removing' ? this.#observe(record) : undefined;
  }

  onChange(listener: (id: string) => void): Disposable {
    return this.#announcer.listen(listener);
  }

  async request(order: ImageOrder, signal: AbortSignal): Promise<ImageObservation> {
    checkOrder(order);
    signal.throwIfAborted();
    const record = await this.#disk.serial.run(() => this.#wanted(order));
    this.#beginIfDue(record);
    return this.#observe(this.#disk.images.get(order.id) ?? record);
  }

  async receive(id: string, part: UploadPart, signal: AbortSignal): Promise<ImageObservation> {
    const record = await this.#upload.receive(id, part, signal);
    this.#beginIfDue(record);
    this.#announcer.announce(id);
    return this.#observe(this.#disk.images.get(id) ?? record);
  }

  /** Takes a file of this directory as all that has come of an upload, which is verified then. */
  async adopt(order: ImageOrder, path: string): Promise<void> {
    checkOrder(order);
    const record = await this.#disk.serial.run(async () => {
      const { size } = await stat(path);
      await this.#wanted(order);
      await rename(path, this.#disk.layout.part(order.id));
      return this.#work.update(order.id, { receivedBytes: size, state: 'verifying' });
    });
    this.#beginIfDue(record);
  }

  async read(
    id: string,
    signal: AbortSignal,
  ): Promise<{ readonly bytes: number; readonly content: AsyncIterable<Uint8Array> }> {
    const record = this.#disk.images.get(id);
    if (!record || record.state === 'removing') throw notFound(`image ${id} is not there`);
    if (record.state !== 'done' || !record.layer)
      throw conflict(`image ${record.order.title} is not ready; wait until it is`);
    const path = this.#disk.layers.path(record.layer);
    const { size } = await stat(path);
    return { bytes: size, content: createReadStream(path, { signal, highWaterMark: 256 * 1024 }) };
  }

  async remove(id: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const record = this.#disk.images.get(id);
    if (!record) return;
    this.#checkUnused(record);
    await this.#cancel(id);
    await this.#disk.serial.run(async () => {
      const current = this.#disk.images.get(id);
      if (!current) return;
      this.#checkUnused(current);
      await this.#disk.images.markRemoving(current);
      await this.#disk.sweep();
      this.#unwritten.delete(id);
      this.#disk.logger.info('image removed', { id, title: current.order.title });
    });
    this.#announcer.announce(id);
  }

  /** For progress of what is being done for an image. */
  reportPercent(id: string, percent: number): void {
    const job = this.#jobs.get(id);
    if (!job || job.percent === percent) return;
    job.percent = percent;
    this.#announcer.announce(id);
  }

  reportBytes(id: string, bytes: number): void {
    const job = this.#jobs.get(id);
    if (!job) return;
    job.receivedBytes = bytes;
    const total = this.#disk.images.get(id)?.totalBytes;
    if (total !== undefined) this.reportPercent(id, Math.min(99, Math.floor((bytes / total) * 100)));
  }

  async dispose(): Promise<void> {
    this.#isDisposed = true;
    for (const id of [...this.#jobs.keys()]) await this.#cancel(id);
    await this.#upload.dispose();
  }

  async #cancel(id: string): Promise<void> {
    const job = this.#jobs.get(id);
    job?.abort.abort(new Error('it is not wanted any more'));
    await job?.ended;
    await this.#upload.cancel(id);
  }

  async #wanted(order: ImageOrder): Promise<ImageRecord> {
    const { images } = this.#disk;
    const existing = images.get(order.id);
    if (existing?.state === 'removing') throw conflict(`image ${order.title} is being removed`);
    this.#unwritten.delete(order.id);
    if (existing && existing.state !== 'failed') return existing;
    if (existing) return this.#again(existing);
    this.#checkOrigin(order);
    this.#disk.logger.info('image requested', { id: order.id, title: order.title, kind: order.origin.kind });
    const { origin } = order;
    const totalBytes = origin.kind === 'upload' ? origin.totalBytes : undefined;
    const told = totalBytes === undefined ? {} : { totalBytes };
    return images.put({ id: order.id, order, state: 'receiving', receivedBytes: 0, ...told });
  }

  /** What failed is tried again: from what has come if that is right, from nothing otherwise. */
  async #again(record: ImageRecord): Promise<ImageRecord> {
    const { failure, pinned, totalBytes, ...rest } = record;
    if (failure?.nature === 'fault') {
      await rm(this.#disk.layout.part(record.id), { force: true });
      return this.#disk.images.put({ ...rest, state: 'receiving', receivedBytes: 0 });
    }
    return this.#disk.images.put({
      ...rest,
      state: failure?.during ?? 'receiving',
      ...(pinned ? { pinned } : {}),
      ...(totalBytes === undefined ? {} : { totalBytes }),
    });
  }

  #checkOrigin({ origin }: ImageOrder): void {
    const { images, volumes, snapshots } = this.#disk;
    if (origin.kind === 'image' && images.get(origin.imageId)?.state !== 'done')
      throw conflict(`image ${origin.imageId} is not there or not ready; wait until it is`);
    if (origin.kind === 'volume' && volumes.get(origin.volumeId)?.state !== 'made')
      throw notFound(`volume ${origin.volumeId} is not there`);
    if (origin.kind === 'snapshot' && snapshots.get(origin.snapshotId)?.state !== 'taken')
      throw notFound(`snapshot ${origin.snapshotId} is not there`);
  }

  /** An upload waits for its bytes; all else goes on by itself. */
  #beginIfDue({ id, state, order }: ImageRecord): void {
    const isWaiting = order.origin.kind === 'upload' && state === 'receiving';
    if (isWaiting || this.#isDisposed || this.#jobs.has(id)) return;
    if (state !== 'receiving' && state !== 'verifying') return;
    const abort = new AbortController();
    const ended = this.#work
      .run(id, abort.signal)
      .catch((error: unknown) => this.#fail(id, error, abort.signal))
      .finally(() => {
        this.#jobs.delete(id);
        this.#announcer.announce(id);
      });
    this.#jobs.set(id, { abort, ended, percent: 0 });
  }

  async #fail(id: string, thrown: unknown, signal: AbortSignal): Promise<void> {
    const record = this.#disk.images.get(id);
    if (signal.aborted || !record) return;
    const during = record.state === 'verifying' ? 'verifying' : 'receiving';
    const failure = { ...failureOf(thrown), during } as const;
    this.#disk.logger.warn('an image cannot be used', { id, title: record.order.title, ...failure });
    await this.#work.update(id, { state: 'failed', failure }).catch((error: unknown) => {
      this.#disk.logger.error('a record cannot be written', { id, error: toError(error).message });
      this.#unwritten.set(id, failure);
    });
  }

  #checkUnused({ order, layer }: ImageRecord): void {
    if (layer === undefined) return;
    const { volumes, snapshots, layers, pinned } = this.#disk;
    const users = volumes.all().filter(({ top }) => chainOf(layers.graph, top).includes(layer));
    const kept = snapshots.all().filter((snapshot) => chainOf(layers.graph, snapshot.layer).includes(layer));
    const isCopied = reachableFrom(layers.graph, pinned).has(layer);
    if (users.length + kept.length === 0 && !isCopied) return;
    const named = [
      ...users.map(({ title }) => `volume ${title}`),
      ...kept.map(({ id }) => `snapshot ${id}`),
      ...(isCopied ? ['a copy that is being made'] : []),
    ];
    const more = named.length > 3 ? ` and ${named.length - 3} more` : '';
    throw conflict(
      `image ${order.title} is in use by ${named.slice(0, 3).join(', ')}${more}; remove these first`,
    );
  }

  #seen(record: ImageRecord): Omit<ImageObservation, 'progress'> {
    const { id, totalBytes } = record;
    const live = this.#upload.receivedBytes(id) ?? this.#jobs.get(id)?.receivedBytes;
    const receivedBytes = live ?? record.receivedBytes;
    return { id, receivedBytes, ...(totalBytes === undefined ? {} : { totalBytes }) };
  }

  async #observe(record: ImageRecord): Promise<ImageObservation> {
    const { id, state, layer, image } = record;
    const failure = this.#unwritten.get(id) ?? record.failure;
    const job = this.#jobs.get(id);
    const seen = this.#seen(record);
    if (failure) return { ...seen, progress: failed(failure) };
    if (state !== 'done' || !layer || !image)
      return { ...seen, progress: { state: 'working', percent: job?.percent ?? 0 } };
    const allocatedBytes = await this.#disk.layers.allocated([layer]);
    return { ...seen, progress: { state: 'done' }, image: { ...image, allocatedBytes } };
  }
}

function failed({ message, nature }: Failure): Progress {
  return { state: 'failed', message, nature };
}

function failureOf(thrown: unknown): { message: string; nature: 'transient' | 'fault' } {
  const error = toError(thrown);
  if (isFull(error) || isFullFailure(error))
    return {
      message: 'the disk is full; remove volumes, snapshots or images, or add storage, and try again',
      nature: 'transient',
    };
  const isFault = error instanceof SourceFault || StatusError.is(error, 'NotFound');
  return { message: error.message, nature: isFault ? 'fault' : 'transient' };
}

function checkOrder({ id, maxBytes, sha512, origin }: ImageOrder): void {
  checkId(id);
  if (!Number.isSafeInteger(maxBytes) || maxBytes <= 0) throw invalid(`${maxBytes} is no limit in bytes`);
  if (sha512 !== undefined && !/^[0-9a-fA-F]{128}$/.test(sha512))
    throw invalid(`"${sha512}" is no SHA-512: it has 128 hexadecimal digits`);
  if (origin.kind === 'upload') checkTotal(origin.totalBytes ?? 0, maxBytes);
  if (origin.kind === 'download') checkAddresses(origin.urls);
}

function checkTotal(totalBytes: number, maxBytes: number): void {
  if (totalBytes > maxBytes)
    throw invalid(`it has ${totalBytes} bytes, more than the ${maxBytes} that are allowed`);
}

function checkAddresses(urls: readonly string[]): void {
  if (urls.length === 0) throw invalid('there is no address to download from; give one');
  for (const url of urls) checkAddress(url);
}

function checkAddress(url: string): void {
  try {
    checkedUrl(url);
  } catch (error) {
    throw invalid(toError(error).message);
  }
}
