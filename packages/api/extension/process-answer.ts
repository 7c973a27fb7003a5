import type { ByteStream, Disposable, StatusError } from '@sheaf/base';

export interface ProcessStreams {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly terminal: boolean;
}

/**
 * The connection becomes that of a process: `pods/exec`, `pods/attach`. The streams travel side by side, over a WebSocket
 * (`v5.channel.k8s.io` and those before) or over SPDY/3.1, with an own one for how it ended.
 */
export interface ProcessAnswer {
  readonly kind: 'process';
  /** What the client has asked for. Others are neither taken nor given. */
  readonly streams: ProcessStreams;
  /**
   * Called at most once, when the client's streams are there; so nothing begins for a client that never comes. Owned by the server
   * from then on, which disposes it. @throws StatusError told as how it ended
   */
  open(signal: AbortSignal): Promise<RemoteProcess>;
}

/** `dispose` lets go of it. */
export interface RemoteProcess extends Disposable {
  /** Read once. Nothing is taken in while nobody reads. */
  readonly output: AsyncIterable<{ readonly stream: 'stdout' | 'stderr'; readonly bytes: Uint8Array }>;
  /** Resolves when more may be written. @throws Error when it takes no more */
  write(bytes: Uint8Array): Promise<void>;
  endInput(): Promise<void>;
  /** Of its terminal, in characters. */
  resize(size: { readonly columns: number; readonly rows: number }): Promise<void>;
  /** Asked after the end of the output: `undefined` for success, else what the client is told. */
  outcome(signal: AbortSignal): Promise<StatusError | undefined>;
}

/**
 * The connection carries any number of connections to ports: `pods/portforward`, over SPDY/3.1, over SPDY in a WebSocket
 * (`SPDY/3.1+portforward.k8s.io`), or over a WebSocket with one connection for each port (`v4.channel.k8s.io`).
 */
export interface PortsAnswer {
  readonly kind: 'ports';
  /** What the request names. Clients that speak SPDY name the port of each connection instead. */
  readonly ports: readonly number[];
  /** Owned by the server from then on. @throws StatusError the client is told its words, for this connection alone */
  open(port: number, signal: AbortSignal): Promise<ByteStream>;
}
