import { controlBit, type Frame, frameTypes, headBytes, lastFlag, streamIdBits, version } from './frames.ts';
import { HeaderDecoder } from './header-block.ts';
import { SpdyError } from './spdy-error.ts';

/** What is not data is gathered until it is whole; so it has a limit. */
const mostControlBytes = 64 * 1024;

interface DataHead {
  readonly streamId: number;
  readonly isLast: boolean;
  left: number;
}

/** Takes a session's bytes apart, however they were cut on their way. Data is given on as it comes. */
export class FrameReader {
  readonly #headers = new HeaderDecoder();
  #rest: Buffer = Buffer.alloc(0);
  #data: DataHead | undefined;

  /** @throws SpdyError; then nothing more is read */
  *read(chunk: Uint8Array): Generator<Frame> {
    this.#rest = this.#rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([this.#rest, chunk]);
    for (;;) {
      const isOn = this.#data ? yield* this.#takeData(this.#data) : yield* this.#takeHead();
      if (!isOn) return;
    }
  }

  /** @returns false where more has to come first */
  *#takeData(data: DataHead): Generator<Frame, boolean> {
    const bytes = this.#rest.subarray(0, data.left);
    if (bytes.length === 0 && data.left > 0) return false;
    this.#rest = this.#rest.subarray(bytes.length);
    data.left -= bytes.length;
    const isWhole = data.left === 0;
    if (isWhole) this.#data = undefined;
    yield { kind: 'data', streamId: data.streamId, bytes, isLast: isWhole && data.isLast };
    return true;
  }

  *#takeHead(): Generator<Frame, boolean> {
    if (this.#rest.length < headBytes) return false;
    const first = this.#rest.readUInt32BE(0);
    const flags = this.#rest[4] ?? 0;
    const length = this.#rest.readUIntBE(5, 3);
    if (first < controlBit) {
      if (first === 0) throw new SpdyError('there is data of no stream');
      this.#rest = this.#rest.subarray(headBytes);
      this.#data = { streamId: first, isLast: (flags & lastFlag) !== 0, left: length };
      return true;
    }
    const spoken = (first - controlBit) >>> 16;
    if (spoken !== version) throw new SpdyError(`SPDY/${spoken} is not spoken here, SPDY/3.1 is`);
    if (length > mostControlBytes) throw new SpdyError(`a frame of ${length} bytes is too long`);
    if (this.#rest.length < headBytes + length) return false;
    const body = this.#rest.subarray(headBytes, headBytes + length);
    this.#rest = this.#rest.subarray(headBytes + length);
    const frame = this.#control({ type: first & 0xffff, flags }, body);
    if (frame) yield frame;
    return true;
  }

  /** `undefined` for what nothing follows from: settings, and windows, which nobody who speaks to Kubernetes keeps to. */
  #control({ type, flags }: { type: number; flags: number }, body: Buffer): Frame | undefined {
    const isLast = (flags & lastFlag) !== 0;
    switch (type) {
      case frameTypes.open:
        return {
          kind: 'open',
          streamId: streamIdOf(body),
          headers: this.#headers.decode(body.subarray(10)),
          isLast,
        };
      case frameTypes.reply:
      // Further headers of a stream say nothing here, but those after them are compressed with them.
      case frameTypes.headers:
        return {
          kind: 'reply',
          streamId: streamIdOf(body),
          headers: this.#headers.decode(body.subarray(4)),
          isLast,
        };
      case frameTypes.reset:
        return { kind: 'reset', streamId: streamIdOf(body), status: numberAt(body, 4) };
      case frameTypes.ping:
        return { kind: 'ping', id: numberAt(body, 0) };
      case frameTypes.goAway:
        return { kind: 'go-away' };
      default:
        return undefined;
    }
  }
}

function streamIdOf(body: Buffer): number {
  const id = numberAt(body, 0) & streamIdBits;
  if (id === 0) throw new SpdyError('there is a frame of no stream');
  return id;
}

function numberAt(body: Buffer, offset: number): number {
  if (body.length < offset + 4) throw new SpdyError('a frame is shorter than what it has to say');
  return body.readUInt32BE(offset);
}
