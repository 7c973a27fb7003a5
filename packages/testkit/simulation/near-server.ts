import type { ClientRequest, ClientResponse } from '@sheaf/client';

/** A server that keeps values and answers what is read without waiting for anything. */
export interface NearServer {
  /** A GET that is no watch. */
  read(request: ClientRequest): ClientResponse;
  /** Tells what has happened since the version of the request, and from now on what happens, until it is stopped. */
  watch(request: ClientRequest, tell: (event: unknown) => void): NearWatch;
}

export interface NearWatch {
  readonly response: ClientResponse;
  readonly stop: () => void;
}
