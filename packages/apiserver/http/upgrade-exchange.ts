import type { IncomingMessage } from 'node:http';
import type { OwnUpgradeAnswer, UpgradeAnswer } from '@sheaf/api';
import type { Clock } from '@sheaf/base';
import type { ApiRequest, ApiResponse, UpgradeOffer } from '../pipeline/api-request.ts';
import { chooseProtocol, offerOf } from '../upgrade/protocols.ts';
import type { UpgradingConnection } from '../upgrade/upgrading-connection.ts';
import type { Deadline } from './deadline.ts';
import { drained } from './drained.ts';
import type { Exchange, ExchangeSink } from './exchange.ts';
import { Http1Exchange } from './http1-exchange.ts';

const { ServerResponse } = process.getBuiltinModule('node:http');

const keyForm = /^[+/0-9A-Za-z]{22}==$/;
/** Only these speak SPDY. */
const spdyPaths = /\/(exec|attach|portforward)(\?|$)/;

/** A right request for a WebSocket, or for SPDY where that is spoken. Whatever else asks for an upgrade is answered as if it had not. */
export function isUpgradeRequest(incoming: IncomingMessage): boolean {
  const asked = incoming.headers.upgrade?.toLowerCase();
  if (asked === 'websocket') return isForWebSocket(incoming);
  return asked === 'spdy/3.1' && isForSpdy(incoming);
}

function isForWebSocket({ method, headers }: IncomingMessage): boolean {
  const isRight =
    headers['sec-websocket-version'] === '13' && keyForm.test(headers['sec-websocket-key'] ?? '');
  return method === 'GET' && isRight;
}

function isForSpdy(incoming: IncomingMessage): boolean {
  const { method, url = '' } = incoming;
  return (method === 'POST' || method === 'GET') && !hasBody(incoming) && spdyPaths.test(url);
}

/** What follows the request would be taken for the other protocol. */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** An exchange whose connection may go over to another protocol. Any other answer ends the connection. */
export class UpgradeExchange implements Exchange {
  readonly request: ApiRequest;
  readonly deadline: Deadline;
  readonly #connection: UpgradingConnection;
  readonly #clock: Clock;
  readonly #plain: Http1Exchange;
  readonly #outgoing: InstanceType<typeof ServerResponse>;
  readonly #offer: UpgradeOffer;

  constructor(connection: UpgradingConnection, clock: Clock) {
    const { incoming, socket } = connection;
    this.#connection = connection;
    this.#clock = clock;
    this.#offer = offerOf(incoming.headers);
    this.#outgoing = new ServerResponse(incoming);
    this.#outgoing.shouldKeepAlive = false;
    this.#outgoing.assignSocket(socket);
    this.#outgoing.on('finish', () => socket.destroySoon());
    this.#plain = new Http1Exchange(incoming, this.#outgoing, this.#offer);
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
    this.#outgoing.detachSocket(this.#connection.socket);
    if (answer.kind === 'relay') {
      const { serveRelay } = await import('../upgrade/relay.ts');
      await serveRelay(this.#connection, answer, this.request);
    } else {
      await this.#speak(response, answer);
    }
    this.abort(new Error('the client is gone'));
  }

  async #speak(response: ApiResponse, answer: OwnUpgradeAnswer): Promise<void> {
    const options = {
      clock: this.#clock,
      signal: this.request.signal,
      headers: response.headers,
      protocol: chooseProtocol(answer.kind, this.#offer),
    };
    // Loaded by the first who needs it: most servers never do.
    if (this.#offer.via === 'websocket') {
      const { serveWebSocket } = await import('../upgrade/web-socket-server.ts');
      await serveWebSocket(this.#connection, answer, options);
    } else {
      const { serveSpdy } = await import('../upgrade/spdy-server.ts');
      await serveSpdy(this.#connection, answer, options);
    }
  }
}
