import { connect as connectTls, type TLSSocket } from 'node:tls';
import type { Answer, CloseStream, Connection, Request } from './connection.ts';
import { type AnswerSink, Http1Parser } from './http1-parser.ts';
import type { Target } from './kubeconfig.ts';
import { tlsOptions } from './tls-options.ts';

interface Waiting {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
}

/** A keep-alive HTTP/1.1 connection over a raw TLS socket: the least work per request that Node can do. */
export class Http1Connection implements Connection, AnswerSink {
  readonly #socket: TLSSocket;
  readonly #headers: string;
  readonly #parser: Http1Parser;
  #waiting: Waiting | undefined;
  #onChunk: ((chunk: Buffer) => void) | undefined;
  #onHead: ((status: number) => void) | undefined;
  #status = 0;
  #chunks: Buffer[] = [];

  private constructor(socket: TLSSocket, target: Target) {
    this.#socket = socket;
    this.#parser = new Http1Parser(this);
    const authorization = target.token === undefined ? '' : `authorization: Bearer ${target.token}\r\n`;
    this.#headers = `host: ${target.host}:${target.port}\r\nuser-agent: sheaf-bench/1\r\n${authorization}`;
    socket.on('data', (chunk: Buffer) => this.#parser.push(chunk));
    socket.on('error', (error) => this.#fail(error));
    socket.on('close', () => this.#fail(new Error('the server closed the connection')));
  }

  static open(target: Target): Promise<Http1Connection> {
    return new Promise((resolve, reject) => {
      const socket = connectTls({ ...tlsOptions(target), ALPNProtocols: ['http/1.1'] });
      socket.setNoDelay(true);
      socket.once('error', reject);
      socket.once('secureConnect', () => {
        socket.off('error', reject);
        resolve(new Http1Connection(socket, target));
      });
    });
  }

  request(request: Request): Promise<Answer> {
    if (this.#socket.destroyed || this.#socket.readableEnded)
      return Promise.reject(new Error('the server has closed this idle connection'));
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#send(request);
    });
  }

  stream(request: Request, onChunk: (chunk: Buffer) => void): Promise<CloseStream> {
    return new Promise((resolve, reject) => {
      this.#onChunk = onChunk;
      this.#waiting = { resolve: () => undefined, reject };
      this.#onHead = (status) => {
        if (status === 200) resolve(() => this.close());
        else reject(new Error(`the stream was refused with ${status}`));
      };
      this.#send(request);
    });
  }

  close(): void {
    this.#waiting = undefined;
    this.#socket.destroy();
  }

  head(status: number): void {
    this.#status = status;
    this.#onHead?.(status);
  }

  body(chunk: Buffer): void {
    if (this.#onChunk === undefined) this.#chunks.push(chunk);
    else this.#onChunk(chunk);
  }

  end(): void {
    const waiting = this.#waiting;
    const [first] = this.#chunks;
    const body = this.#chunks.length === 1 && first !== undefined ? first : Buffer.concat(this.#chunks);
    this.#chunks = [];
    this.#waiting = undefined;
    waiting?.resolve({ status: this.#status, body });
  }

  #send(request: Request): void {
    const body = request.body;
    const type =
      body === undefined
        ? ''
        : `content-type: ${request.contentType ?? 'application/json'}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`;
    this.#socket.write(
      `${request.method} ${request.path} HTTP/1.1\r\n${this.#headers}accept: ${request.accept ?? 'application/json'}\r\n${type}\r\n${body ?? ''}`,
    );
  }

  #fail(error: Error): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.reject(error);
  }
}
