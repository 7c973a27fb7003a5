import { createServer as createPlainServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

export interface Served {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
}

/** What a request is answered with; `undefined`: it is never answered. */
export type Answer = (request: IncomingMessage, body: Buffer) => Served | undefined;

export interface ChartServerOptions {
  readonly answer: Answer;
  readonly tls?: { readonly key: string; readonly cert: string };
  /** Whom it answers; without it, everybody. */
  readonly login?: { readonly username: string; readonly password: string };
}

/** A server on the loopback that charts come from. */
export class ChartServer {
  readonly #server: ReturnType<typeof createPlainServer>;
  readonly #isSecured: boolean;

  private constructor({ tls, ...options }: ChartServerOptions) {
    const handle = (request: IncomingMessage, response: ServerResponse): void => {
      void serve(request, response, options);
    };
    this.#isSecured = tls !== undefined;
    this.#server = tls ? createTlsServer(tls, handle) : createPlainServer(handle);
  }

  static async start(options: ChartServerOptions): Promise<ChartServer> {
    const server = new ChartServer(options);
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  /** `HOST:PORT` */
  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get url(): string {
    return `${this.#isSecured ? 'https' : 'http'}://${this.host}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  { answer, login }: ChartServerOptions,
): Promise<void> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const served = isLetIn(request, login) ? answer(request, Buffer.concat(parts)) : refused;
  if (!served) return;
  response.writeHead(served.status ?? 200, served.headers);
  response.end(request.method === 'HEAD' ? undefined : served.body);
}

const refused: Served = { status: 401, headers: { 'www-authenticate': 'Basic realm="charts"' }, body: 'no' };

function isLetIn({ headers }: IncomingMessage, login: ChartServerOptions['login']): boolean {
  if (!login) return true;
  const wanted = Buffer.from(`${login.username}:${login.password}`).toString('base64');
  return headers.authorization === `Basic ${wanted}`;
}

/** A repository of charts with one chart, whose archive is at `address`, here or elsewhere. */
export function repository(archive: Uint8Array, address = 'small-1.0.0.tgz'): Answer {
  const entry = { apiVersion: 'v2', name: 'small', version: '1.0.0', urls: [address] };
  const index = JSON.stringify({ apiVersion: 'v1', entries: { small: [entry] } });
  return ({ url = '' }) => {
    if (url.endsWith('/index.yaml')) return { body: index };
    return url.endsWith('/small-1.0.0.tgz') ? { body: archive } : { status: 404, body: 'not found' };
  };
}
