import { Http1Connection } from './http1-connection.ts';
import { Http2Connection } from './http2-connection.ts';
import type { Target } from './kubeconfig.ts';

export type Protocol = 'http/1.1' | 'h2';

export interface Request {
  readonly method: string;
  readonly path: string;
  readonly accept?: string;
  readonly contentType?: string;
  readonly body?: string;
}

export interface Answer {
  readonly status: number;
  readonly body: Buffer;
}

/** Ends a stream that `stream` has opened. */
export type CloseStream = () => void;

/**
 * One TLS connection to an API server. HTTP/1.1 carries one request at a time; HTTP/2 carries as many as wanted. `stream` is
 * for watches: it resolves once the answer's head has come, then gives each piece of the body to `onChunk`.
 */
export interface Connection {
  request(request: Request): Promise<Answer>;
  stream(request: Request, onChunk: (chunk: Buffer) => void): Promise<CloseStream>;
  close(): void;
}

export function connect(target: Target, protocol: Protocol): Promise<Connection> {
  return protocol === 'h2' ? Http2Connection.open(target) : Http1Connection.open(target);
}
