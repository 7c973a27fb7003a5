import { BoundedQueue, type Disposable, type FrameCodec, type WebSocketStream } from '@sheaf/base';

/** A part of one of several streams in a WebSocket. */
export interface ChannelMessage {
  readonly channel: number;
  readonly bytes: Uint8Array;
}

/** The number of the stream goes before its bytes: as a byte, or as a digit before base64. */
export function channelFrames(isText: boolean): FrameCodec<ChannelMessage> {
  return isText ? textFrames : byteFrames;
}

/** What names no stream is nothing to anybody. */
const nowhere = -1;
const digitZero = 0x30;

const byteFrames: FrameCodec<ChannelMessage> = {
  encode: ({ channel, bytes }) => Buffer.concat([Buffer.of(channel), bytes]),
  decode: (data) => ({ channel: data[0] ?? nowhere, bytes: data.subarray(1) }),
};

const textFrames: FrameCodec<ChannelMessage> = {
  encode: ({ channel, bytes }) =>
    `${channel}${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64')}`,
  decode: (data) => ({
    channel: (data[0] ?? nowhere) - digitZero,
    bytes: Buffer.from(Buffer.from(data.subarray(1)).toString('latin1'), 'base64'),
  }),
};

/** What may wait for one who reads slowly; then nothing more is read from the client. */
const waitingBytes = 256 * 1024;
/** Says in version 5 that a stream, whose number follows, is at its end. */
const closeChannel = 255;

/** Gives what a client sends to those who read the streams that it names; others are thrown away. */
export class ChannelReader implements Disposable {
  readonly #queues: ReadonlyMap<number, BoundedQueue>;

  /** Of these streams. Each is read, or let go of. */
  constructor(channels: readonly number[]) {
    this.#queues = new Map(channels.map((channel) => [channel, new BoundedQueue(waitingBytes)]));
  }

  of(channel: number): AsyncIterable<Uint8Array> {
    return this.#queues.get(channel)?.items() ?? none();
  }

  /** Nobody wants what still comes. */
  dispose(): void {
    for (const queue of this.#queues.values()) queue.dispose();
  }

  /** Until the client is gone. Never throws. */
  async read(socket: WebSocketStream<ChannelMessage>): Promise<void> {
    try {
      for await (const { channel, bytes } of socket.readable) {
        if (channel === closeChannel) this.#queues.get(bytes[0] ?? nowhere)?.end();
        else await this.#queues.get(channel)?.push(bytes);
      }
      for (const queue of this.#queues.values()) queue.end();
    } catch {
      for (const queue of this.#queues.values()) queue.end(new Error('the client has broken off'));
    }
  }
}

async function* none(): AsyncGenerator<Uint8Array> {
  // Nothing comes on a stream that there is not.
}
