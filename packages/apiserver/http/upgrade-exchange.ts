import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { UpgradeAnswer } from '@sheaf/api';
import type { Clock } from '@sheaf/base';
import type { ApiRequest, ApiResponse } from '../pipeline/api-request.ts';
import type { Deadline } from './deadline.ts';
import { drained } from './drained.ts';
import type { Exchange, ExchangeSink } from './exchange.ts';
import { Http1Exchange } from './http1-exchange.ts';
import { offeredProtocols } from './web-socket-protocols.ts';

/** A connection over which a WebSocket has been asked for; HTTP has let go of it. */
export interface UpgradingConnection {
  readonly incoming: IncomingMessage;
  readonly socket: Socket;
  /** What came after the request. */
  readonly head: Buffer;
}

const { ServerResponse } = process.getBuiltinModule('node:http');

const keyForm = /^[+/0-9A-Za-z]{22}==$/;

/** A right request for a WebSocket. Whatever else asks for an upgrade is answered as if it had not. */
export function isWebSocketRequest({ method, headers }: IncomingMessage): boolean {
  return (
    method === 'GET' &&
    headers.upgrade?.toLowerCase() === 'websocket' &&
    headers['sec-websocket-version'] === '13' &&
    keyForm.test(headers['sec-websocket-key'] ?? '')
  );
}

/** An exchange whose connection may become a WebSocket. Any other answer ends the connection. */
export class WebSocketExchange implements Exchange {
  readonly request: ApiRequest;
  readonly deadline: Deadline;
  readonly #connection: UpgradingConnection;
  readonly #clock: Clock;
  readonly #plain: Http1Exchange;
  readonly #outgoing: InstanceType<typeof ServerResponse>;

  constructor(connection: UpgradingConnection, clock: Clock) {
    const { incoming, socket } = connection;
    this.#connection = connection;
    this.#clock = clock;
    this.#outgoing = new ServerResponse(incoming);
    this.#outgoing.shouldKeepAlive = false;
    this.#outgoing.assignSocket(socket);
    this.#outgoing.on('finish', () => socket.destroySoon());
    this.#plain = new Http1Exchange(incoming, this.#outgoing, { protocols: offeredProtocols(incoming) });
    this.request = this.#plain.request;
    this.deadline = this.#plain.deadline;
  }

  get isGone(): boolean {
    return this.#plain.isGone;
  }

  abort(reason: Error): void {
    this.#plain.abort(reason);
  }

  sendBytes(response: ApiResponse, body: Uint8Array): void {
    this.#plain.sendBytes(response, body);
  }

  openStream(response: ApiResponse): ExchangeSink {
    const { socket } = this.#connection;
    // The server of HTTP has let go of the socket, so the answer does not hear of it any more.
    return Object.assign(this.#plain.openStream(response), { drained: () => drained(socket) });
  }

  async upgrade(response: ApiResponse, answer: UpgradeAnswer): Promise<void> {
    // Loaded by the first who needs it: most servers never do.
    const { serveWebSocket } = await import('./web-socket-server.ts');
    this.#outgoing.detachSocket(this.#connection.socket);
    await serveWebSocket(this.#connection, answer, {
      clock: this.#clock,
      signal: this.request.signal,
      headers: response.headers,
    });
    this.abort(new Error('the client is gone'));
  }
}
