const two32 = 2 ** 32;
const initialSize = 8192;
/** A larger buffer is not kept for the next message. */
const keptSize = 1 << 20;

/**
 * Writes protobuf's wire format from the end to the front, so that each message knows its length when its prefix is
 * written. Callers write fields in descending order.
 */
export class WireWriter {
  #buffer: Buffer = Buffer.allocUnsafeSlow(initialSize);
  #position = initialSize;

  /** Bytes written so far; the difference of two marks is the length of what was written between. */
  get mark(): number {
    return this.#buffer.length - this.#position;
  }

  /** The bytes written, as a copy; the writer is empty afterwards. */
  finish(): Uint8Array {
    const result = Uint8Array.prototype.slice.call(this.#buffer, this.#position);
    this.reset();
    return result;
  }

  reset(): void {
    if (this.#buffer.length > keptSize) this.#buffer = Buffer.allocUnsafeSlow(initialSize);
    this.#position = this.#buffer.length;
  }

  #reserve(count: number): void {
    if (this.#position >= count) return;
    const used = this.mark;
    const size = Math.max(this.#buffer.length * 2, used + count);
    const larger = Buffer.allocUnsafeSlow(size);
    this.#buffer.copy(larger, size - used, this.#position);
    this.#buffer = larger;
    this.#position = size - used;
  }

  varint(value: number): void {
    this.#reserve(10);
    if (value >= 0 && value < 0x80) this.#buffer[--this.#position] = value;
    else if (value >= 0 && value < 0x4000) {
      this.#buffer[--this.#position] = value >>> 7;
      this.#buffer[--this.#position] = (value & 0x7f) | 0x80;
    } else if (value >= 0 && value < two32) this.#pair(value, 0);
    else this.#wide(value);
  }

  #wide(value: number): void {
    const whole = BigInt.asUintN(64, BigInt(value));
    this.#pair(Number(whole & 0xffffffffn), Number(whole >> 32n));
  }

  #pair(low: number, high: number): void {
    let size = 1;
    for (let rest = high * two32 + low; rest >= 0x80; rest = Math.floor(rest / 0x80)) size++;
    // The sum above is rounded up to 2^64 for the largest values, which still gives ten bytes.
    this.#position -= size;
    let at = this.#position;
    let lower = low;
    let upper = high;
    for (let index = 1; index < size; index++) {
      this.#buffer[at++] = (lower & 0x7f) | 0x80;
      lower = ((lower >>> 7) | (upper << 25)) >>> 0;
      upper >>>= 7;
    }
    this.#buffer[at] = lower & 0x7f;
  }

  double(value: number): void {
    this.#reserve(8);
    this.#position -= 8;
    this.#buffer.writeDoubleLE(value, this.#position);
  }

  /** With its length prefix. */
  string(value: string): void {
    const length = value.length;
    this.#reserve(length * 3 + 10);
    let at = this.#position;
    for (let index = length - 1; index >= 0 && length < 40; index--) {
      const code = value.charCodeAt(index);
      if (code >= 0x80) return this.#encoded(value);
      this.#buffer[--at] = code;
    }
    if (length >= 40) return this.#encoded(value);
    this.#position = at;
    this.varint(length);
  }

  #encoded(value: string): void {
    const size = Buffer.byteLength(value);
    this.#position -= size;
    this.#buffer.write(value, this.#position, size, 'utf8');
    this.varint(size);
  }

  /** With its length prefix. */
  base64(value: string): void {
    this.bytes(Buffer.from(value, 'base64'));
  }

  /** With its length prefix. */
  bytes(value: Uint8Array): void {
    this.raw(value);
    this.varint(value.length);
  }

  raw(value: Uint8Array): void {
    this.#reserve(value.length);
    this.#position -= value.length;
    this.#buffer.set(value, this.#position);
  }

  tag(number: number, wireType: number): void {
    this.varint(number * 8 + wireType);
  }
}
