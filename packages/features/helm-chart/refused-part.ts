import type { Waiting } from '@sheaf/api';
import { StatusError } from '@sheaf/base';

const tooLarge = /too long|too large/i;

/**
 * What the server says to what an operation works with: a quota, a policy, a webhook or a limit stands in its way. `undefined`: the
 * same may be taken soon, or it was no answer.
 */
export function refusedPart(error: unknown): Waiting | undefined {
  if (!StatusError.is(error)) return undefined;
  const { code, reason, message } = error;
  const isPassing = reason === 'Conflict' || reason === 'NotFound' || reason === 'TooManyRequests';
  const text = `what its operation works with is refused: ${message}`;
  if (code >= 400 && code < 500 && !isPassing)
    return { reason: 'OperationRefused', text, nature: 'fault', wayOut: wayOutOf(message) };
  if (!message.includes('webhook')) return undefined;
  return { reason: 'OperationRefused', text, nature: 'transient', wayOut: 'mend the webhook that it names' };
}

function wayOutOf(message: string): string {
  if (message.includes('chart-content-') && tooLarge.test(message))
    return 'name the chart by repo and chart instead of chartContent; a bundle brings it without a network: sheaf bundle create FILE --chart ARCHIVE --repo REPO';
  if (message.includes('chart-values-') && tooLarge.test(message))
    return 'shorten its values: with those of its HelmChartConfig they may have 1 MiB, as a Secret holds them';
  return message.includes(' is invalid: ')
    ? 'correct what it names'
    : 'take away what refuses it: a quota, a policy, a webhook';
}
