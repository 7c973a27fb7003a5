import type { UpgradeAnswer } from '@sheaf/api';
import type { ByteStream, Disposable } from '@sheaf/base';
import { LineQueue } from './line-queue.ts';
import { toStatusError } from './status-error.ts';
import type { ClientRequest, ClientResponse, Transport } from './transport.ts';

/** The API server as a function, seen from outside: the shape of `ApiHandler`. */
export type InProcessHandler = (request: InProcessRequest) => Promise<InProcessResponse>;

export interface InProcessRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readBody(): Promise<Uint8Array>;
  openBody?(): AsyncIterable<Uint8Array>;
  readonly upgrade?: { readonly via: 'websocket'; readonly protocols: readonly string[] };
  readonly signal: AbortSignal;
  readonly trustedUser?: InProcessUser;
  readonly remoteAddress: string;
}

export interface InProcessUser {
  readonly name: string;
  readonly groups: readonly string[];
}

export interface InProcessResponse {
  readonly status: number;
  readonly headers: Record<string, string | string[]>;
  readonly body:
    | { readonly kind: 'bytes'; readonly chunks: readonly Uint8Array[] }
    | { readonly kind: 'stream'; start(sink: InProcessSink): Disposable }
    | { readonly kind: 'pull'; readonly chunks: AsyncIterable<Uint8Array> }
    | { readonly kind: 'upgrade'; readonly answer: UpgradeAnswer };
}

export interface InProcessSink {
  write(chunk: Uint8Array): void;
  readonly queuedBytes: number;
  end(): void;
}

const never = new AbortController().signal;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Calls the API server in this process as `user`: the same pipeline as over HTTP, without sockets. */
export function inProcessTransport(handler: InProcessHandler, user: InProcessUser): Transport {
  const lifetime = new AbortController();
  return {
    async send(request) {
      const signal = request.signal ? AbortSignal.any([request.signal, lifetime.signal]) : lifetime.signal;
      signal.throwIfAborted();
      return toClientResponse(await handler(toServerRequest(request, user, signal)), signal);
    },
    async download(request) {
      const signal = request.signal ? AbortSignal.any([request.signal, lifetime.signal]) : lifetime.signal;
      signal.throwIfAborted();
      const response = await handler(toServerRequest({ ...request, method: 'GET' }, user, signal));
      return toBytes(response, signal);
    },
    async connect(request) {
      const signal = request.signal ? AbortSignal.any([request.signal, lifetime.signal]) : lifetime.signal;
      signal.throwIfAborted();
      const asked = { ...toServerRequest({ ...request, method: 'GET' }, user, signal), upgrade };
      return toByteStream(await handler(asked), signal);
    },
    close: () => lifetime.abort(new Error('the client is closed')),
  };
}

async function toBytes(response: InProcessResponse, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
  const { status, body } = response;
  const answer = toClientResponse(response, signal);
  if (status >= 400) throw toStatusError(status, await answer.text());
  if (body.kind === 'pull') return body.chunks;
  if (body.kind === 'bytes') return chunksOf(body.chunks);
  throw new Error('the server answers with a stream; read its lines, or ask for it with connect');
}

async function* chunksOf(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

const answerWords = {
  messages: 'messages',
  process: 'the streams of a process',
  ports: 'connections to ports',
  relay: 'a connection to another server',
} as const;

const upgrade = { via: 'websocket', protocols: [] } as const;

async function toByteStream(response: InProcessResponse, signal: AbortSignal): Promise<ByteStream> {
  const { status, body } = response;
  if (body.kind !== 'upgrade') throw toStatusError(status, await toClientResponse(response, signal).text());
  const { answer } = body;
  if (answer.kind === 'bytes') {
    const { stream } = answer;
    signal.addEventListener('abort', () => stream.dispose(), { once: true });
    return stream;
  }
  if (answer.kind === 'messages' || answer.kind === 'relay') answer.stream.dispose();
  throw new Error(`the server answers with ${answerWords[answer.kind]}, not with bytes`);
}

function toServerRequest(request: ClientRequest, user: InProcessUser, signal: AbortSignal): InProcessRequest {
  const mark = request.target.indexOf('?');
  const body = encoder.encode(request.body ?? '');
  const { upload } = request;
  return {
    method: request.method,
    path: mark < 0 ? request.target : request.target.slice(0, mark),
    query: mark < 0 ? '' : request.target.slice(mark + 1),
    headers: request.headers,
    readBody: () => (upload ? gathered(upload) : Promise.resolve(body)),
    ...(upload ? { openBody: () => upload } : {}),
    signal: signal ?? never,
    trustedUser: user,
    remoteAddress: '127.0.0.1',
  };
}

async function gathered(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  return Buffer.concat(await Array.fromAsync(chunks));
}

function toClientResponse({ status, headers, body }: InProcessResponse, signal: AbortSignal): ClientResponse {
  return {
    status,
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
    ),
    async text() {
      if (body.kind === 'bytes') return body.chunks.map((chunk) => decoder.decode(chunk)).join('');
      if (body.kind === 'pull') return decoder.decode(await gathered(body.chunks));
      let text = '';
      for await (const line of linesOf(body, signal)) text += `${line}\n`;
      return text;
    },
    lines: () => linesOf(body, signal),
  };
}

function linesOf(body: InProcessResponse['body'], signal: AbortSignal): AsyncIterable<string> {
  switch (body.kind) {
    case 'bytes':
    case 'pull':
      return bytesLines(body.chunks);
    case 'stream':
      return streamLines(body, signal);
    case 'upgrade':
      throw new Error('the server has opened a stream; ask for it with connect');
  }
}

async function* bytesLines(
  chunks: readonly Uint8Array[] | AsyncIterable<Uint8Array>,
): AsyncGenerator<string> {
  const queue = new LineQueue();
  for await (const chunk of chunks) queue.push(chunk);
  queue.end();
  yield* queue.lines();
}

async function* streamLines(
  body: Extract<InProcessResponse['body'], { kind: 'stream' }>,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const queue = new LineQueue();
  const onAbort = (): void => queue.end();
  signal.addEventListener('abort', onAbort, { once: true });
  const running = body.start({
    write: (chunk) => queue.push(chunk),
    get queuedBytes() {
      return queue.queuedBytes;
    },
    end: () => queue.end(),
  });
  // Who was stopped between the answer's head and its first line is not told again.
  if (signal.aborted) queue.end();
  try {
    yield* queue.lines();
    signal.throwIfAborted();
  } finally {
    signal.removeEventListener('abort', onAbort);
    running.dispose();
  }
}
