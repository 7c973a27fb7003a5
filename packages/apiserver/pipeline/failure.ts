import { StatusError, toError } from '@sheaf/base';
import { RevisionCompacted, StoreFault } from '@sheaf/store';

/** The one place where unknown failures become answers. */
export function asStatusError(thrown: unknown): StatusError {
  if (StatusError.is(thrown)) return thrown;
  const error = toError(thrown);
  if (error instanceof RevisionCompacted)
    return new StatusError({ reason: 'Expired', message: error.message, cause: error });
  if (error instanceof StoreFault) {
    return new StatusError({
      reason: 'InternalError',
      message: `Internal error occurred: ${error.message}. ${error.wayOut}`,
      cause: error,
    });
  }
  if (error.name === 'AbortError' || error.name === 'TimeoutError') {
    return new StatusError({
      reason: 'Timeout',
      message: 'Timeout: request did not complete within the allotted time',
      cause: error,
    });
  }
  return new StatusError({
    reason: 'InternalError',
    message: `Internal error occurred: ${error.message}`,
    cause: error,
  });
}
