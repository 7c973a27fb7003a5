import type { StatusError } from '@sheaf/base';

/**
 * How a process ended, as the error stream of a protocol says it: as a Status since version 4, before that in words, and nothing
 * where all is well.
 */
export function outcomeText(outcome: StatusError | undefined, protocol: string | undefined): string {
  const hasStatus = /^v[45]\./.test(protocol ?? '');
  if (!hasStatus) return outcome?.message ?? '';
  const status = outcome?.toStatus() ?? { metadata: {}, status: 'Success' };
  return JSON.stringify(status);
}
