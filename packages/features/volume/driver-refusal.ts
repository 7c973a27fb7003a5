import type { Waiting } from '@sheaf/api';
import { StatusError } from '@sheaf/base';
import type { Progress } from '@sheaf/ports';

/** Why a driver's refusal keeps something waiting; `undefined`: it was no refusal but a failure. */
export function waitingOfRefusal(error: unknown): Waiting | undefined {
  if (!StatusError.is(error)) return undefined;
  const { text, wayOut } = split(error.message);
  switch (error.reason) {
    case 'Forbidden':
      return {
        reason: 'InsufficientSpace',
        text,
        nature: 'fault',
        wayOut: wayOut ?? 'remove volumes or add storage',
      };
    case 'Invalid':
      return {
        reason: 'VolumeInvalid',
        text,
        nature: 'fault',
        wayOut: wayOut ?? 'delete the claim and make another',
      };
    case 'NotFound':
      return {
        reason: 'ContentNotFound',
        text,
        nature: 'fault',
        wayOut: wayOut ?? 'delete the claim and make it from content that is there',
      };
    case 'Conflict':
      return { reason: 'VolumeInUse', text: error.message, nature: 'transient' };
    default:
      return undefined;
  }
}

/** Why a volume that is being made is not there yet; `undefined`: it is. */
export function waitingOfProgress(progress: Progress): Waiting | undefined {
  switch (progress.state) {
    case 'done':
      return undefined;
    case 'working':
      return {
        reason: 'Provisioning',
        text: `The volume is being made, ${progress.percent} %`,
        nature: 'transient',
      };
    case 'failed': {
      const { text, wayOut } = split(progress.message);
      if (progress.nature === 'transient') return { reason: 'ProvisioningFailed', text, nature: 'transient' };
      return {
        reason: 'ProvisioningFailed',
        text,
        nature: 'fault',
        wayOut: wayOut ?? 'delete the claim and make it again',
      };
    }
  }
}

/** Drivers say what is wrong, and after the last semicolon the way out. */
function split(message: string): { readonly text: string; readonly wayOut: string | undefined } {
  const end = message.lastIndexOf('; ');
  return end < 0
    ? { text: message, wayOut: undefined }
    : { text: message.slice(0, end), wayOut: message.slice(end + 2) };
}
