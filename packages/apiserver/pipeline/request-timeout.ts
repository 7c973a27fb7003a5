import { badRequest } from '@sheaf/base';
import type { ApiRequest } from './api-request.ts';
import { isLongRunning } from './long-running.ts';

/** The longest that a short request may take, whatever its client says. */
export const longestRequestMs = 60_000;

const unitMs: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};
const number = String.raw`(?:\d{1,15}(?:\.\d{0,15})?|\.\d{1,15})`;
const durationForm = new RegExp(`^[+-]?(?:0|(?:${number}(?:ns|us|µs|μs|ms|s|m|h)){1,8})$`);
const partForm = new RegExp(`(${number})(ns|us|µs|μs|ms|s|m|h)`, 'g');

/**
 * How long a client gives a request (`?timeout=10s`, a duration as Go writes it), in milliseconds, never above the longest.
 * `undefined`: it does not say, or the request is long-running, which has no deadline. @throws StatusError 400
 */
export function requestTimeout(request: Pick<ApiRequest, 'path' | 'query'>): number | undefined {
  if (!request.query.includes('timeout=')) return undefined;
  const text = new URLSearchParams(request.query).get('timeout');
  if (text === null || text === '' || isLongRunning(request)) return undefined;
  const wanted = durationMs(text);
  if (wanted === undefined) {
    const isBare = /^[+-]?\d+(\.\d*)?$/.test(text);
    const detail = isBare
      ? `missing unit in duration ${JSON.stringify(text)}`
      : `invalid duration ${JSON.stringify(text)}`;
    throw badRequest(`invalid timeout specified in the request URL - time: ${detail}`);
  }
  return wanted > 0 ? Math.min(wanted, longestRequestMs) : longestRequestMs;
}

function durationMs(text: string): number | undefined {
  if (text.length > 128 || !durationForm.test(text)) return undefined;
  let total = 0;
  for (const [, amount = '', unit = ''] of text.matchAll(partForm))
    total += Number(amount) * (unitMs[unit] ?? 0);
  return text.startsWith('-') ? -total : total;
}
