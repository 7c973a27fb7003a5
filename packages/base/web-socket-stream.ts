import type { DuplexStream } from './duplex-stream.ts';
import { ItemQueue } from './item-queue.ts';

/** What is needed of an open WebSocket; the shape of that of the package `ws`. */
export interface WebSocketLike {
  readonly bufferedAmount: number;
  send(data: Uint8Array | string, sent: (error?: Error | null) => void): void;
  close(code?: number, reason?: string): void;
  terminate(): void;
  pause(): void;
  resume(): void;
  on(event: 'message', listener: (data: Uint8Array, isBinary: boolean) => void): unknown;
  on(event: 'close', listener: (code: number, reason: Uint8Array) => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
}

/** How items travel as frames: bytes in binary frames, text in text frames. */
export interface FrameCodec<T> {
  encode(item: T): Uint8Array | string;
  decode(data: Uint8Array, isBinary: boolean): T;
}

const textDecoder = new TextDecoder();

/** Bytes as they are. What comes as text counts as its UTF-8. */
export const binaryFrames: FrameCodec<Uint8Array> = {
  encode: (bytes) => bytes,
  decode: (data) => data,
};

/** Bytes as text in base64, for clients that can only send text. */
export const base64Frames: FrameCodec<Uint8Array> = {
  encode: (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64'),
  decode: (data, isBinary) => (isBinary ? data : Buffer.from(textDecoder.decode(data), 'base64')),
};

export const textFrames: FrameCodec<string> = {
  encode: (text) => text,
  decode: (data) => textDecoder.decode(data),
};

/** Close codes of RFC 6455. */
export const closeCodes = { normal: 1000, goingAway: 1001, failed: 1011 } as const;

/** Bytes that may wait for a slow reader before writers wait. */
const highWaterBytes = 256 * 1024;
/** A close frame holds no more. */
const reasonLimitBytes = 123;

/**
 * An open WebSocket as a stream. WebSockets have no half close: the end of one direction is the end of both, after everything
 * that was sent before it.
 */
export class WebSocketStream<T> implements DuplexStream<T> {
  readonly #socket: WebSocketLike;
  readonly #codec: FrameCodec<T>;
  readonly #queue: ItemQueue<T>;
  /** Resolves when the connection is closed, however that came. */
  readonly closed: Promise<void>;
  #isOver = false;

  constructor(socket: WebSocketLike, codec: FrameCodec<T>) {
    this.#socket = socket;
    this.#codec = codec;
    this.#queue = new ItemQueue((isWanted) => (isWanted ? socket.resume() : socket.pause()));
    let failure: Error | undefined;
    socket.on('message', (data, isBinary) => this.#queue.push(codec.decode(data, isBinary)));
    socket.on('error', (error) => {
      failure = error;
    });
    this.closed = new Promise((resolve) => {
      socket.on('close', (code, reason) => {
        this.#isOver = true;
        this.#queue.end(failure ?? failureOf(code, reason));
        resolve();
      });
    });
  }

  get readable(): AsyncIterable<T> {
    return this.#queue.items();
  }

  write(item: T): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#isOver) return reject(new Error('the WebSocket is closed'));
      this.#socket.send(this.#codec.encode(item), (error) => (error ? reject(error) : resolve()));
      if (this.#socket.bufferedAmount <= highWaterBytes) resolve();
    });
  }

  async end(): Promise<void> {
    this.#close(closeCodes.normal, '');
    await this.closed;
  }

  /** Tells the other side why it ends. */
  fail(code: number, reason: string): void {
    this.#close(code, reason);
  }

  dispose(): void {
    if (!this.#isOver) this.#socket.terminate();
  }

  #close(code: number, reason: string): void {
    this.#socket.close(code, shortened(reason));
    // The answer to the close frame is behind what has not been read; whatever that is, nobody wants it any more.
    this.#socket.resume();
  }
}

/** What the other side says when it goes without a fault is no failure: 1005 is a close frame without a code. */
function failureOf(code: number, reason: Uint8Array): Error | undefined {
  if (code === closeCodes.normal || code === closeCodes.goingAway || code === 1005) return undefined;
  const text = textDecoder.decode(reason);
  return new Error(
    code === 1006
      ? 'the WebSocket broke off'
      : `the WebSocket was closed with code ${code}${text && `: ${text}`}`,
  );
}

/** At a border of characters. */
function shortened(reason: string): string {
  let text = reason;
  while (Buffer.byteLength(text) > reasonLimitBytes) text = text.slice(0, -1);
  return text;
}
