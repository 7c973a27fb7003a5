/** Writing and reading of DER (ITU-T X.690), as far as certificates and signing requests need it. */

/** Universal and context tags used here; constructed ones carry bit 0x20. */
export const derTag = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  oid: 0x06,
  utf8String: 0x0c,
  printableString: 0x13,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

const maximumDepth = 16;

/** One element: tag, length, content. */
export function der(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  let length = 0;
  for (const content of contents) length += content.length;
  return Buffer.concat([Buffer.from([tag, ...lengthBytes(length)]), ...contents]);
}

function lengthBytes(length: number): number[] {
  if (length < 0x80) return [length];
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return [0x80 | bytes.length, ...bytes];
}

export function derSequence(...contents: readonly Uint8Array[]): Buffer {
  return der(derTag.sequence, ...contents);
}

/** `number` is the context tag number; the content is constructed (explicit tagging). */
export function derContext(number: number, ...contents: readonly Uint8Array[]): Buffer {
  return der(0xa0 | number, ...contents);
}

/** A non-negative integer from its big-endian bytes. */
export function derInteger(bytes: Uint8Array): Buffer {
  let start = 0;
  while (start < bytes.length - 1 && bytes[start] === 0) start++;
  const trimmed = bytes.subarray(start);
  const first = trimmed[0] ?? 0;
  return first >= 0x80 ? der(derTag.integer, Buffer.from([0]), trimmed) : der(derTag.integer, trimmed);
}

export function derOid(dotted: string): Buffer {
  const parts = dotted.split('.').map(Number);
  const [first = 0, second = 0, ...rest] = parts;
  const bytes = [first * 40 + second, ...rest.flatMap(base128)];
  return der(derTag.oid, Buffer.from(bytes));
}

function base128(value: number): number[] {
  const bytes = [value % 128];
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) {
    bytes.unshift((rest % 128) | 0x80);
  }
  return bytes;
}

export function derBitString(bytes: Uint8Array, unusedBits = 0): Buffer {
  return der(derTag.bitString, Buffer.from([unusedBits]), bytes);
}

/** UTCTime until 2049, GeneralizedTime from 2050 on (RFC 5280, 4.1.2.5). `milliseconds` since 1970. */
export function derTime(milliseconds: number): Buffer {
  const digits = new Date(milliseconds).toISOString().replace(/[-:T]/g, '').slice(0, 14);
  return Number(digits.slice(0, 4)) < 2050
    ? der(derTag.utcTime, Buffer.from(`${digits.slice(2)}Z`))
    : der(derTag.generalizedTime, Buffer.from(`${digits}Z`));
}

/** A parsed element. `content` and `raw` are views of the input. */
export interface DerElement {
  readonly tag: number;
  readonly content: Buffer;
  /** Tag and length included. */
  readonly raw: Buffer;
}

/**
 * Reads the elements that follow one another in `bytes`.
 * @throws Error if the bytes are not definite-length DER
 */
export function readDer(bytes: Uint8Array): DerElement[] {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const elements: DerElement[] = [];
  let offset = 0;
  while (offset < buffer.length) {
    const { headerLength, contentLength } = readHeader(buffer, offset);
    const end = offset + headerLength + contentLength;
    if (end > buffer.length) throw new Error('DER element is longer than its container');
    elements.push({
      tag: buffer[offset] ?? 0,
      content: buffer.subarray(offset + headerLength, end),
      raw: buffer.subarray(offset, end),
    });
    offset = end;
  }
  return elements;
}

function readHeader(buffer: Buffer, offset: number): { headerLength: number; contentLength: number } {
  const tag = buffer[offset] ?? 0;
  if ((tag & 0x1f) === 0x1f) throw new Error('DER tags above 30 are not supported');
  const first = buffer[offset + 1];
  if (first === undefined) throw new Error('DER element is cut off');
  if (first < 0x80) return { headerLength: 2, contentLength: first };
  const count = first & 0x7f;
  if (count === 0 || count > 4 || offset + 2 + count > buffer.length)
    throw new Error('DER length is not valid');
  return { headerLength: 2 + count, contentLength: buffer.readUIntBE(offset + 2, count) };
}

/** The single element in `bytes`, with the tag if one is asked for. @throws Error otherwise */
export function readOne(bytes: Uint8Array, tag?: number): DerElement {
  const elements = readDer(bytes);
  const [element] = elements;
  if (!element || elements.length !== 1) throw new Error('exactly one DER element was expected');
  if (tag !== undefined && element.tag !== tag)
    throw new Error(`DER tag ${tag} was expected, not ${element.tag}`);
  return element;
}

/** The element at `index`; @throws Error if it is missing or has another tag. */
export function elementAt(elements: readonly DerElement[], index: number, tag?: number): DerElement {
  const element = elements[index];
  if (!element) throw new Error('DER element is missing');
  if (tag !== undefined && element.tag !== tag)
    throw new Error(`DER tag ${tag} was expected, not ${element.tag}`);
  return element;
}

/** The dotted form of an OID's content. */
export function readOid(content: Uint8Array): string {
  const parts: number[] = [];
  let value = 0;
  for (const byte of content) {
    value = value * 128 + (byte & 0x7f);
    if (value > Number.MAX_SAFE_INTEGER) throw new Error('OID component is too large');
    if (byte & 0x80) continue;
    if (parts.length === 0)
      parts.push(Math.min(2, Math.floor(value / 40)), value - 40 * Math.min(2, Math.floor(value / 40)));
    else parts.push(value);
    value = 0;
    if (parts.length > maximumDepth * 4) throw new Error('OID is too long');
  }
  return parts.join('.');
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The text of any of the DER string types. @throws Error for other tags and malformed text */
export function readText(element: DerElement): string {
  if (element.tag === 0x1e) return decodeUtf16(element.content);
  if (element.tag === 0x14) return element.content.toString('latin1');
  const textTags: readonly number[] = [derTag.utf8String, derTag.printableString, 0x16, 0x12, 0x1a];
  if (!textTags.includes(element.tag)) throw new Error(`DER tag ${element.tag} is not a string`);
  return utf8.decode(element.content);
}

function decodeUtf16(content: Buffer): string {
  if (content.length % 2 !== 0) throw new Error('BMPString has an odd length');
  return Buffer.from(content).swap16().toString('utf16le');
}
