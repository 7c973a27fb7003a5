import type { Server as Http1Server } from 'node:http';
import {
  createServer as createHttp2Server,
  type Http2Server,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import {
  createServer as createTlsServer,
  type SecureContextOptions,
  type Server as TlsServer,
} from 'node:tls';
import type { Clock } from '@sheaf/base';
import type { ApiHandler } from '../pipeline/api-request.ts';
import { isLongRunning } from '../pipeline/long-running.ts';
import { longestRequestMs, requestTimeout } from '../pipeline/request-timeout.ts';
import { type Exchange, serveExchange } from './exchange.ts';
import { Http1Exchange } from './http1-exchange.ts';
import { Http2Exchange } from './http2-exchange.ts';
import { isUpgradeRequest, UpgradeExchange } from './upgrade-exchange.ts';

export interface HttpServerOptions {
  readonly handler: ApiHandler;
  readonly clock: Clock;
  /** Key, certificate and the authorities that sign client certificates. */
  readonly tls: SecureContextOptions;
}

/** Importing the module would also load what it offers to clients (fetch, WebSocket): 15 MB and 50 ms. */
const { createServer: createHttp1Server } = process.getBuiltinModule('node:http');

const idleTimeoutMs = 90_000;
const headerTimeoutMs = 32_000;
const deadlineCheckMs = 1000;
const maxHeaderBytes = 1024 * 1024;
const streamsPerConnection = 250;
const streamWindowBytes = 256 * 1024;

/** HTTPS with HTTP/2 and HTTP/1.1 on one port, told apart by ALPN. */
export class HttpServer {
  readonly #options: HttpServerOptions;
  readonly #tls: TlsServer;
  readonly #http1: Http1Server;
  readonly #http2: Http2Server;
  readonly #sockets = new Set<Socket>();
  readonly #sessions = new Set<ServerHttp2Session>();
  readonly #open = new Set<Exchange>();
  #isWatchingDeadlines = false;

  constructor(options: HttpServerOptions) {
    this.#options = options;
    this.#http1 = createHttp1Server({
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: headerTimeoutMs,
      requestTimeout: 0,
      keepAliveTimeout: idleTimeoutMs,
      shouldUpgradeCallback: isUpgradeRequest,
    });
    this.#http1.on('upgrade', (incoming, socket, head) =>
      this.#serve(new UpgradeExchange({ incoming, socket: socket as Socket, head }, options.clock)),
    );
    this.#http1.on('request', (incoming, outgoing) => this.#serve(new Http1Exchange(incoming, outgoing)));
    this.#http2 = createHttp2Server({
      settings: { maxConcurrentStreams: streamsPerConnection, initialWindowSize: streamWindowBytes },
    });
    this.#http2.on('session', (session) => this.#keepSession(session));
    this.#http2.on('stream', (stream, headers, ...[, rawHeaders]) =>
      this.#serve(new Http2Exchange(stream as ServerHttp2Stream, headers, rawHeaders)),
    );
    this.#tls = createTlsServer({
      ...options.tls,
      ALPNProtocols: ['h2', 'http/1.1'],
      minVersion: 'TLSv1.2',
      requestCert: true,
      rejectUnauthorized: false,
      noDelay: true,
    });
    this.#tls.on('secureConnection', (socket) => this.#accept(socket, socket.alpnProtocol === 'h2'));
    // A client that breaks off its handshake is no fault of ours.
    this.#tls.on('tlsClientError', (_error, socket) => socket.destroy());
  }

  /** Resolves with the address in use. @throws Error with the system's code, e.g. EADDRINUSE */
  listen(host: string, port: number): Promise<AddressInfo> {
    return new Promise((resolve, reject) => {
      this.#tls.once('error', reject);
      this.#tls.listen(port, host, () => {
        this.#tls.off('error', reject);
        resolve(this.#tls.address() as AddressInfo);
      });
    });
  }

  /** New connections use another certificate from now on. */
  replaceTls(tls: SecureContextOptions): void {
    this.#tls.setSecureContext(tls);
  }

  /** Stops listening, ends streams cleanly, lets short requests finish for `graceMs`. */
  async close(graceMs: number): Promise<void> {
    const isClosed = new Promise<void>((resolve) => this.#tls.close(() => resolve()));
    for (const exchange of this.#open) exchange.abort(new Error('the server stops'));
    for (const session of this.#sessions) session.close();
    this.#http1.closeIdleConnections();
    const timer = this.#options.clock.schedule(graceMs, () => this.#cut());
    this.#cutWhenIdle();
    await isClosed;
    timer.dispose();
  }

  #cutWhenIdle(): void {
    if (this.#open.size === 0) this.#cut();
    else this.#options.clock.schedule(20, () => this.#cutWhenIdle());
  }

  #cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #accept(socket: Socket, isHttp2: boolean): void {
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    (isHttp2 ? this.#http2 : this.#http1).emit('connection', socket);
  }

  #keepSession(session: ServerHttp2Session): void {
    this.#sessions.add(session);
    session.on('close', () => this.#sessions.delete(session));
    session.on('error', () => session.destroy());
  }

  #serve(exchange: Exchange): void {
    const { clock, handler } = this.#options;
    if (!isLongRunning(exchange.request)) exchange.deadline.begin(clock, timeoutOf(exchange));
    this.#open.add(exchange);
    this.#watchDeadlines();
    void serveExchange(exchange, handler).finally(() => this.#open.delete(exchange));
  }

  /** One timer for all: a look at the open requests now and then costs less than a timer for each. */
  #watchDeadlines(): void {
    if (this.#isWatchingDeadlines) return;
    this.#isWatchingDeadlines = true;
    this.#options.clock.schedule(deadlineCheckMs, () => {
      this.#isWatchingDeadlines = false;
      const now = this.#options.clock.monotonic();
      for (const exchange of this.#open) {
        if (exchange.deadline.hasPassed(now))
          exchange.abort(new DOMException('the request took too long', 'TimeoutError'));
      }
      if (this.#open.size > 0) this.#watchDeadlines();
    });
  }
}

/** What cannot be read has no say here; the handler refuses it. */
function timeoutOf({ request }: Exchange): number {
  try {
    return requestTimeout(request) ?? longestRequestMs;
  } catch {
    return longestRequestMs;
  }
}
