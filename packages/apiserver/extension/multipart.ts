import type { BodyPart } from '@sheaf/api';
import { badRequest } from '@sheaf/base';

const partLimit = 1000;
const headerLimitBytes = 16 * 1024;
const lineEnd = '\r\n';

/**
 * The parts of a `multipart/form-data` body (RFC 7578) as they come. The content of one must be read before the next is asked for;
 * what is not is skipped. @throws StatusError 400 when the body is no such thing or ends too early
 */
export async function* readParts(
  contentType: string,
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<BodyPart, void, undefined> {
  const reader = new DelimitedReader(body, Buffer.from(`${lineEnd}--${boundaryOf(contentType)}`));
  await reader.skip();
  for (let count = 0; !(await reader.isLast()); count++) {
    if (count === partLimit) throw badRequest(`the multipart body has more than ${partLimit} parts`);
    const headers = await readHeaders(reader);
    yield {
      ...dispositionOf(headers['content-disposition'] ?? ''),
      headers,
      content: reader.content(),
    };
    await reader.skip();
  }
}

function boundaryOf(contentType: string): string {
  const found = /^multipart\/form-data\s*;(?:.*;)?\s*boundary=(?:"([^"]{1,70})"|([^\s";]{1,70}))/i.exec(
    contentType,
  );
  const boundary = found?.[1] ?? found?.[2];
  if (boundary !== undefined) return boundary;
  throw badRequest(
    'the request body must be multipart/form-data with a boundary, and its Content-Type say so',
  );
}

async function readHeaders(reader: DelimitedReader): Promise<Record<string, string>> {
  const headers = Object.create(null) as Record<string, string>;
  let left = headerLimitBytes;
  for (;;) {
    const line = await reader.line(left);
    if (line === '') return headers;
    left -= line.length;
    const colon = line.indexOf(':');
    if (colon > 0) headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
}

function dispositionOf(text: string): Pick<BodyPart, 'name' | 'fileName'> {
  const name = parameterOf(text, 'name');
  if (name === undefined) throw badRequest('a part of the multipart body has no name');
  const fileName = parameterOf(text, 'filename');
  return { name, ...(fileName === undefined ? {} : { fileName }) };
}

/** Browsers write a quote as %22. */
function parameterOf(text: string, parameter: string): string | undefined {
  const value = new RegExp(`;\\s*${parameter}="([^"]*)"`, 'i').exec(text)?.[1];
  return value?.replaceAll('%22', '"');
}

/** Reads lines, and content up to a delimiter, of chunks that may be cut anywhere. Keeps no more than a chunk. */
class DelimitedReader {
  readonly #chunks: AsyncIterator<Uint8Array>;
  readonly #delimiter: Buffer;
  /** The first delimiter stands at the very begin: as if after the end of a line. */
  #buffer: Buffer = Buffer.from(lineEnd);
  /** No delimiter has come since the last content began. */
  #isInside = true;

  constructor(body: AsyncIterable<Uint8Array>, delimiter: Buffer) {
    this.#chunks = body[Symbol.asyncIterator]();
    this.#delimiter = delimiter;
  }

  /** What nobody has read before the next delimiter, and that. */
  async skip(): Promise<void> {
    while (this.#isInside) for await (const _unread of this.content());
  }

  /** Everything before the next delimiter, which is taken too. */
  async *content(): AsyncGenerator<Uint8Array, void, undefined> {
    const delimiter = this.#delimiter;
    for (;;) {
      const end = this.#buffer.indexOf(delimiter);
      const sure = end < 0 ? Math.max(0, this.#buffer.length - delimiter.length + 1) : end;
      if (sure > 0) {
        const found = this.#buffer.subarray(0, sure);
        this.#buffer = this.#buffer.subarray(sure);
        yield found;
      }
      if (end >= 0) {
        this.#buffer = this.#buffer.subarray(delimiter.length);
        this.#isInside = false;
        return;
      }
      await this.#more();
    }
  }

  /** After a delimiter: whether it was the last one. */
  async isLast(): Promise<boolean> {
    while (this.#buffer.length < 2) await this.#more();
    if (this.#buffer.subarray(0, 2).toString('latin1') === '--') return true;
    const padding = await this.line(headerLimitBytes);
    if (padding.trim() !== '') throw malformed();
    this.#isInside = true;
    return false;
  }

  async line(limitBytes: number): Promise<string> {
    for (;;) {
      const end = this.#buffer.indexOf(lineEnd);
      if (end > limitBytes || (end < 0 && this.#buffer.length > limitBytes)) throw malformed();
      if (end >= 0) {
        const line = this.#buffer.subarray(0, end).toString('utf8');
        this.#buffer = this.#buffer.subarray(end + lineEnd.length);
        return line;
      }
      await this.#more();
    }
  }

  async #more(): Promise<void> {
    const next = await this.#chunks.next();
    if (next.done) throw badRequest('the multipart body ends before its last part does');
    this.#buffer =
      this.#buffer.length === 0 ? Buffer.from(next.value) : Buffer.concat([this.#buffer, next.value]);
  }
}

function malformed(): Error {
  return badRequest('the multipart body is malformed: a part must begin with its headers, of at most 16 KiB');
}
