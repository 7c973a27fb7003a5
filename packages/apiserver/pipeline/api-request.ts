import type { UpgradeAnswer } from '@sheaf/api';
import type { Disposable } from '@sheaf/base';
import type { User } from '../authentication/user.ts';

/** One request, free of any transport: the HTTP edge and the in-process client make the same thing. */
export interface ApiRequest {
  readonly method: string;
  /** Path without query, percent-decoding not yet done. */
  readonly path: string;
  /** The raw query string without `?`. */
  readonly query: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The whole body; empty when there is none. @throws StatusError 413 beyond the limit, 3 MiB if it is not given */
  readBody(limitBytes?: number): Promise<Uint8Array>;
  /**
   * The body as it comes, instead of the whole: the sender goes as fast as the chunks are taken. The client must send something
   * within each minute. Absent: the body is in memory already. @throws StatusError 413 beyond the limit, 400 when the client breaks off
   */
  openBody?(limitBytes: number): AsyncIterable<Uint8Array>;
  /** Set when the client asks for another protocol that the connection can go over to. */
  readonly upgrade?: UpgradeOffer;
  /** From now on the request may take as long as it likes. */
  liftDeadline?(): void;
  /** Aborted when the client is gone, the deadline has passed, or the server stops. */
  readonly signal: AbortSignal;
  /** Set by the in-process transport, which is its own authentication; HTTP requests leave it to the authenticators. */
  readonly trustedUser?: User;
  readonly clientCertificate?: Uint8Array;
  readonly remoteAddress: string;
}

export interface UpgradeOffer {
  readonly via: 'websocket' | 'spdy';
  /** What is spoken inside, best first; a token that came as one is not among them. */
  readonly protocols: readonly string[];
}

export interface ApiResponse {
  readonly status: number;
  readonly headers: Record<string, string | string[]>;
  readonly body: ResponseBody;
}

export type ResponseBody =
  | { readonly kind: 'bytes'; readonly chunks: readonly Uint8Array[] }
  /** A stream that goes on until the returned Disposable is disposed (client gone) or the sink is ended. */
  | { readonly kind: 'stream'; start(sink: StreamSink): Disposable }
  /** Taken as fast as the client reads. A failure breaks the connection off. */
  | { readonly kind: 'pull'; readonly chunks: AsyncIterable<Uint8Array> }
  /** Only where the request offers an upgrade. Whoever gets this disposes the stream, and says when it is over. */
  | { readonly kind: 'upgrade'; readonly answer: UpgradeAnswer; readonly onEnd?: () => void };

export interface StreamSink {
  /** Queues one chunk. Chunks are shared between watchers and must not be changed. */
  write(chunk: Uint8Array): void;
  /** Bytes queued and not yet taken by the client: a watcher that is far behind is ended. */
  readonly queuedBytes: number;
  /** Ends the stream cleanly (EOF). */
  end(): void;
}

/** The API server as a function. */
export type ApiHandler = (request: ApiRequest) => Promise<ApiResponse>;
