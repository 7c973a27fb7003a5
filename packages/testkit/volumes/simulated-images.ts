import { type Disposable, StatusError, toError } from '@sheaf/base';
import type { ImageObservation, ImageOrder, Images, Progress } from '@sheaf/ports';
import type { SimulatedChanges } from './simulated-changes.ts';
import { SimulatedFault, simulateDownload } from './simulated-download.ts';
import { simulatedQcow2, verifySimulated } from './simulated-image-format.ts';
import type { SimulatedLife } from './simulated-life.ts';
import {
  allCells,
  allocatedBytes,
  reachable,
  type SimulatedImage,
  type SimulatedLayer,
  type SimulatedMedium,
} from './simulated-medium.ts';
import { checkId, conflict, invalid, noRoom, notFound } from './simulated-refusals.ts';
import type { SimulatedSources } from './simulated-sources.ts';

interface Job {
  readonly abort: AbortController;
  readonly ended: Promise<void>;
  percent: number;
}

export interface SimulatedImagesParts {
  readonly life: SimulatedLife;
  readonly medium: SimulatedMedium;
  readonly sources: SimulatedSources;
  readonly changes: SimulatedChanges;
}

/** Images of a simulated medium. */
export class SimulatedImages implements Images {
  readonly #life: SimulatedLife;
  readonly #medium: SimulatedMedium;
  readonly #sources: SimulatedSources;
  readonly #changes: SimulatedChanges;
  readonly #jobs = new Map<string, Job>();
  readonly #senders = new Map<string, AbortController>();

  constructor({ life, medium, sources, changes }: SimulatedImagesParts) {
    this.#life = life;
    this.#medium = medium;
    this.#sources = sources;
    this.#changes = changes;
    for (const image of medium.images.values()) this.#beginIfDue(image);
  }

  async list(signal: AbortSignal): Promise<readonly ImageObservation[]> {
    await this.#enter('images-listed', signal);
    return [...this.#medium.images.values()].map((image) => this.#observe(image));
  }

  async find(id: string, signal: AbortSignal): Promise<ImageObservation | undefined> {
    await this.#enter('image-found', signal);
    const image = this.#medium.images.get(id);
    return image && this.#observe(image);
  }

  onChange(listener: (id: string) => void): Disposable {
    return this.#changes.listen(listener);
  }

  async request(order: ImageOrder, signal: AbortSignal): Promise<ImageObservation> {
    checkOrder(order);
    await this.#enter('image-recorded', signal);
    const image = this.#wanted(order);
    this.#beginIfDue(image);
    await this.#life.step('image-acknowledged');
    return this.#observe(image);
  }

  async receive(
    id: string,
    part: { readonly offset: number; readonly bytes: AsyncIterable<Uint8Array>; readonly isLast: boolean },
    signal: AbortSignal,
  ): Promise<ImageObservation> {
    await this.#enter('part-received', signal);
    const image = this.#receiver(id, part.offset);
    this.#checkRoom(image);
    const sender = new AbortController();
    this.#senders.set(id, sender);
    try {
      await this.#take(image, part.bytes, AbortSignal.any([signal, sender.signal, this.#life.signal]));
    } finally {
      this.#senders.delete(id);
    }
    if (part.isLast) image.state = 'verifying';
    this.#beginIfDue(image);
    this.#changes.announce(id);
    return this.#observe(image);
  }

  async read(
    id: string,
    signal: AbortSignal,
  ): Promise<{ readonly bytes: number; readonly content: AsyncIterable<Uint8Array> }> {
    await this.#enter('image-read', signal);
    const { state, content, order } = this.#get(id);
    if (state !== 'done' || !content) throw conflict(`image ${order.title} is not ready; wait until it is`);
    return { bytes: content.length, content: inOnePiece(content) };
  }

  async remove(id: string, signal: AbortSignal): Promise<void> {
    await this.#enter('image-removed', signal);
    const image = this.#medium.images.get(id);
    if (!image) return;
    this.#checkUnused(image);
    this.#senders.get(id)?.abort(conflict(`image ${id} is being removed`));
    const job = this.#jobs.get(id);
    job?.abort.abort(new Error('it is not wanted any more'));
    await job?.ended;
    this.#medium.images.delete(id);
    this.#changes.announce(id);
    await this.#life.step('removal-acknowledged');
  }

  async #enter(step: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    await this.#life.step(step);
  }

  #get(id: string): SimulatedImage {
    const image = this.#medium.images.get(id);
    if (!image) throw notFound(`image ${id} is not there`);
    return image;
  }

  #wanted(order: ImageOrder): SimulatedImage {
    const { images } = this.#medium;
    const existing = images.get(order.id);
    if (existing?.state === 'failed') restart(existing);
    if (existing) return existing;
    this.#checkOrigin(order);
    const image: SimulatedImage = { id: order.id, order, state: 'receiving', received: new Uint8Array() };
    if (order.origin.kind === 'upload') image.totalBytes = order.origin.totalBytes;
    images.set(order.id, image);
    return image;
  }

  #checkOrigin({ origin }: ImageOrder): void {
    const { images, volumes, snapshots } = this.#medium;
    if (origin.kind === 'image' && images.get(origin.imageId)?.state !== 'done')
      throw conflict(`image ${origin.imageId} is not there or not ready; wait until it is`);
    if (origin.kind === 'volume' && !volumes.has(origin.volumeId))
      throw notFound(`volume ${origin.volumeId} is not there`);
    if (origin.kind === 'snapshot' && !snapshots.has(origin.snapshotId))
      throw notFound(`snapshot ${origin.snapshotId} is not there`);
  }

  #receiver(id: string, offset: number): SimulatedImage {
    const image = this.#get(id);
    const { title, origin } = image.order;
    if (origin.kind !== 'upload') throw invalid(`image ${title} is no upload`);
    if (image.state !== 'receiving')
      throw conflict(`image ${title} takes no more bytes: it is ${image.state}`);
    if (this.#senders.has(id)) throw conflict(`image ${title} is being sent already`);
    if (offset !== image.received.length)
      throw conflict(`of image ${title} ${image.received.length} bytes have come; go on from there`);
    return image;
  }

  #checkRoom({ order, totalBytes, received }: SimulatedImage): void {
    const missing = (totalBytes ?? 0) - received.length;
    const { freeBytes } = this.#medium.space(1, 0);
    if (missing > freeBytes) throw noRoom(`image ${order.title}`, missing, freeBytes);
  }

  async #take(image: SimulatedImage, bytes: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void> {
    const ended = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(toError(signal.reason)), { once: true });
    });
    ended.catch(() => undefined);
    const iterator = bytes[Symbol.asyncIterator]();
    for (;;) {
      const { done, value } = await Promise.race([iterator.next(), ended]);
      if (done) return;
      await this.#life.step('bytes-received');
      this.#life.checkRoom();
      if (image.received.length + value.length > image.order.maxBytes)
        throw invalid(
          `it has more than the ${image.order.maxBytes} bytes that are allowed; start again with less`,
        );
      const before = percentReceived(image);
      image.received = Buffer.concat([image.received, this.#life.arrived(value)]);
      if (percentReceived(image) !== before) this.#changes.announce(image.id);
    }
  }

  #beginIfDue(image: SimulatedImage): void {
    const isWaiting = image.order.origin.kind === 'upload' && image.state === 'receiving';
    const isDue = image.state === 'receiving' || image.state === 'verifying';
    if (isWaiting || !isDue || this.#jobs.has(image.id)) return;
    const abort = new AbortController();
    const signal = AbortSignal.any([abort.signal, this.#life.signal]);
    const ended = this.#run(image, signal)
      .catch((error: unknown) => this.#fail(image, toError(error), signal))
      .finally(() => {
        this.#jobs.delete(image.id);
        if (!this.#life.isOver) this.#changes.announce(image.id);
      });
    this.#jobs.set(image.id, { abort, ended, percent: 0 });
  }

  async #run(image: SimulatedImage, signal: AbortSignal): Promise<void> {
    const { origin } = image.order;
    if (origin.kind === 'image') return this.#copyImage(image, origin.imageId, signal);
    if (origin.kind === 'volume' || origin.kind === 'snapshot') return this.#export(image, signal);
    if (origin.kind === 'download' && image.state === 'receiving') {
      const onBytes = (): void => this.#report(image);
      await simulateDownload({ life: this.#life, sources: this.#sources, image, onBytes }, signal);
      image.state = 'verifying';
    }
    await this.#life.work('image-verified', signal);
    const { format, virtualBytes, cells, content } = verifySimulated(image.order, image.received);
    checkSize(image.order, virtualBytes);
    this.#finish(image, { format, content, layer: this.#layer(image, virtualBytes, cells) });
  }

  async #copyImage(image: SimulatedImage, originalId: string, signal: AbortSignal): Promise<void> {
    const original = this.#get(originalId);
    const { format, content, layer } = original;
    if (!format || !content || !layer) throw conflict(`image ${originalId} is not ready`);
    await this.#life.work('image-cloned', signal);
    this.#finish(image, { format, content, layer: this.#layer(image, layer.bytes, layer.cells) });
  }

  async #export(image: SimulatedImage, signal: AbortSignal): Promise<void> {
    const source = this.#exported(image.order);
    const { bytes } = source;
    const cells = allCells(source);
    for (let copied = 0; copied < Math.min(4, cells.size); copied++)
      await this.#life.work('layer-copied', signal);
    await this.#life.step('image-exported');
    const content = simulatedQcow2({ cells, bytes });
    this.#finish(image, { format: 'qcow2', content, layer: this.#layer(image, bytes, cells) });
  }

  /** As it is now: what is written later is not in the copy. */
  #exported({ origin }: ImageOrder): SimulatedLayer {
    if (origin.kind === 'snapshot') {
      const snapshot = this.#medium.snapshots.get(origin.snapshotId);
      if (snapshot) return snapshot.layer;
    } else if (origin.kind === 'volume') {
      const volume = this.#medium.volumes.get(origin.volumeId);
      if (volume && volume.top.openers > 0)
        throw conflict(
          `volume ${volume.title} is open in a machine; stop the machine, or take a snapshot of it`,
        );
      if (volume) return volume.top;
    }
    throw notFound('what it is to be made from is not there');
  }

  #layer(image: SimulatedImage, bytes: number, cells: ReadonlyMap<number, number>): SimulatedLayer {
    const layer = this.#medium.layer(`image-${image.id}`, bytes);
    layer.cells = new Map(cells);
    return layer;
  }

  #finish(image: SimulatedImage, done: Pick<Required<SimulatedImage>, 'format' | 'content' | 'layer'>): void {
    Object.assign(image, done, { state: 'done' });
  }

  #fail(image: SimulatedImage, error: Error, signal: AbortSignal): void {
    if (signal.aborted || this.#life.isOver) return;
    const isFault = error instanceof SimulatedFault || StatusError.is(error, 'NotFound');
    const during = image.state === 'verifying' ? 'verifying' : 'receiving';
    image.failure = { message: error.message, nature: isFault ? 'fault' : 'transient', during };
    image.state = 'failed';
  }

  #report(image: SimulatedImage): void {
    const job = this.#jobs.get(image.id);
    if (!job || !image.totalBytes) return;
    job.percent = Math.min(99, Math.floor((image.received.length / image.totalBytes) * 100));
    this.#changes.announce(image.id);
  }

  #checkUnused({ order, layer }: SimulatedImage): void {
    const isUsing = (top: SimulatedLayer): boolean => layer !== undefined && reachable([top]).has(layer);
    const users = [...this.#medium.volumes.values()].filter(({ top }) => isUsing(top));
    const kept = [...this.#medium.snapshots.values()].filter((snapshot) => isUsing(snapshot.layer));
    const named = [...users.map(({ title }) => `volume ${title}`), ...kept.map(({ id }) => `snapshot ${id}`)];
    if (named.length > 0)
      throw conflict(`image ${order.title} is in use by ${named.join(', ')}; remove these first`);
  }

  #observe({ id, state, received, totalBytes, failure, layer, format }: SimulatedImage): ImageObservation {
    const seen = { id, receivedBytes: received.length, ...(totalBytes === undefined ? {} : { totalBytes }) };
    if (failure)
      return { ...seen, progress: { state: 'failed', message: failure.message, nature: failure.nature } };
    const working: Progress = { state: 'working', percent: this.#jobs.get(id)?.percent ?? 0 };
    if (state !== 'done' || !layer || !format) return { ...seen, progress: working };
    const image = { format, virtualBytes: layer.bytes, allocatedBytes: allocatedBytes(layer) };
    return { ...seen, progress: { state: 'done' }, image };
  }
}

/** 0 where nobody knows how many bytes will come. */
function percentReceived({ received, totalBytes = 0 }: SimulatedImage): number {
  return totalBytes > 0 ? Math.floor((received.length / totalBytes) * 100) : 0;
}

function restart(image: SimulatedImage): void {
  const isFault = image.failure?.nature === 'fault';
  image.state = isFault ? 'receiving' : (image.failure?.during ?? 'receiving');
  if (isFault) {
    image.received = new Uint8Array();
    image.pinned = undefined;
    image.totalBytes = undefined;
  }
  image.failure = undefined;
}

async function* inOnePiece(content: Uint8Array): AsyncGenerator<Uint8Array> {
  yield content;
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
  if (!urls.every((url) => /^https?:/.test(url)))
    throw invalid('only http and https can be downloaded; upload the file instead');
}

function checkSize({ maxVirtualBytes }: ImageOrder, virtualBytes: number): void {
  if (maxVirtualBytes !== undefined && virtualBytes > maxVirtualBytes)
    throw new SimulatedFault(
      `its disk has ${virtualBytes} bytes, more than the ${maxVirtualBytes} that were asked for`,
    );
}
