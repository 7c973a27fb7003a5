import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '@sheaf/base';
import type { ApiResponse } from '../pipeline/api-request.ts';

/** A connection over which another protocol has been asked for; HTTP has let go of it. */
export interface UpgradingConnection {
  readonly incoming: IncomingMessage;
  readonly socket: Socket;
  /** What came after the request. */
  readonly head: Buffer;
}

export interface UpgradeOptions {
  readonly clock: Clock;
  /** Aborted when the server stops. */
  readonly signal: AbortSignal;
  /** Of the answer that accepts the upgrade. */
  readonly headers: ApiResponse['headers'];
  /** What is spoken inside. */
  readonly protocol: string | undefined;
}
