import { type ClientHttp2Session, type ClientHttp2Stream, connect as connectHttp2 } from 'node:http2';
import type { Answer, CloseStream, Connection, Request } from './connection.ts';
import type { Target } from './kubeconfig.ts';
import { tlsOptions } from './tls-options.ts';

/** One HTTP/2 session with any number of concurrent requests, as Go clients use it. */
export class Http2Connection implements Connection {
  readonly #session: ClientHttp2Session;
  readonly #token: string | undefined;

  private constructor(session: ClientHttp2Session, target: Target) {
    this.#session = session;
    this.#token = target.token;
    session.on('error', () => session.destroy());
  }

  static open(target: Target): Promise<Http2Connection> {
    return new Promise((resolve, reject) => {
      const session = connectHttp2(`https://${target.host}:${target.port}`, {
        ...tlsOptions(target),
        settings: { initialWindowSize: 4 << 20 },
      });
      session.once('error', reject);
      session.once('connect', () => {
        session.off('error', reject);
        session.setLocalWindowSize(16 << 20);
        resolve(new Http2Connection(session, target));
      });
    });
  }

  request(request: Request): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const stream = this.#open(request);
      const chunks: Buffer[] = [];
      let status = 0;
      stream.on('response', (headers) => {
        status = headers[':status'] ?? 0;
      });
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => resolve({ status, body: Buffer.concat(chunks) }));
      stream.on('error', reject);
    });
  }

  stream(request: Request, onChunk: (chunk: Buffer) => void): Promise<CloseStream> {
    return new Promise((resolve, reject) => {
      const stream = this.#open(request);
      stream.on('response', (headers) => {
        if (headers[':status'] === 200) resolve(() => stream.close());
        else reject(new Error(`the stream was refused with ${headers[':status']}`));
      });
      stream.on('data', onChunk);
      stream.on('error', reject);
    });
  }

  close(): void {
    this.#session.destroy();
  }

  #open(request: Request): ClientHttp2Stream {
    const stream = this.#session.request({
      ':method': request.method,
      ':path': request.path,
      accept: request.accept ?? 'application/json',
      'user-agent': 'sheaf-bench/1',
      ...(this.#token === undefined ? {} : { authorization: `Bearer ${this.#token}` }),
      ...(request.body === undefined ? {} : { 'content-type': request.contentType ?? 'application/json' }),
    });
    stream.end(request.body);
    return stream;
  }
}
