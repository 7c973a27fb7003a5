import type { UpgradeAnswer } from '@sheaf/api';
import {
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
import type { UpgradingConnection } from './web-socket-exchange.ts';
import { chooseProtocol, offeredProtocols } from './web-socket-protocols.ts';

export interface WebSocketOptions {
  readonly clock: Clock;
  /** Aborted when the server stops. */
  readonly signal: AbortSignal;
  /** Of the answer that accepts the upgrade. */
  readonly headers: ApiResponse['headers'];
}

/** The largest message that a client may send; virtctl sends 32 KiB. */
const messageLimitBytes = 1024 * 1024;
/** How long what a client has sent before it went may take on its way. */
const lastWritesMs = 5000;

/** Accepts the upgrade and joins the WebSocket with the stream of the answer, until either ends. Never throws. */
export async function serveWebSocket(
  connection: UpgradingConnection,
  answer: UpgradeAnswer,
  options: WebSocketOptions,
): Promise<void> {
  const { name, frames } = chooseProtocol(answer.kind, offeredProtocols(connection.incoming));
  const socket = accept(connection, name, options.headers);
  if (!socket) return answer.stream.dispose();
  const alive = keepAlive(socket, options.clock);
  try {
    if (answer.kind === 'bytes') await join(new WebSocketStream(socket, frames), answer.stream, options);
    else await join(new WebSocketStream(socket, textFrames), answer.stream, options);
  } finally {
    alive.dispose();
  }
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
    handleProtocols: () => protocol ?? false,
  });
  server.on('headers', (lines) => {
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
  { clock, signal }: Pick<WebSocketOptions, 'clock' | 'signal'>,
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
