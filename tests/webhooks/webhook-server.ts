import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { JsonObject } from '@sheaf/base';

export type Respond = (review: JsonObject, response: ServerResponse, incoming: IncomingMessage) => void;

/** A webhook on the loopback, over TLS. */
export interface WebhookServer {
  readonly port: number;
  /** Connections that clients have made. */
  readonly connections: number;
  /** Replaced by each test. */
  respond: Respond;
  /** Ends idle connections, as servers do. */
  dropIdle(): void;
  close(): Promise<void>;
}

export async function startWebhookServer(tls: { key: string; cert: string }): Promise<WebhookServer> {
  let connections = 0;
  const state: { respond: Respond } = { respond: (_review, response) => response.end() };
  const server: Server = createServer({ ...tls, keepAlive: true }, (incoming, response) => {
    let text = '';
    incoming.setEncoding('utf8');
    incoming.on('data', (chunk: string) => (text += chunk));
    incoming.on('end', () => state.respond(JSON.parse(text) as JsonObject, response, incoming));
  });
  server.on('secureConnection', () => connections++);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return connections;
    },
    get respond() {
      return state.respond;
    },
    set respond(respond) {
      state.respond = respond;
    },
    dropIdle: () => server.closeIdleConnections(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Answers a review with `response`, whose uid is that of the request. */
export function answer(review: JsonObject, response: ServerResponse, fields: JsonObject): void {
  const { uid } = review['request'] as JsonObject;
  response.setHeader('content-type', 'application/json');
  response.end(
    JSON.stringify({
      apiVersion: review['apiVersion'],
      kind: review['kind'],
      response: { uid, ...fields },
    }),
  );
}
