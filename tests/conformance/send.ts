import type { IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Target } from './target.ts';

export interface RawRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: Buffer | undefined;
  readonly withCertificate: boolean;
  readonly overHttp2: boolean;
}

export interface RawAnswer {
  readonly status: number;
  /** Lower-case names; repeated headers as lists. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: Buffer;
}

/** A stream that is being read. */
export interface RawStream {
  readonly status: number;
  readonly headers: RawAnswer['headers'];
  /** What has come so far. */
  body(): Buffer;
  readonly ended: Promise<void>;
  hasEnded(): boolean;
  close(): void;
}

const patienceMilliseconds = 20_000;

/** Sends one request and reads its whole answer. */
export async function send(target: Target, raw: RawRequest): Promise<RawAnswer> {
  const stream = await openStream(target, raw);
  const timer = setTimeout(() => stream.close(), patienceMilliseconds);
  await stream.ended;
  clearTimeout(timer);
  return { status: stream.status, headers: stream.headers, body: stream.body() };
}

/** Sends one request; resolves when the head of the answer has come. */
export function openStream(target: Target, raw: RawRequest): Promise<RawStream> {
  return raw.overHttp2 ? openHttp2(target, raw) : openHttp1(target, raw);
}

function openHttp1(target: Target, raw: RawRequest): Promise<RawStream> {
  const { host, port } = target.address;
  return new Promise((resolve, reject) => {
    const outgoing = httpsRequest({
      host,
      port,
      method: raw.method,
      path: raw.path,
      headers: raw.headers as Record<string, string | string[]>,
      agent: target.agent(raw.withCertificate),
    });
    outgoing.once('response', (incoming) => {
      // An answer may come before the whole body has been taken: what then breaks is no fault.
      outgoing.on('error', () => undefined);
      resolve(reading(incoming));
    });
    outgoing.once('error', reject);
    if (raw.body) outgoing.setHeader('content-length', raw.body.length);
    outgoing.end(raw.body);
  });
}

function reading(incoming: IncomingMessage): RawStream {
  const chunks: Buffer[] = [];
  let isOver = false;
  incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
  const ended = new Promise<void>((resolve) => {
    const over = (): void => {
      isOver = true;
      resolve();
    };
    incoming.on('end', over);
    incoming.on('close', over);
    incoming.on('error', over);
  });
  return {
    status: incoming.statusCode ?? 0,
    headers: listsOfHeaders(incoming.rawHeaders),
    body: () => Buffer.concat(chunks),
    ended,
    hasEnded: () => isOver,
    close: () => incoming.destroy(),
  };
}

function listsOfHeaders(raw: readonly string[]): RawAnswer['headers'] {
  const headers: Record<string, string | string[]> = {};
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = (raw[index] ?? '').toLowerCase();
    const value = raw[index + 1] ?? '';
    const before = headers[name];
    headers[name] = before === undefined ? value : [...(Array.isArray(before) ? before : [before]), value];
  }
  return headers;
}

function openHttp2(target: Target, raw: RawRequest): Promise<RawStream> {
  return new Promise((resolve, reject) => {
    const stream = target.session().request({
      ':method': raw.method,
      ':path': raw.path,
      ...(raw.headers as Record<string, string | string[]>),
    });
    const chunks: Buffer[] = [];
    let isOver = false;
    const ended = new Promise<void>((over) => {
      stream.on('close', () => {
        isOver = true;
        over();
      });
    });
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.once('error', reject);
    stream.once('response', (headers) => {
      stream.on('error', () => undefined);
      const { ':status': status = 0, ...rest } = headers;
      resolve({
        status,
        headers: rest as RawAnswer['headers'],
        body: () => Buffer.concat(chunks),
        ended,
        hasEnded: () => isOver,
        close: () => stream.close(),
      });
    });
    stream.end(raw.body);
  });
}
