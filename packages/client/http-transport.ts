import type { IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import { pipeline } from 'node:stream/promises';
import type { Secret } from '@sheaf/base';
import { LineQueue } from './line-queue.ts';
import { toStatusError } from './status-error.ts';
import type { ClientRequest, ClientResponse, Transport } from './transport.ts';

export interface HttpTransportOptions {
  /** e.g. `https://127.0.0.1:6443`. */
  readonly server: string;
  /** PEM; the system's authorities if absent. */
  readonly authority?: string;
  readonly credentials?:
    | { readonly certificate: string; readonly privateKey: Secret<string> }
    | { readonly token: Secret<string> };
  /** A request whose head has not come by then fails. Milliseconds. */
  readonly timeoutMs?: number;
}

const usualTimeoutMs = 60_000;

/** HTTPS with connections that are kept and shared. */
export function httpTransport(options: HttpTransportOptions): Transport {
  const { authority, credentials } = options;
  const agent = new Agent({
    keepAlive: true,
    ...(authority ? { ca: authority } : {}),
    ...(credentials && 'certificate' in credentials
      ? { cert: credentials.certificate, key: credentials.privateKey.reveal() }
      : {}),
  });
  const token = credentials && 'token' in credentials ? credentials.token : undefined;
  const sent = (request: ClientRequest): Promise<IncomingMessage> => {
    const headers = { ...request.headers, ...(token ? { authorization: `Bearer ${token.reveal()}` } : {}) };
    return open(options, agent, { ...request, headers });
  };
  return {
    send: async (request) => toClientResponse(await sent(request)),
    async download(request) {
      const incoming = await sent({ ...request, method: 'GET' });
      const { statusCode = 0 } = incoming;
      if (statusCode < 400) return incoming;
      throw toStatusError(statusCode, await toClientResponse(incoming).text());
    },
    async connect(request) {
      // Loaded by the first who needs it: most clients never do.
      const { openWebSocket } = await import('./web-socket.ts');
      return openWebSocket(options, request);
    },
    close: () => agent.destroy(),
  };
}

function open(options: HttpTransportOptions, agent: Agent, request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const body = request.body === undefined ? undefined : Buffer.from(request.body, 'utf8');
    const outgoing = httpsRequest(new URL(request.target, options.server), {
      method: request.method,
      agent,
      headers: { ...request.headers, ...(body ? { 'content-length': String(body.length) } : {}) },
      ...(request.signal ? { signal: request.signal } : {}),
    });
    outgoing.setTimeout(options.timeoutMs ?? usualTimeoutMs, () => {
      outgoing.destroy(
        new Error(`${options.server} did not answer ${request.method} ${request.target} in time`),
      );
    });
    outgoing.on('error', reject);
    outgoing.on('response', (incoming) => {
      // A stream may be silent for as long as it likes.
      outgoing.setTimeout(0);
      resolve(incoming);
    });
    if (request.upload) sendUpload(outgoing, request.upload, reject);
    else outgoing.end(body);
  });
}

/** An upload that the server refuses half-way ends without a fault of its own: the answer tells. */
function sendUpload(
  outgoing: ReturnType<typeof httpsRequest>,
  upload: AsyncIterable<Uint8Array>,
  reject: (error: Error) => void,
): void {
  outgoing.setTimeout(0);
  pipeline(upload, outgoing).catch((error: Error) => {
    outgoing.destroy();
    reject(error);
  });
}

function toClientResponse(incoming: IncomingMessage): ClientResponse {
  const queue = new LineQueue();
  incoming.on('data', (chunk: Buffer) => queue.push(chunk));
  incoming.on('end', () => queue.end());
  incoming.on('error', (error) => queue.end(error));
  incoming.on('close', () =>
    queue.end(incoming.complete ? undefined : new Error('the connection broke off')),
  );
  return {
    status: incoming.statusCode ?? 0,
    headers: Object.fromEntries(
      Object.entries(incoming.headers).map(([name, value]) => [
        name,
        Array.isArray(value) ? value.join(', ') : (value ?? ''),
      ]),
    ),
    text: () => queue.text(),
    async *lines() {
      try {
        yield* queue.lines();
      } finally {
        incoming.destroy();
      }
    },
  };
}
