import { BoundedQueue, type ByteStream } from '@sheaf/base';
import { FrameReader } from './frame-reader.ts';
import { FrameWriter } from './frame-writer.ts';
import type { Frame } from './frames.ts';

/** Both ends of a connection in memory that holds little. */
export function connectionPair(limitBytes = 64 * 1024): readonly [ByteStream, ByteStream] {
  const there = new BoundedQueue(limitBytes);
  const back = new BoundedQueue(limitBytes);
  const end = (from: BoundedQueue, to: BoundedQueue): ByteStream => ({
    readable: from.items(),
    write: (bytes) => to.push(bytes),
    end: () => Promise.resolve(to.end()),
    dispose() {
      from.dispose();
      to.end(new Error('the other side has broken off'));
    },
  });
  return [end(back, there), end(there, back)];
}

/** The client's side of a session: says what a test wants, and keeps what it hears. */
export class SpdyClient {
  readonly heard: Frame[] = [];
  readonly over: Promise<void>;
  readonly #connection: ByteStream;
  readonly #writer = new FrameWriter();
  #wake: () => void = () => undefined;

  constructor(connection: ByteStream) {
    this.#connection = connection;
    this.over = this.#listen();
  }

  async say(...frames: readonly Frame[]): Promise<void> {
    for (const frame of frames) await this.#connection.write(this.#writer.write(frame));
  }

  async open(streamId: number, headers: Readonly<Record<string, string>>): Promise<void> {
    await this.say({ kind: 'open', streamId, headers: new Map(Object.entries(headers)), isLast: false });
  }

  async send(streamId: number, text: string, isLast = false): Promise<void> {
    await this.say({ kind: 'data', streamId, bytes: Buffer.from(text), isLast });
  }

  /** What has come on a stream, with `.` for its end. */
  textOf(streamId: number): string {
    return this.heard
      .flatMap((frame) =>
        frame.kind === 'data' && frame.streamId === streamId
          ? [`${Buffer.from(frame.bytes).toString()}${frame.isLast ? '.' : ''}`]
          : [],
      )
      .join('');
  }

  /** Waits until what has been heard is so. */
  async until(claim: (client: SpdyClient) => boolean): Promise<void> {
    while (!claim(this))
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
  }

  leave(): void {
    this.#connection.dispose();
  }

  async #listen(): Promise<void> {
    const reader = new FrameReader();
    try {
      for await (const chunk of this.#connection.readable) {
        for (const frame of reader.read(chunk))
          this.heard.push(frame.kind === 'data' ? { ...frame, bytes: Buffer.from(frame.bytes) } : frame);
        this.#wake();
      }
    } catch {
      // It is over, too.
    }
  }
}
