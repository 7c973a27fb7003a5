import type { OwnUpgradeAnswer, StreamAnswer } from '@sheaf/api';
import {
  binaryFrames,
  type Clock,
  closeCodes,
  copyStream,
  type DuplexStream,
  textFrames,
  toError,
  WebSocketStream,
} from '@sheaf/base';
import { type WebSocket, WebSocketServer } from 'ws';
import type { ApiResponse } from '../pipeline/api-request.ts';
import { keepAlive } from './keep-alive.ts';
import { framesOf } from './protocols.ts';
import type { UpgradeOptions, UpgradingConnection } from './upgrading-connection.ts';

/** The largest message that a client may send; virtctl sends 32 KiB. */
const messageLimitBytes = 1024 * 1024;
/** How long what a client has sent before it went may take on its way. */
const lastWritesMs = 5000;

/** Accepts the upgrade and joins the WebSocket with the answer, until either ends. Never throws. */
export async function serveWebSocket(
  connection: UpgradingConnection,
  answer: OwnUpgradeAnswer,
  options: UpgradeOptions,
): Promise<void> {
  const socket = accept(connection, options.protocol, options.headers);
  if (!socket) return letGo(answer);
  const alive = keepAlive(socket, options.clock);
  try {
    await serve(socket, answer, options);
  } finally {
    alive.dispose();
  }
}

function letGo(answer: OwnUpgradeAnswer): void {
  if (answer.kind === 'bytes' || answer.kind === 'messages') answer.stream.dispose();
}

/** What most servers never need is loaded by the first who does. */
async function serve(socket: WebSocket, answer: OwnUpgradeAnswer, options: UpgradeOptions): Promise<void> {
  switch (answer.kind) {
    case 'bytes':
    case 'messages':
      return await joinStream(socket, answer, options);
    case 'process': {
      const { serveProcess } = await import('./web-socket-process.ts');
      return await serveProcess(socket, answer, options);
    }
    case 'ports': {
      if (options.protocol?.startsWith('SPDY/3.1+') === true) {
        const { servePorts } = await import('./spdy-ports.ts');
        return await servePorts(new WebSocketStream(socket, binaryFrames), answer, options);
      }
      const { serveFixedPorts } = await import('./web-socket-ports.ts');
      return await serveFixedPorts(socket, answer, options);
    }
  }
}

async function joinStream(socket: WebSocket, answer: StreamAnswer, options: UpgradeOptions): Promise<void> {
  if (answer.kind === 'messages')
    return await join(new WebSocketStream(socket, textFrames), answer.stream, options);
  await join(new WebSocketStream(socket, framesOf(options.protocol)), answer.stream, options);
}

/** `undefined`: the client is gone already. */
function accept(
  { incoming, socket, head }: UpgradingConnection,
  protocol: string | undefined,
  headers: ApiResponse['headers'],
): WebSocket | undefined {
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: messageLimitBytes,
  });
  // What is spoken is agreed on already, and ws refuses names with a slash, such as that of SPDY in a WebSocket.
  delete incoming.headers['sec-websocket-protocol'];
  server.on('headers', (lines) => {
    if (protocol !== undefined) lines.push(`Sec-WebSocket-Protocol: ${protocol}`);
    for (const [name, value] of Object.entries(headers))
      for (const text of [value].flat()) lines.push(`${name}: ${text}`);
  });
  let accepted: WebSocket | undefined;
  server.handleUpgrade(incoming, socket, head, (made) => {
    accepted = made;
  });
  return accepted;
}

async function join<T>(
  client: WebSocketStream<T>,
  stream: DuplexStream<T>,
  { clock, signal }: Pick<UpgradeOptions, 'clock' | 'signal'>,
): Promise<void> {
  const onStop = (): void => client.fail(closeCodes.goingAway, 'the server stops');
  signal.addEventListener('abort', onStop, { once: true });
  if (signal.aborted) onStop();
  const fail = (thrown: unknown): void => client.fail(closeCodes.failed, toError(thrown).message);
  void copyStream(stream, client).then(() => client.end(), fail);
  const inward = copyStream(client, stream).catch(fail);
  await client.closed;
  signal.removeEventListener('abort', onStop);
  // What the client has sent before it went is still written, if the other side takes it.
  await Promise.race([inward, passed(clock, lastWritesMs)]);
  stream.dispose();
}

function passed(clock: Clock, milliseconds: number): Promise<void> {
  return new Promise((resolve) => void clock.schedule(milliseconds, resolve));
}
