/** Bytes that are no message of the expected kind; the message is Go's. */
export class WireError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'WireError';
  }
}

const truncated = 'unexpected EOF';
const overflow = 'proto: integer overflow';
const two32 = 2 ** 32;

/** Reads protobuf's wire format, never beyond the end it was given. */
export class WireReader {
  readonly #bytes: Buffer;
  /** The next byte to read. */
  position: number;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.position = 0;
  }

  get length(): number {
    return this.#bytes.length;
  }

  /** An unsigned 32-bit number; higher bits are dropped as Go's conversions drop them. */
  uint32(end: number): number {
    const byte = this.#bytes[this.position];
    if (byte !== undefined && byte < 0x80 && this.position < end) {
      this.position++;
      return byte;
    }
    return this.#varint(end).low >>> 0;
  }

  int32(end: number): number {
    return this.uint32(end) | 0;
  }

  bool(end: number): boolean {
    const { low, high } = this.#varint(end);
    return low !== 0 || high !== 0;
  }

  /** Beyond 2^53 to the nearest representable number. */
  int64(end: number): number {
    const { low, high } = this.#varint(end);
    return (high | 0) * two32 + (low >>> 0);
  }

  #varint(end: number): { low: number; high: number } {
    let low = 0;
    let high = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      if (this.position >= end) throw new WireError(truncated);
      const byte = this.#bytes[this.position++] ?? 0;
      const bits = byte & 0x7f;
      if (shift < 28) low |= bits << shift;
      else if (shift === 28) {
        low |= bits << 28;
        high |= bits >>> 4;
      } else high |= bits << (shift - 32);
      if (byte < 0x80) return { low, high };
    }
    throw new WireError(overflow);
  }

  double(end: number): number {
    const at = this.position;
    this.#advance(8, end);
    return this.#bytes.readDoubleLE(at);
  }

  /** The end of a length-prefixed part that begins at `position`. */
  lengthEnd(end: number): number {
    const { low, high } = this.#lengthVarint(end);
    if (high < 0) throw new WireError('proto: negative length found during unmarshaling');
    const length = high * two32 + (low >>> 0);
    if (this.position + length > end) throw new WireError(truncated);
    return this.position + length;
  }

  #lengthVarint(end: number): { low: number; high: number } {
    const byte = this.#bytes[this.position];
    if (byte === undefined || byte >= 0x80 || this.position >= end) return this.#varint(end);
    this.position++;
    return { low: byte, high: 0 };
  }

  /** UTF-8, with replacement characters for malformed bytes. */
  string(end: number): string {
    const stop = this.lengthEnd(end);
    const start = this.position;
    this.position = stop;
    return stop - start < 24 ? this.#shortString(start, stop) : this.#bytes.toString('utf8', start, stop);
  }

  /** Short ASCII is put together here; the way into the runtime costs more. */
  #shortString(start: number, stop: number): string {
    let text = '';
    for (let at = start; at < stop; at++) {
      const byte = this.#bytes[at] ?? 0;
      if (byte >= 0x80) return this.#bytes.toString('utf8', start, stop);
      text += String.fromCharCode(byte);
    }
    return text;
  }

  base64(end: number): string {
    const stop = this.lengthEnd(end);
    const text = this.#bytes.toString('base64', this.position, stop);
    this.position = stop;
    return text;
  }

  /** A view, not a copy. */
  bytes(end: number): Uint8Array {
    const stop = this.lengthEnd(end);
    const part = this.#bytes.subarray(this.position, stop);
    this.position = stop;
    return part;
  }

  skip(wireType: number, end: number): void {
    switch (wireType) {
      case 0:
        this.#varint(end);
        return;
      case 1:
        return this.#advance(8, end);
      case 2:
        this.position = this.lengthEnd(end);
        return;
      case 3:
        return this.#skipGroup(end);
      case 5:
        return this.#advance(4, end);
      default:
        throw new WireError(`proto: illegal wireType ${wireType}`);
    }
  }

  #skipGroup(end: number): void {
    for (let depth = 1; depth > 0; ) {
      const wireType = this.uint32(end) & 7;
      if (wireType === 3) depth++;
      else if (wireType === 4) depth--;
      else this.skip(wireType, end);
    }
  }

  #advance(count: number, end: number): void {
    if (this.position + count > end) throw new WireError(truncated);
    this.position += count;
  }
}
