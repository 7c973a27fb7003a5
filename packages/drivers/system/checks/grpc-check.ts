import { type ClientHttp2Session, connect, type IncomingHttpHeaders } from 'node:http2';
import type { CheckResult, CheckTarget } from '@sheaf/ports';
import { addressOf, wordsOf } from './network-words.ts';

export type GrpcCheck = CheckTarget & { readonly service: string };

/** Longer answers are none of a health check. */
const maxAnswerBytes = 4096;
const deadlineExceeded = 4;
const unimplemented = 12;
const states = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'];

interface Answer {
  readonly status: number;
  readonly message: string;
  readonly body: Buffer;
}

/** Asks `grpc.health.v1.Health/Check` on a connection without TLS. */
export async function checkGrpc(target: GrpcCheck, signal: AbortSignal): Promise<CheckResult> {
  const address = addressOf(target);
  if (signal.aborted) return failed(`timeout: failed to connect service "${address}"`);
  const session = connect(`http://${address}`);
  let isConnected = false;
  session.once('remoteSettings', () => (isConnected = true));
  try {
    return resultOf(await ask(session, target.service, signal));
  } catch (error) {
    if (signal.aborted)
      return failed(
        isConnected
          ? 'timeout: health rpc did not complete in time'
          : `timeout: failed to connect service "${address}"`,
      );
    if (!isConnected) return failed(`error: failed to connect service at "${address}": ${wordsOf(error)}`);
    return failed(`error: health rpc probe failed: ${wordsOf(error)}`);
  } finally {
    session.destroy();
  }
}

function failed(text: string): CheckResult {
  return { isHealthy: false, text };
}

function resultOf({ status, message, body }: Answer): CheckResult {
  if (status === unimplemented)
    return failed(
      `error: this server does not implement the grpc health protocol (grpc.health.v1.Health): ${message}`,
    );
  if (status === deadlineExceeded) return failed('timeout: health rpc did not complete in time');
  if (status !== 0) return failed(`error: health rpc probe failed: code ${status}: ${message}`);
  const state = servingState(body);
  const name = state === undefined ? 'an answer that cannot be read' : (states[state] ?? String(state));
  return name === 'SERVING' ? { isHealthy: true } : failed(`service unhealthy (responded with "${name}")`);
}

function ask(session: ClientHttp2Session, service: string, signal: AbortSignal): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(new Error('aborted'));
    signal.addEventListener('abort', onAbort, { once: true });
    const request = session.request({
      ':method': 'POST',
      ':path': '/grpc.health.v1.Health/Check',
      'content-type': 'application/grpc',
      te: 'trailers',
      'user-agent': 'kube-probe/1.36',
    });
    const chunks: Buffer[] = [];
    let answered: IncomingHttpHeaders = {};
    let bytes = 0;
    request.on('response', (headers) => (answered = { ...headers }));
    request.on('trailers', (trailers) => (answered = { ...answered, ...trailers }));
    request.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > maxAnswerBytes) reject(new Error(`the answer is longer than ${maxAnswerBytes} bytes`));
    });
    request.on('close', () => {
      signal.removeEventListener('abort', onAbort);
      if (answered[':status'] === undefined) reject(new Error('EOF'));
      else resolve(answerOf(answered, Buffer.concat(chunks)));
    });
    for (const part of [session, request]) part.on('error', reject);
    request.end(framed(field(1, service)));
  });
}

function answerOf(headers: IncomingHttpHeaders, body: Buffer): Answer {
  const code = headers['grpc-status'];
  const message = decoded(String(headers['grpc-message'] ?? ''));
  if (typeof code === 'string') return { status: Number(code), message, body };
  return { status: 2, message: `no grpc-status; HTTP status ${String(headers[':status'])}`, body };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // Not encoded as the protocol says: as it came.
    return text;
  }
}

/** A message of gRPC: not compressed, its length, its bytes. */
function framed(message: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

/** A field of Protobuf with text; empty text is left out. */
function field(number: number, text: string): Buffer {
  if (text === '') return Buffer.alloc(0);
  const bytes = Buffer.from(text);
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...varint(bytes.length)]), bytes]);
}

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...varint(value >>> 7)];
}

/** The enumeration in field 1, which is left out where it is 0; the message has no other fields. */
function servingState(body: Buffer): number | undefined {
  const isWhole = body.length >= 5 && body[0] === 0 && body.readUInt32BE(1) === body.length - 5;
  if (!isWhole) return undefined;
  if (body.length === 5) return 0;
  return body[5] === 8 && body.length === 7 ? body[6] : undefined;
}
