import { failure } from './failure.ts';
import { Uint } from './value.ts';

export const maxInt64 = 2n ** 63n - 1n;
export const minInt64 = -(2n ** 63n);
export const maxUint64 = 2n ** 64n - 1n;

/** `value` if it is an int64; fails with `integer overflow` if not. */
export function int64(value: bigint, message = 'integer overflow'): bigint {
  if (value > maxInt64 || value < minInt64) throw failure(message);
  return value;
}

/** A uint64; fails with `unsigned integer overflow`. */
export function uint64(value: bigint, message = 'unsigned integer overflow'): Uint {
  if (value > maxUint64 || value < 0n) throw failure(message);
  return new Uint(value);
}

/** A double as CEL prints it: the shortest text that reads back, in the notation of Go's %g. */
export function formatDouble(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  if (Object.is(value, -0)) return '-0';
  const magnitude = Math.abs(value);
  if (magnitude !== 0 && (magnitude < 1e-4 || magnitude >= 1e6)) return exponentForm(value);
  return value.toString();
}

function exponentForm(value: number): string {
  const [mantissa = '', exponent = '0'] = value.toExponential().split('e');
  const digits = exponent.slice(1).padStart(2, '0');
  return `${mantissa}e${exponent.startsWith('-') ? '-' : '+'}${digits}`;
}

const doubleText = /^[+-]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const specialText = /^[+-]?(?:inf|infinity|nan)$/i;

/** Reads a double as Go's ParseFloat does; `undefined` if the text is none. */
export function parseDouble(text: string): number | undefined {
  if (specialText.test(text)) return specialDouble(text.toLowerCase());
  if (!doubleText.test(text) || text.includes('_')) return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value : undefined;
}

function specialDouble(text: string): number {
  if (text.endsWith('nan')) return Number.NaN;
  return text.startsWith('-') ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}

/** Reads a decimal integer as Go's ParseInt does; `undefined` if the text is none or out of int64. */
export function parseInt64(text: string): bigint | undefined {
  if (!/^[+-]?\d{1,40}$/.test(text)) return undefined;
  const value = BigInt(text.startsWith('+') ? text.slice(1) : text);
  return value > maxInt64 || value < minInt64 ? undefined : value;
}

export function parseUint64(text: string): bigint | undefined {
  if (!/^\d{1,40}$/.test(text)) return undefined;
  const value = BigInt(text);
  return value > maxUint64 ? undefined : value;
}

const maxDecimals: number = 100;

/** A finite double with a fixed number of decimals; ties go to the even digit, as in Go. */
export function fixedText(value: number, decimals: number): string {
  const digits = Math.min(decimals, maxDecimals);
  if (Math.abs(value) >= 1e21) {
    const whole = BigInt(value).toString();
    return digits === 0 ? whole : `${whole}.${'0'.repeat(digits)}`;
  }
  const exact = value.toFixed(maxDecimals);
  const end = exact.length - maxDecimals + digits;
  const rest = exact.slice(end);
  const isTie = /^\.?50*$/.test(rest) && digits < maxDecimals;
  const kept = exact.slice(0, end).replace(/\.$/, '');
  return isTie && Number(kept.at(-1)) % 2 === 0 ? kept : value.toFixed(digits);
}
