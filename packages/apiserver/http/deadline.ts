import type { Clock } from '@sheaf/base';
import { longestRequestMs } from '../pipeline/request-timeout.ts';

/**
 * How long an exchange may take. The server begins it; the request may lift it. A body that is taken as it comes has its own: the
 * client must send something within each such time, but how long its taker needs in between is not the client's fault.
 */
export class Deadline {
  #clock: Clock | undefined;
  #isLifted = false;
  #at = Number.POSITIVE_INFINITY;

  begin(clock: Clock, milliseconds: number): void {
    this.#clock = clock;
    this.#at = clock.monotonic() + milliseconds;
  }

  lift(): void {
    this.#isLifted = true;
    this.#at = Number.POSITIVE_INFINITY;
  }

  /** The client is to send. */
  awaitClient(): void {
    if (this.#clock) this.#at = this.#clock.monotonic() + longestRequestMs;
  }

  /** It has sent, or is done. */
  clientSent(): void {
    if (this.#isLifted) this.#at = Number.POSITIVE_INFINITY;
    else this.awaitClient();
  }

  hasPassed(now: number): boolean {
    return this.#at <= now;
  }
}
