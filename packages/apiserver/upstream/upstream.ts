import type { ByteStream } from '@sheaf/base';

/** A server that this one calls on behalf of clients: an aggregated API server. */
export interface UpstreamTarget {
  readonly host: string;
  readonly port: number;
  /** The name its certificate must be for. */
  readonly serverName: string;
  /** PEM; `undefined` with `insecureSkipTlsVerify`. */
  readonly authority: string | undefined;
  readonly insecureSkipTlsVerify: boolean;
}

export interface UpstreamRequest {
  readonly method: string;
  /** Path with query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: Uint8Array;
  readonly signal: AbortSignal;
}

export interface UpstreamResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[]>>;
  /** The body as it comes. Stops when the signal of the request aborts. */
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** Calls servers over HTTPS, showing the front-proxy certificate. @throws Error when the server cannot be reached */
export interface Upstream {
  call(target: UpstreamTarget, request: UpstreamRequest): Promise<UpstreamResponse>;
}

/** Something behind the API that a client asks through it, as the API server finds it: a pod, or one of a Service's. */
export interface BackendTarget {
  /** Of HTTPS no certificate is looked at: pods have none that could be. */
  readonly scheme: 'http' | 'https';
  readonly host: string;
  readonly port: number;
}

export interface BackendRequest {
  readonly method: string;
  /** Path with query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: AsyncIterable<Uint8Array>;
  readonly signal: AbortSignal;
}

/** The server behind speaks something else from now on. */
export interface BackendUpgrade {
  /** Its answer, from its first line to the empty one. */
  readonly head: string;
  readonly stream: ByteStream;
}

/** Reaches pods and Services of this host for requests through `proxy`. @throws Error when it cannot be reached */
export interface BackendProxy {
  call(target: BackendTarget, request: BackendRequest): Promise<UpstreamResponse | BackendUpgrade>;
}
