import type { IncomingMessage } from 'node:http';
import { type ByteStream, binaryFrames, WebSocketStream } from '@sheaf/base';
import { WebSocket } from 'ws';
import type { HttpTransportOptions } from './http-transport.ts';
import { toStatusError } from './status-error.ts';
import type { ConnectRequest } from './transport.ts';

/** What KubeVirt's own clients ask for: bytes in binary frames. */
const protocol = 'plain.kubevirt.io';
const usualTimeoutMs = 60_000;

/** Opens a WebSocket whose frames are bytes. @throws StatusError what the server refuses with */
export function openWebSocket(options: HttpTransportOptions, request: ConnectRequest): Promise<ByteStream> {
  const url = new URL(request.target, options.server);
  url.protocol = 'wss:';
  const identity = identityOf(options);
  const socket = new WebSocket(url, [protocol], {
    ...identity,
    headers: { ...request.headers, ...identity.headers },
    handshakeTimeout: options.timeoutMs ?? usualTimeoutMs,
    perMessageDeflate: false,
    ...(options.authority ? { ca: options.authority } : {}),
  });
  const stream = new WebSocketStream(socket, binaryFrames);
  if (request.signal) disposeOnAbort(stream, request.signal);
  return new Promise((resolve, reject) => {
    socket.on('open', () => resolve(stream));
    socket.on('error', reject);
    socket.on('unexpected-response', (_request, response) => {
      void textOf(response).then((text) => reject(toStatusError(response.statusCode ?? 0, text)), reject);
    });
  });
}

interface Identity {
  readonly headers?: Record<string, string>;
  readonly cert?: string;
  readonly key?: string;
}

function identityOf({ credentials }: HttpTransportOptions): Identity {
  if (!credentials) return {};
  if ('token' in credentials) return { headers: { authorization: `Bearer ${credentials.token.reveal()}` } };
  return { cert: credentials.certificate, key: credentials.privateKey.reveal() };
}

function disposeOnAbort(stream: WebSocketStream<Uint8Array>, signal: AbortSignal): void {
  const onAbort = (): void => stream.dispose();
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  void stream.closed.then(() => signal.removeEventListener('abort', onAbort));
}

async function textOf(response: IncomingMessage): Promise<string> {
  return Buffer.concat((await Array.fromAsync(response)) as Buffer[]).toString('utf8');
}
