import { badRequest, StatusError } from '@sheaf/base';

export function conflict(message: string): StatusError {
  return new StatusError({ reason: 'Conflict', message });
}

export function notFound(message: string): StatusError {
  return new StatusError({ reason: 'NotFound', message });
}

export function invalid(message: string): StatusError {
  return new StatusError({ reason: 'Invalid', message });
}

export function noRoom(what: string, needed: number, left: number): StatusError {
  return new StatusError({
    reason: 'Forbidden',
    message: `${what} needs ${needed} bytes, but only ${Math.max(0, left)} can be given; remove volumes, snapshots or images`,
    details: { causes: [{ reason: 'InsufficientSpace' }] },
  });
}

/** The same ids as where they become file names. */
export function checkId(id: string): void {
  if (!/^[a-zA-Z0-9][a-zA-Z0-9._-]{0,79}$/.test(id)) throw badRequest(`"${id}" is no id`);
}
