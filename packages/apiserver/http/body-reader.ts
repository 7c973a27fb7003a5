import type { Readable } from 'node:stream';
import { StatusError } from '@sheaf/base';

/** Largest request body in bytes, where nothing else is said. */
export const bodyLimit = 3 * 1024 * 1024;

export function bodyTooLarge(limitBytes = bodyLimit): StatusError {
  return new StatusError({
    reason: 'RequestEntityTooLarge',
    message: `Request entity too large: limit is ${limitBytes}`,
  });
}

export interface IncomingBody {
  readonly stream: Readable;
  /** As the client has declared it. */
  readonly length: number | undefined;
}

/** Reads a whole body. @throws StatusError 413 beyond the limit, 400 when the client breaks off */
export function readStream(
  { stream, length: declared }: IncomingBody,
  limit = bodyLimit,
): Promise<Uint8Array> {
  if (declared !== undefined && declared > limit) return Promise.reject(bodyTooLarge(limit));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    stream.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length > limit) {
        stream.removeAllListeners('data');
        stream.resume();
        reject(bodyTooLarge(limit));
        return;
      }
      chunks.push(chunk);
    });
    let isSettled = false;
    stream.on('end', () => {
      isSettled = true;
      resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks));
    });
    const breakOff = (cause?: Error): void => {
      if (!isSettled) reject(brokenOff(cause));
      isSettled = true;
    };
    stream.on('error', breakOff);
    stream.on('close', () => breakOff());
  });
}

/** Told while a body is taken as it comes. */
export interface BodyWatcher {
  /** The client is to send. */
  awaitClient(): void;
  /** It has sent, or is done. */
  clientSent(): void;
}

/** The chunks of a body as they come. @throws StatusError as `readStream` */
export async function* openStream(
  { stream, length: declared }: IncomingBody,
  limit: number,
  watcher: BodyWatcher,
): AsyncGenerator<Uint8Array> {
  if (declared !== undefined && declared > limit) throw bodyTooLarge(limit);
  let length = 0;
  try {
    watcher.awaitClient();
    for await (const chunk of stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      watcher.clientSent();
      length += chunk.length;
      if (length > limit) throw bodyTooLarge(limit);
      yield chunk;
      watcher.awaitClient();
    }
  } catch (error) {
    throw StatusError.is(error) ? error : brokenOff(error);
  } finally {
    watcher.clientSent();
  }
  // Some clients end a stream of HTTP/2 before they reset it: what they have declared tells.
  if (stream.readableAborted || (declared !== undefined && length < declared)) throw brokenOff();
}

function brokenOff(cause?: unknown): StatusError {
  return new StatusError({ reason: 'BadRequest', message: 'the request body broke off', cause });
}
