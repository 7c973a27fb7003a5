import type { Waiting } from '@sheaf/api';
import { StatusError } from '@sheaf/base';

/** Why a driver's refusal keeps an image waiting; `undefined`: it was no refusal but a failure. */
export function waitingOfRefusal(error: unknown): Waiting | undefined {
  if (!StatusError.is(error)) return undefined;
  const { message: text } = error;
  switch (error.reason) {
    case 'Forbidden':
      return { reason: 'InsufficientSpace', text, nature: 'transient' };
    case 'Conflict':
      return { reason: 'StorageBusy', text, nature: 'transient' };
    case 'NotFound':
      return { reason: 'SourceNotFound', text, nature: 'fault', wayOut: wayOut('from what is there') };
    case 'Invalid':
    case 'BadRequest':
      return { reason: 'OrderInvalid', text, nature: 'fault', wayOut: wayOut('as the message says') };
    default:
      return undefined;
  }
}

function wayOut(how: string): string {
  return `delete the image and make it ${how}`;
}
