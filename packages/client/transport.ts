import type { ByteStream, JsonValue } from '@sheaf/base';

/** One request as a transport carries it; bodies are JSON text. */
export interface ClientRequest {
  readonly method: string;
  /** Path with query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Instead of `body`, where the transport carries values. Nobody changes it. */
  readonly value?: JsonValue;
  /** Instead of `body`: sent as it comes, as fast as the server takes it. */
  readonly upload?: AsyncIterable<Uint8Array>;
  readonly signal?: AbortSignal;
}

export type ConnectRequest = Pick<ClientRequest, 'target' | 'headers' | 'signal'>;

export interface ClientResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The whole body. */
  text(): Promise<string>;
  /** The lines of a stream as they come; ends when the server ends it. */
  lines(): AsyncIterable<string>;
  /** What `text` says, where the transport carries values. Nobody changes it. */
  readonly value?: unknown;
  /** What `lines` say, each by itself. */
  values?(): AsyncIterable<unknown>;
}

/**
 * The way to an API server. In-process and HTTP transports behave alike: the same status codes, bodies and order of events.
 * @throws Error when the server cannot be reached or the signal aborts
 */
export interface Transport {
  /** Bodies go and come as the values that they are, not as text: the server is near, and neither side changes what it was given. */
  readonly carriesValues?: boolean;
  send(request: ClientRequest): Promise<ClientResponse>;
  /** Opens a two-way stream: a console, a screen, a port. @throws StatusError what the server refuses with */
  connect?(request: ConnectRequest): Promise<ByteStream>;
  /** A body as it comes, byte by byte: a picture, a log. @throws StatusError what the server refuses with */
  download?(request: ConnectRequest): Promise<AsyncIterable<Uint8Array>>;
  /** Ends connections; later requests fail. */
  close(): void;
}
