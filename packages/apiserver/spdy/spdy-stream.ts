import { BoundedQueue, type DuplexStream } from '@sheaf/base';
import { type Frame, resetStatuses } from './frames.ts';
import type { Headers } from './header-block.ts';

/** How a stream speaks to the session that it is in. */
export interface StreamLink {
  send(frame: Frame): Promise<void>;
  /** Both directions are over: nobody asks for it any more. */
  forget(streamId: number): void;
}

/** What may wait for a stream that is not read; then nothing more is read from the client, for any of its streams. */
const waitingBytes = 256 * 1024;
/** Streams take turns on the connection in parts of this size. */
const partBytes = 32 * 1024;

/** One stream of a session, which the client has opened. */
export class SpdyStream implements DuplexStream<Uint8Array> {
  readonly id: number;
  readonly headers: Headers;
  readonly #link: StreamLink;
  readonly #received = new BoundedQueue(waitingBytes);
  #isReceived = false;
  #isSent = false;

  constructor({ id, headers }: { readonly id: number; readonly headers: Headers }, link: StreamLink) {
    this.id = id;
    this.headers = headers;
    this.#link = link;
  }

  get readable(): AsyncIterable<Uint8Array> {
    return this.#received.items();
  }

  async write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; at += partBytes) {
      if (this.#isSent) throw new Error('the stream is over');
      await this.#sendData(bytes.subarray(at, at + partBytes), false);
    }
  }

  async end(): Promise<void> {
    if (this.#isSent) return;
    this.#isSent = true;
    await this.#sendData(new Uint8Array(), true);
    this.#forgetIfOver();
  }

  /** Breaks it off; the others of its session go on. */
  dispose(): void {
    this.#received.dispose();
    if (this.#isSent && this.#isReceived) return;
    this.breakOff();
  }

  breakOff(status: number = resetStatuses.cancelled): void {
    this.cut();
    this.#link.send({ kind: 'reset', streamId: this.id, status }).catch(() => undefined);
  }

  /** Nobody will read it. */
  ignore(): void {
    this.#received.dispose();
  }

  /** Resolves when more may come. */
  async receive(bytes: Uint8Array, isLast: boolean): Promise<void> {
    const room = this.#received.push(bytes);
    if (isLast) {
      this.#isReceived = true;
      this.#received.end();
      this.#forgetIfOver();
    }
    await room;
  }

  /** The client, or the session, is over; so is this. */
  cut(failure?: Error): void {
    this.#isSent = true;
    this.#isReceived = true;
    this.#received.end(failure);
    this.#link.forget(this.id);
  }

  async #sendData(bytes: Uint8Array, isLast: boolean): Promise<void> {
    await this.#link.send({ kind: 'data', streamId: this.id, bytes, isLast });
  }

  #forgetIfOver(): void {
    if (this.#isSent && this.#isReceived) this.#link.forget(this.id);
  }
}
