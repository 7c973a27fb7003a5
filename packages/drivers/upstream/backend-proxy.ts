import { once } from 'node:events';
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';
import type { ByteStream } from '@sheaf/base';
import type { HttpsAnswer } from './https-upstream.ts';

/** The shape of the API server's `BackendTarget`. */
interface Target {
  readonly scheme: 'http' | 'https';
  readonly host: string;
  readonly port: number;
}

interface Call {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: AsyncIterable<Uint8Array>;
  readonly signal: AbortSignal;
}

interface Upgrade {
  readonly head: string;
  readonly stream: ByteStream;
}

/** Asks pods by their addresses, a connection each: who is behind one may be another one in a moment. */
export class HostBackends {
  /** @throws Error when it cannot be reached */
  async call(target: Target, call: Call): Promise<HttpsAnswer | Upgrade> {
    const outgoing = open(target, call);
    const answered = answerOf(outgoing);
    // It may answer before it has read everything, and need not read the rest.
    pipeline(call.body, outgoing).catch((error: unknown) => {
      if (!outgoing.destroyed) outgoing.destroy(error as Error);
    });
    return await answered;
  }
}

function open({ scheme, host, port }: Target, { method, target, headers, signal }: Call): ClientRequest {
  const options = { agent: false, host, port, method, path: target, headers, signal };
  return scheme === 'https' ? httpsRequest({ ...options, rejectUnauthorized: false }) : httpRequest(options);
}

function answerOf(outgoing: ClientRequest): Promise<HttpsAnswer | Upgrade> {
  return new Promise((resolve, reject) => {
    outgoing.on('response', (incoming) => resolve(plainAnswer(incoming)));
    outgoing.on('upgrade', (incoming, socket, rest) => resolve(upgraded(incoming, socket, rest)));
    outgoing.on('error', reject);
  });
}

function plainAnswer(incoming: IncomingMessage): HttpsAnswer {
  const headers = Object.entries(incoming.headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  return { status: incoming.statusCode ?? 502, headers: Object.fromEntries(headers), chunks: incoming };
}

function upgraded(incoming: IncomingMessage, socket: Socket, rest: Buffer): Upgrade {
  const lines = [`HTTP/1.1 ${incoming.statusCode} ${incoming.statusMessage}`];
  for (let index = 0; index < incoming.rawHeaders.length; index += 2)
    lines.push(`${incoming.rawHeaders[index]}: ${incoming.rawHeaders[index + 1]}`);
  if (rest.length > 0) socket.unshift(rest);
  // What breaks it is told by the iteration.
  socket.on('error', () => undefined);
  return {
    head: `${lines.join('\r\n')}\r\n\r\n`,
    stream: {
      readable: socket as AsyncIterable<Uint8Array>,
      async write(bytes) {
        if (socket.destroyed || socket.writableEnded) throw new Error('the connection is over');
        if (!socket.write(bytes)) await Promise.race([once(socket, 'drain'), once(socket, 'close')]);
      },
      end: () =>
        new Promise((resolve) => {
          socket.end(resolve);
        }),
      dispose: () => socket.destroy(),
    },
  };
}
