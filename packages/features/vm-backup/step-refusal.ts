import type { Waiting } from '@sheaf/api';
import { StatusError } from '@sheaf/base';

/** Why the server does not let something be done, which passes only when somebody changes something. Other failures are thrown. */
export async function refusalOf(act: () => Promise<void>): Promise<Waiting | undefined> {
  try {
    await act();
    return undefined;
  } catch (error) {
    const isRefused = StatusError.is(error, 'Invalid') || StatusError.is(error, 'Forbidden');
    if (!isRefused) throw error;
    return {
      reason: 'StepRefused',
      text: `The server does not let it go on: ${error.message}`,
      nature: 'fault',
      wayOut: 'change what stands against it; it is tried again by itself',
    };
  }
}
