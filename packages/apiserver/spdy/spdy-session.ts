import { type ByteStream, type Clock, type Disposable, toError } from '@sheaf/base';
import { FrameReader } from './frame-reader.ts';
import { FrameWriter } from './frame-writer.ts';
import { type Frame, resetStatuses } from './frames.ts';
import { SpdyStream } from './spdy-stream.ts';

export interface SpdySessionOptions {
  readonly clock: Clock;
  /** A client has opened a stream; false: it is refused. */
  readonly onStream: (stream: SpdyStream) => boolean;
}

/** Streams that are open at once. */
const mostStreams = 1000;
const pingMs = 10_000;
/** A client that has not been heard of for so long is gone. */
const silenceMs = 60_000;

/**
 * The server's side of a SPDY/3.1 session as Kubernetes' clients speak it: no windows (a connection that is not read is what slows
 * a sender), no streams of the server's own. Owns its transport.
 */
export class SpdySession implements Disposable {
  /** Resolves when the session is over, however that came. */
  readonly closed: Promise<void>;
  readonly #transport: ByteStream;
  readonly #options: SpdySessionOptions;
  readonly #writer = new FrameWriter();
  readonly #streams = new Map<number, SpdyStream>();
  readonly #life = new AbortController();
  #lastStreamId = 0;
  #pingId = 0;
  #heardAt: number;
  #isHeldUp = false;
  #beat: Disposable;

  constructor(transport: ByteStream, options: SpdySessionOptions) {
    this.#transport = transport;
    this.#options = options;
    this.#heardAt = options.clock.monotonic();
    this.#beat = options.clock.schedule(pingMs, () => this.#ping());
    this.closed = this.#run();
  }

  /** Aborted when the session is over. */
  get signal(): AbortSignal {
    return this.#life.signal;
  }

  /** Says that nothing more comes, after everything that was sent; the client ends the connection. */
  async end(): Promise<void> {
    await this.#send({ kind: 'go-away' }).catch(() => undefined);
    await this.#transport.end?.().catch(() => undefined);
  }

  dispose(): void {
    if (this.#life.signal.aborted) return;
    this.#life.abort(new Error('the session is over'));
    this.#beat.dispose();
    for (const stream of [...this.#streams.values()]) stream.cut(new Error('the connection broke off'));
    this.#transport.dispose();
  }

  async #run(): Promise<void> {
    const reader = new FrameReader();
    try {
      for await (const chunk of this.#transport.readable) {
        this.#heardAt = this.#options.clock.monotonic();
        for (const frame of reader.read(chunk)) await this.#take(frame);
      }
      for (const stream of [...this.#streams.values()]) stream.cut();
    } catch (error) {
      for (const stream of [...this.#streams.values()]) stream.cut(toError(error));
    } finally {
      this.dispose();
    }
  }

  async #take(frame: Frame): Promise<void> {
    switch (frame.kind) {
      case 'open':
        return await this.#open(frame);
      case 'data':
        return await this.#receive(frame);
      case 'reset':
        return this.#streams.get(frame.streamId)?.cut(new Error('the client has broken it off'));
      case 'ping':
        // Those with even numbers are answers to ours.
        if (frame.id % 2 === 1) await this.#send(frame);
        return;
      // What the client has opened goes on after it.
      case 'go-away':
      case 'reply':
    }
  }

  async #open(frame: Extract<Frame, { kind: 'open' }>): Promise<void> {
    const { streamId: id, headers, isLast } = frame;
    const isRight = id % 2 === 1 && id > this.#lastStreamId;
    if (!isRight)
      return await this.#send({ kind: 'reset', streamId: id, status: resetStatuses.protocolError });
    this.#lastStreamId = id;
    const stream = new SpdyStream(
      { id, headers },
      { send: (sent) => this.#send(sent), forget: (over) => this.#streams.delete(over) },
    );
    if (this.#streams.size >= mostStreams) return stream.breakOff(resetStatuses.refused);
    this.#streams.set(id, stream);
    // The reply goes before whatever is sent on it.
    const replied = this.#send({ kind: 'reply', streamId: id, headers: new Map(), isLast: false });
    if (!this.#options.onStream(stream)) stream.breakOff(resetStatuses.refused);
    else if (isLast) await stream.receive(new Uint8Array(), true);
    await replied;
  }

  async #receive({ streamId, bytes, isLast }: Extract<Frame, { kind: 'data' }>): Promise<void> {
    this.#isHeldUp = true;
    await this.#streams.get(streamId)?.receive(bytes, isLast);
    this.#isHeldUp = false;
    this.#heardAt = this.#options.clock.monotonic();
  }

  async #send(frame: Frame): Promise<void> {
    await this.#transport.write(this.#writer.write(frame));
  }

  #ping(): void {
    const { clock } = this.#options;
    if (this.#life.signal.aborted) return;
    // While it is not read by us, it cannot be heard.
    if (!this.#isHeldUp && clock.monotonic() - this.#heardAt >= silenceMs) return this.dispose();
    this.#pingId += 2;
    this.#send({ kind: 'ping', id: this.#pingId % 0x7fffffff }).catch(() => this.dispose());
    this.#beat = clock.schedule(pingMs, () => this.#ping());
  }
}
