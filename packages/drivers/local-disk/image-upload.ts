import { toError } from '@sheaf/base';
import type { ImageRecord } from './disk-records.ts';
import type { DiskState } from './disk-state.ts';
import { isFull } from './durable-files.ts';
import type { ImageWork } from './image-work.ts';
import type { PartFile } from './part-file.ts';
import { conflict, diskFull, invalid, notFound } from './refusals.ts';

export interface UploadPart {
  readonly offset: number;
  readonly bytes: AsyncIterable<Uint8Array>;
  readonly isLast: boolean;
}

interface Transfer {
  readonly abort: AbortController;
  readonly ended: Promise<ImageRecord>;
  part?: PartFile;
}

/** Takes uploads, one part after the other. What has come stays, also when the sender or this process goes away. */
export class ImageUpload {
  readonly #disk: DiskState;
  readonly #work: ImageWork;
  readonly #onPercent: (id: string) => void;
  readonly #transfers = new Map<string, Transfer>();

  /** `onPercent`: one more per cent has come of an upload whose length is known. */
  constructor(disk: DiskState, work: ImageWork, onPercent: (id: string) => void) {
    this.#disk = disk;
    this.#work = work;
    this.#onPercent = onPercent;
  }

  /** Of an upload that is coming in now. */
  receivedBytes(id: string): number | undefined {
    return this.#transfers.get(id)?.part?.bytes;
  }

  async receive(id: string, upload: UploadPart, signal: AbortSignal): Promise<ImageRecord> {
    signal.throwIfAborted();
    this.#check(id, upload);
    const abort = new AbortController();
    const transfer: Transfer = {
      abort,
      ended: Promise.resolve().then(() => this.#take(id, upload, AbortSignal.any([signal, abort.signal]))),
    };
    this.#transfers.set(id, transfer);
    try {
      return await transfer.ended;
    } finally {
      this.#transfers.delete(id);
    }
  }

  async cancel(id: string): Promise<void> {
    const transfer = this.#transfers.get(id);
    transfer?.abort.abort(conflict(`image ${id} is being removed`));
    await transfer?.ended.catch(() => undefined);
  }

  async dispose(): Promise<void> {
    for (const id of [...this.#transfers.keys()]) await this.cancel(id);
  }

  #check(id: string, { offset }: UploadPart): void {
    const record = this.#disk.images.get(id);
    if (!record) throw notFound(`image ${id} is not there; ask for it first`);
    const { title, origin } = record.order;
    if (origin.kind !== 'upload') throw invalid(`image ${title} is no upload`);
    if (record.state !== 'receiving')
      throw conflict(`image ${title} takes no more bytes: it is ${record.state}`);
    if (this.#transfers.has(id))
      throw conflict(`image ${title} is being sent already; wait, or go on from what has come`);
    if (offset !== record.receivedBytes)
      throw conflict(
        `of image ${title} ${record.receivedBytes} bytes have come; go on from there, not from ${offset}`,
      );
  }

  async #take(id: string, { bytes, isLast }: UploadPart, signal: AbortSignal): Promise<ImageRecord> {
    const room = await this.#work.holdUpload(id);
    const part = await this.#work.openPart(id).catch((error: unknown) => {
      room.dispose();
      throw error;
    });
    const transfer = this.#transfers.get(id);
    if (transfer) transfer.part = part;
    try {
      await this.#append(id, { part, bytes }, signal);
    } finally {
      room.dispose();
      await part.close();
    }
    return this.#work.update(id, { state: isLast ? 'verifying' : 'receiving' });
  }

  /** What has come is durable at its end, however it ends. */
  async #append(
    id: string,
    { part, bytes }: { part: PartFile; bytes: AsyncIterable<Uint8Array> },
    signal: AbortSignal,
  ): Promise<void> {
    try {
      try {
        for await (const chunk of untilAborted(bytes, signal)) await this.#appendChunk(id, part, chunk);
      } finally {
        await part.checkpoint();
      }
    } catch (error) {
      if (!isFull(error)) throw error;
      await part.forget();
      throw diskFull(error);
    }
  }

  async #appendChunk(id: string, part: PartFile, chunk: Uint8Array): Promise<void> {
    this.#checkRoom(id, part.bytes + chunk.length);
    const before = this.#percent(id, part.bytes);
    await part.append(chunk);
    if (this.#percent(id, part.bytes) !== before) this.#onPercent(id);
  }

  /** 0 where nobody knows how many will come. */
  #percent(id: string, bytes: number): number {
    const total = this.#disk.images.get(id)?.totalBytes ?? 0;
    return total > 0 ? Math.floor((bytes / total) * 100) : 0;
  }

  #checkRoom(id: string, bytes: number): void {
    const record = this.#disk.images.get(id);
    if (record && bytes <= record.order.maxBytes) return;
    throw invalid(
      `it has more than the ${record?.order.maxBytes} bytes that are allowed; start again with less`,
    );
  }
}

/** Ends waiting for a sender that sends nothing when nobody waits for it any more. */
async function* untilAborted(
  bytes: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const iterator = bytes[Symbol.asyncIterator]();
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(toError(signal.reason)), { once: true });
  });
  aborted.catch(() => undefined);
  for (;;) {
    signal.throwIfAborted();
    const { done, value } = await Promise.race([iterator.next(), aborted]);
    if (done) return;
    yield value;
  }
}
