import { StatusError } from '@sheaf/base';

export function conflict(message: string, cause?: unknown): StatusError {
  return new StatusError({ reason: 'Conflict', message, cause });
}

export function notFound(message: string): StatusError {
  return new StatusError({ reason: 'NotFound', message });
}

export function invalid(message: string): StatusError {
  return new StatusError({ reason: 'Invalid', message });
}

export function diskFull(cause: unknown): StatusError {
  return new StatusError({
    reason: 'Forbidden',
    message: 'the disk is full; remove volumes, snapshots or images, or add storage, and try again',
    details: { causes: [{ reason: 'InsufficientSpace' }] },
    cause,
  });
}
