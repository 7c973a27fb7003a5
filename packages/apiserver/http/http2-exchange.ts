import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import type { ApiRequest, ApiResponse } from '../pipeline/api-request.ts';
import { type IncomingBody, openStream, readStream } from './body-reader.ts';
import { Deadline } from './deadline.ts';
import { drained } from './drained.ts';
import type { Exchange, ExchangeSink } from './exchange.ts';
import { LazyAbort } from './lazy-abort.ts';
import { clientCertificateOf } from './peer-certificate.ts';
import { withRepeatedHeaders } from './repeated-headers.ts';
import { splitUrl } from './split-url.ts';

/** INTERNAL_ERROR of RFC 9113. */
const internalErrorCode = 2;
const methodsWithoutBody = new Set(['GET', 'HEAD']);

/** An exchange over one stream of an HTTP/2 connection. */
export class Http2Exchange implements Exchange {
  readonly request: ApiRequest;
  readonly #stream: ServerHttp2Stream;
  readonly deadline = new Deadline();
  readonly #abort = new LazyAbort();
  #body: Promise<Uint8Array> | undefined;

  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, rawHeaders: readonly string[]) {
    this.#stream = stream;
    const { path, query } = splitUrl(String(headers[':path'] ?? '/'));
    const socket = stream.session?.socket;
    const certificate = socket && clientCertificateOf(socket);
    const abort = this.#abort;
    this.request = {
      method: String(headers[':method'] ?? 'GET'),
      path,
      query,
      headers: withRepeatedHeaders(headers, rawHeaders),
      get signal() {
        return abort.signal;
      },
      remoteAddress: socket?.remoteAddress ?? '',
      readBody: (limitBytes) => this.#readBody(headers, limitBytes),
      openBody: (limitBytes) => openStream(bodyOf(stream, headers), limitBytes, this.deadline),
      liftDeadline: () => this.deadline.lift(),
      ...(certificate ? { clientCertificate: certificate } : {}),
    };
    stream.on('error', () => this.abort(new Error('the stream broke off')));
    stream.on('close', () => {
      if (!stream.writableFinished) this.abort(new Error('the client is gone'));
    });
  }

  get isGone(): boolean {
    return this.#stream.destroyed || this.#stream.closed;
  }

  abort(reason: Error): void {
    this.#abort.abort(reason);
  }

  sendBytes(response: ApiResponse, body: Uint8Array): void {
    const stream = this.#stream;
    stream.respond({
      ':status': response.status,
      ...response.headers,
      ...(response.status === 204 ? {} : { 'content-length': String(body.length) }),
    });
    stream.end(body);
    // A client that still sends a body nobody wants is told to stop.
    if (!stream.readableEnded) stream.resume();
  }

  openStream(response: ApiResponse): ExchangeSink {
    const stream = this.#stream;
    stream.respond({ ':status': response.status, ...response.headers });
    if (!stream.readableEnded) stream.resume();
    return {
      write: (chunk) => void (stream.writableEnded || stream.destroyed || stream.write(chunk)),
      get queuedBytes() {
        return stream.writableLength;
      },
      end: () => void (stream.destroyed || stream.end()),
      onClose: (listener) => void (stream.closed ? listener() : stream.on('close', listener)),
      drained: () => drained(stream),
      breakOff: () => stream.close(internalErrorCode),
    };
  }

  #readBody(headers: IncomingHttpHeaders, limitBytes: number | undefined): Promise<Uint8Array> {
    if (methodsWithoutBody.has(this.request.method)) return Promise.resolve(new Uint8Array());
    this.#body ??= readStream(bodyOf(this.#stream, headers), limitBytes);
    return this.#body;
  }
}

function bodyOf(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): IncomingBody {
  const declared = headers['content-length'];
  return { stream, length: declared === undefined ? undefined : Number(declared) };
}
