import { constants, deflateRawSync, inflateRawSync } from 'node:zlib';
import { headerDictionary } from './header-dictionary.ts';
import { SpdyError } from './spdy-error.ts';

export type Headers = ReadonlyMap<string, string>;

/** What a compressed stream begins with: zlib, a window of 32 KiB, and the checksum of the dictionary. */
const head = Buffer.from([0x78, 0x20, 0xe3, 0xc6, 0xa7, 0xc2]);
const dictionaryFlag = 0x20;
const windowBytes = 32 * 1024;
const mostBytes = 64 * 1024;
const mostHeaders = 100;

/**
 * The header blocks of one direction of a session are one compressed stream, which is flushed after each of them. So a block is
 * whole in itself but for the 32 KiB that came before it, and is taken apart with these alone.
 */
export class HeaderDecoder {
  #window: Buffer | undefined;

  /** In the order in which they came. @throws SpdyError */
  decode(block: Uint8Array): Headers {
    return parseHeaders(this.#inflate(block));
  }

  #inflate(block: Uint8Array): Buffer {
    const isFirst = this.#window === undefined;
    const window = this.#window ?? headerDictionary();
    if (isFirst && !isZlibHead(block)) throw new SpdyError('the headers are not compressed as SPDY/3.1 says');
    try {
      const bytes = inflateRawSync(isFirst ? block.subarray(head.length) : block, {
        dictionary: window,
        finishFlush: constants.Z_SYNC_FLUSH,
        maxOutputLength: mostBytes,
      });
      this.#window = Buffer.concat([window, bytes]).subarray(-windowBytes);
      return bytes;
    } catch (error) {
      throw new SpdyError('the headers cannot be decompressed', error);
    }
  }
}

function isZlibHead(block: Uint8Array): boolean {
  const [method = 0, flags = 0] = block;
  if (method !== head[0] || (flags & dictionaryFlag) === 0 || ((method << 8) | flags) % 31 !== 0)
    return false;
  return head.subarray(2).equals(block.subarray(2, head.length));
}

/** Each name and value is its length in four bytes and its text; several values of a name have a zero between them. */
function parseHeaders(bytes: Buffer): Headers {
  let offset = 0;
  const number = (): number => {
    if (offset + 4 > bytes.length) throw cutOff();
    offset += 4;
    return bytes.readUInt32BE(offset - 4);
  };
  const text = (): string => {
    const length = number();
    if (offset + length > bytes.length) throw cutOff();
    offset += length;
    return bytes.toString('utf8', offset - length, offset);
  };
  const count = number();
  if (count > mostHeaders)
    throw new SpdyError(`there are ${count} headers; at most ${mostHeaders} are taken`);
  const headers = new Map<string, string>();
  for (let index = 0; index < count; index++) {
    const name = text().toLowerCase();
    const [value = ''] = text().split('\0');
    headers.set(name, value);
  }
  return headers;
}

function cutOff(): SpdyError {
  return new SpdyError('a header block is cut off');
}

/** Makes the header blocks of one direction. Nothing is saved by compressing what is sent here: a few words now and then. */
export class HeaderEncoder {
  #isBegun = false;

  encode(headers: Headers): Buffer {
    const parts = [uint32(headers.size)];
    for (const [name, value] of headers)
      for (const text of [name, value]) parts.push(uint32(Buffer.byteLength(text)), Buffer.from(text));
    const stored = deflateRawSync(Buffer.concat(parts), { level: 0, finishFlush: constants.Z_SYNC_FLUSH });
    const block = this.#isBegun ? stored : Buffer.concat([head, stored]);
    this.#isBegun = true;
    return block;
  }
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
