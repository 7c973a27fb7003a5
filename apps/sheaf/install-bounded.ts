import { type Clock, type Logger, toError } from '@sheaf/base';

export interface Bound {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly boundMs: number;
}

/** Makes what comes with the release before the first request. Never fails, and takes `boundMs` at most: controllers keep at it. */
export async function installBounded(
  { clock, logger, boundMs }: Bound,
  what: string,
  make: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const stop = new AbortController();
  const timer = clock.schedule(boundMs, () => stop.abort(new Error('the server starts without them')));
  try {
    await make(stop.signal);
  } catch (error) {
    logger.warn(`${what} could not be made`, { cause: toError(error) });
  } finally {
    timer.dispose();
  }
}
