import { maxInt64, minInt64 } from './number.ts';
import { Duration, Timestamp } from './value.ts';

const second = 1_000_000_000n;
const minTimestamp = -62_135_596_800n * second;
const maxTimestamp = 253_402_300_800n * second - 1n;

const units: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1000n,
  µs: 1000n,
  μs: 1000n,
  ms: 1_000_000n,
  s: second,
  m: 60n * second,
  h: 3600n * second,
};

const durationPart = /(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/y;

/** Reads a duration as Go does, e.g. `1h30m`; `undefined` if the text is none or does not fit into int64. */
export function parseDuration(text: string): Duration | undefined {
  const negative = text.startsWith('-');
  const body = negative || text.startsWith('+') ? text.slice(1) : text;
  if (body === '0') return new Duration(0n);
  if (body === '' || body.length > 200) return undefined;
  const total = sumParts(body);
  if (total === undefined || total > maxInt64 + (negative ? 1n : 0n)) return undefined;
  return new Duration(negative ? -total : total);
}

function sumParts(body: string): bigint | undefined {
  let total = 0n;
  let position = 0;
  while (position < body.length) {
    durationPart.lastIndex = position;
    const match = durationPart.exec(body);
    if (!match) return undefined;
    const [all, whole = '', fraction = '', unit = ''] = match;
    if (whole === '' && fraction === '') return undefined;
    const scale = units[unit] ?? 0n;
    total += BigInt(whole || '0') * scale + fractionOf(fraction, scale);
    position += all.length;
  }
  return total;
}

function fractionOf(digits: string, scale: bigint): bigint {
  if (digits === '') return 0n;
  const kept = digits.slice(0, 18);
  return (BigInt(kept) * scale) / 10n ** BigInt(kept.length);
}

/** A duration as CEL's `string()` writes it: decimal seconds with the suffix `s`. */
export function formatDuration(value: Duration): string {
  return `${secondsText(value.nanos)}s`;
}

/** Nanoseconds as decimal seconds without trailing zeros. */
export function secondsText(nanos: bigint): string {
  const sign = nanos < 0n ? '-' : '';
  const magnitude = nanos < 0n ? -nanos : nanos;
  const fraction = (magnitude % second).toString().padStart(9, '0').replace(/0+$/, '');
  return `${sign}${magnitude / second}${fraction ? `.${fraction}` : ''}`;
}

const timestampText =
  /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:[.,](\d{1,40}))?(Z|[+-]\d{2}:\d{2})$/;

/** Reads RFC 3339; `undefined` if the text is none or out of range. */
export function parseTimestamp(text: string): Timestamp | undefined {
  const match = text.length > 80 ? null : timestampText.exec(text);
  if (!match) return undefined;
  const seconds = secondsOf(match);
  if (seconds === undefined) return undefined;
  const fraction = BigInt((match[7] ?? '').slice(0, 9).padEnd(9, '0'));
  const offset = zoneSeconds(match[8] ?? 'Z');
  return timestampOf(BigInt(seconds - offset) * second + fraction, offset);
}

/** A timestamp within its range, or `undefined`. */
export function timestampOf(nanos: bigint, offset = 0): Timestamp | undefined {
  return nanos < minTimestamp || nanos > maxTimestamp ? undefined : new Timestamp(nanos, offset);
}

/** A duration within int64, or `undefined`. */
export function durationOf(nanos: bigint): Duration | undefined {
  return nanos < minInt64 || nanos > maxInt64 ? undefined : new Duration(nanos);
}

function secondsOf(match: RegExpExecArray): number | undefined {
  const [, year, month, day, hour, minute, secondText] = match.map(Number);
  const inRange = [within(month, 1, 12), within(day, 1, 31), within(hour, 0, 23), within(minute, 0, 59)];
  if (inRange.includes(false) || !within(secondText, 0, 59)) return undefined;
  return civilSeconds([year ?? 0, month ?? 0, day ?? 0, hour ?? 0, minute ?? 0, secondText ?? 0]);
}

function within(value: number | undefined, low: number, high: number): boolean {
  return value !== undefined && value >= low && value <= high;
}

function civilSeconds(parts: readonly [number, number, number, number, number, number]): number | undefined {
  const [year, month, day, hour, minute, seconds] = parts;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1) return undefined;
  return date.getTime() / 1000 + hour * 3600 + minute * 60 + seconds;
}

function zoneSeconds(zone: string): number {
  if (zone === 'Z') return 0;
  const sign = zone.startsWith('-') ? -1 : 1;
  return sign * (Number(zone.slice(1, 3)) * 3600 + Number(zone.slice(4, 6)) * 60);
}

/** RFC 3339 with the fraction it needs, in the zone in which the timestamp was given. */
export function formatTimestamp(value: Timestamp): string {
  const seconds = floorDivide(value.nanos, second);
  const fraction = (value.nanos - seconds * second).toString().padStart(9, '0').replace(/0+$/, '');
  const text = new Date((Number(seconds) + value.offset) * 1000).toISOString().slice(0, 19);
  return `${text}${fraction ? `.${fraction}` : ''}${zoneText(value.offset)}`;
}

function zoneText(offset: number): string {
  if (offset === 0) return 'Z';
  const minutes = Math.floor(Math.abs(offset) / 60);
  const [hour, minute] = [Math.floor(minutes / 60), minutes % 60].map((part) =>
    String(part).padStart(2, '0'),
  );
  return `${offset < 0 ? '-' : '+'}${hour}:${minute}`;
}

/** Division that rounds down. */
export function floorDivide(value: bigint, divisor: bigint): bigint {
  const quotient = value / divisor;
  return value % divisor < 0n ? quotient - 1n : quotient;
}

const datePattern = /^\d{4}-\d{2}-\d{2}$/;

/** A `date` (2020-01-31) as midnight UTC. */
export function parseDate(text: string): Timestamp | undefined {
  return datePattern.test(text) ? parseTimestamp(`${text}T00:00:00Z`) : undefined;
}
