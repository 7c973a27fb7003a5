import { badRequest, type Clock, type Disposable, disposable, StatusError, toError } from '@sheaf/base';
import type { ImageObservation, ImageOrder, Images } from '@sheaf/ports';
import type { UploadFacts } from './plan.ts';

export interface UploadedPart {
  /** Where it begins in the whole file. */
  readonly offset: number;
  /** Of the whole file. */
  readonly totalBytes: number;
  /** It ends where the whole file ends; fewer bytes are a broken upload. */
  readonly isRest: boolean;
  /** What has come before counts for nothing, also when all of it has. */
  readonly isReplacing?: boolean;
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** After a part, the next one is expected for so long. */
const pauseMs = 10_000;
const nothingActive: UploadFacts = { isActive: false };

interface Upload {
  readonly totalBytes: number;
  /** Absent while bytes come in. */
  readonly endedMs?: number;
  readonly interruption?: string;
}

/** Where uploads come in: one sender an image, each knows how many bytes there will be, and what breaks off is remembered. */
export class UploadDesk {
  readonly #images: Images;
  readonly #clock: Clock;
  readonly #uploads = new Map<string, Upload>();
  readonly #listeners = new Set<(id: string) => void>();

  constructor({ images, clock }: { readonly images: Images; readonly clock: Clock }) {
    this.#images = images;
    this.#clock = clock;
  }

  /** Told when an upload begins or ends. */
  onChange(listener: (id: string) => void): Disposable {
    this.#listeners.add(listener);
    return disposable(() => this.#listeners.delete(listener));
  }

  factsOf(id: string): UploadFacts {
    const upload = this.#uploads.get(id);
    if (!upload) return nothingActive;
    const { totalBytes, endedMs, interruption } = upload;
    const isExpected = endedMs !== undefined && this.#clock.monotonic() - endedMs < pauseMs;
    const isActive = endedMs === undefined || (interruption === undefined && isExpected);
    return { isActive, totalBytes, interruption };
  }

  /** Nothing of it is remembered any more. */
  forget(id: string): void {
    this.#uploads.delete(id);
  }

  /**
   * Takes a part, as fast as the driver does. A part from 0 begins anew. When all bytes are there, they are verified.
   * @throws StatusError when it does not fit to what has come, and what breaks the part off
   */
  async receive(order: ImageOrder, part: UploadedPart, signal: AbortSignal): Promise<ImageObservation> {
    const { id, title } = order;
    const known = this.#uploads.get(id);
    if (known && known.endedMs === undefined)
      throw conflict(`image ${title} is being uploaded already; wait until that has ended, or break it off`);
    const { totalBytes } = part;
    this.#put(id, { totalBytes });
    try {
      const observation = await this.#take(order, part, signal);
      this.#put(id, { totalBytes, endedMs: this.#clock.monotonic() });
      return observation;
    } catch (error) {
      const interruption = toError(error).message;
      this.#put(id, { totalBytes, endedMs: this.#clock.monotonic(), interruption });
      throw error;
    }
  }

  #put(id: string, upload: Upload): void {
    this.#uploads.set(id, upload);
    for (const listener of this.#listeners) listener(id);
  }

  async #take(order: ImageOrder, part: UploadedPart, signal: AbortSignal): Promise<ImageObservation> {
    const { id } = order;
    const { offset, totalBytes } = part;
    await this.#prepare(order, part, signal);
    const bytes = bounded(part);
    const taken = await this.#images.receive(id, { offset, bytes, isLast: false }, signal);
    if (taken.receivedBytes < totalBytes) {
      if (!part.isRest) return taken;
      throw badRequest(
        `the upload ended after ${taken.receivedBytes} of ${totalBytes} bytes; go on with offset=${taken.receivedBytes}`,
      );
    }
    // From here on the sender is not needed any more.
    const last = { offset: totalBytes, bytes: noBytes(), isLast: true };
    return this.#images.receive(id, last, new AbortController().signal);
  }

  /** The driver takes bytes from `offset` now, as far as that can be had. */
  async #prepare(order: ImageOrder, part: UploadedPart, signal: AbortSignal): Promise<void> {
    const found = await this.#images.find(order.id, signal);
    if (found && !part.isReplacing) checkPlace(order, part, found);
    if (found?.progress.state === 'done') throw hasContent(order);
    const isStale = part.offset === 0 && found && found.receivedBytes > 0;
    if (found && (part.isReplacing || isStale)) await this.#images.remove(order.id, signal);
    await this.#images.request(order, signal);
  }
}

function hasContent({ title }: ImageOrder): StatusError {
  return conflict(`image ${title} has its content; for another one, delete the image and make it again`);
}

/** @throws StatusError 409 when the image takes no such part */
function checkPlace(
  { title }: ImageOrder,
  { offset, totalBytes }: UploadedPart,
  { progress, receivedBytes }: ImageObservation,
): void {
  if (progress.state === 'done') return;
  if (progress.state === 'failed') {
    if (offset > 0) throw conflict(`image ${title} was no good; upload it again from its beginning`);
  } else if (offset === 0 && receivedBytes === totalBytes)
    throw conflict(
      `all ${totalBytes} bytes of image ${title} have come; if it does not go on by itself, send an empty part with offset=${totalBytes}`,
    );
}

/** @throws StatusError 400 when more comes than was announced */
async function* bounded({ bytes, offset, totalBytes }: UploadedPart): AsyncGenerator<Uint8Array> {
  let end = offset;
  for await (const chunk of bytes) {
    end += chunk.length;
    if (end > totalBytes)
      throw badRequest(
        `more comes than the ${totalBytes} bytes of size=${totalBytes}; give the size of the whole file`,
      );
    yield chunk;
  }
}

export async function* noBytes(): AsyncGenerator<Uint8Array> {
  yield* [];
}

function conflict(message: string): StatusError {
  return new StatusError({ reason: 'Conflict', message });
}
