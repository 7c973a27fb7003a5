import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ApiRequest, ApiResponse, UpgradeOffer } from '../pipeline/api-request.ts';
import { type IncomingBody, openStream, readStream } from './body-reader.ts';
import { Deadline } from './deadline.ts';
import type { Exchange, ExchangeSink } from './exchange.ts';
import { Http1Sink } from './http1-sink.ts';
import { LazyAbort } from './lazy-abort.ts';
import { clientCertificateOf } from './peer-certificate.ts';
import { withRepeatedHeaders } from './repeated-headers.ts';
import { splitUrl } from './split-url.ts';

const joinLimitBytes = 16 * 1024;

/** An exchange over HTTP/1.1. */
export class Http1Exchange implements Exchange {
  readonly request: ApiRequest;
  readonly #incoming: IncomingMessage;
  readonly #outgoing: ServerResponse;
  readonly #abort = new LazyAbort();
  #body: Promise<Uint8Array> | undefined;
  readonly deadline = new Deadline();

  /** `upgrade`: what the client offers, where the connection can become a WebSocket. */
  constructor(incoming: IncomingMessage, outgoing: ServerResponse, upgrade?: UpgradeOffer) {
    this.#incoming = incoming;
    this.#outgoing = outgoing;
    const { path, query } = splitUrl(incoming.url ?? '/');
    const certificate = clientCertificateOf(incoming.socket);
    const abort = this.#abort;
    this.request = {
      method: incoming.method ?? 'GET',
      path,
      query,
      headers: withRepeatedHeaders(incoming.headers, incoming.rawHeaders),
      get signal() {
        return abort.signal;
      },
      remoteAddress: incoming.socket.remoteAddress ?? '',
      readBody: (limitBytes) => this.#readBody(limitBytes),
      openBody: (limitBytes) => openStream(bodyOf(incoming), limitBytes, this.deadline),
      liftDeadline: () => this.deadline.lift(),
      ...(upgrade ? { upgrade } : {}),
      ...(certificate ? { clientCertificate: certificate } : {}),
    };
    outgoing.on('close', () => {
      if (!outgoing.writableFinished) this.abort(new Error('the client is gone'));
    });
  }

  get isGone(): boolean {
    return this.#outgoing.destroyed;
  }

  abort(reason: Error): void {
    this.#abort.abort(reason);
  }

  sendBytes(response: ApiResponse, body: Uint8Array): void {
    if (response.status !== 204) response.headers['content-length'] = String(body.length);
    this.#outgoing.writeHead(response.status, response.headers);
    // A short answer goes out as one piece with its head; text of single bytes is the form in which Node joins the two.
    if (body.length > 0 && body.length <= joinLimitBytes) this.#outgoing.end(asSingleBytes(body), 'latin1');
    else this.#outgoing.end(body);
    // An unread body would be taken for the next request.
    if (!this.#incoming.complete) this.#incoming.resume();
  }

  openStream(response: ApiResponse): ExchangeSink {
    const outgoing = this.#outgoing;
    outgoing.writeHead(response.status, response.headers);
    outgoing.flushHeaders();
    outgoing.socket?.setNoDelay(true);
    return new Http1Sink(outgoing);
  }

  #readBody(limitBytes: number | undefined): Promise<Uint8Array> {
    this.#body ??= readStream(bodyOf(this.#incoming), limitBytes);
    return this.#body;
  }
}

function bodyOf(incoming: IncomingMessage): IncomingBody {
  const declared = incoming.headers['content-length'];
  return { stream: incoming, length: declared === undefined ? undefined : Number(declared) };
}

function asSingleBytes(body: Uint8Array): string {
  return Buffer.from(body.buffer, body.byteOffset, body.length).toString('latin1');
}
