import { goQuote } from './go-text.ts';

const canonical = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/;
const general = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:[.,]\d+)?(Z|([+-])(\d{2}):(\d{2}))$/;
const layout = '2006-01-02T15:04:05Z07:00';

/** True for a UTC time in whole seconds, as the server writes it. (Days 29 to 31 take the long way.) */
export function isCanonicalTime(text: string): boolean {
  return canonical.test(text);
}

/** An RFC 3339 time as UTC in whole seconds; nothing if it is none. */
export function readTime(text: string): string | undefined {
  const parts = general.exec(text);
  if (parts === null) return undefined;
  const milliseconds = toMilliseconds(parts);
  return milliseconds === undefined ? undefined : `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;
}

/** Milliseconds since 1970 of an RFC 3339 time; nothing if it is none. */
export function parseTime(text: string): number | undefined {
  const parts = general.exec(text);
  return parts === null ? undefined : toMilliseconds(parts);
}

function toMilliseconds(parts: RegExpExecArray): number | undefined {
  const read = (index: number): number => Number(parts[index]);
  const [year, month, day] = [read(1), read(2), read(3)];
  const [hour, minute, second] = [read(4), read(5), read(6)];
  const zone = zoneMinutes(parts);
  if (zone === undefined || !isDate(year, month, day)) return undefined;
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute - zone, second);
  return date.getTime();
}

function zoneMinutes(parts: RegExpExecArray): number | undefined {
  if (parts[7] === 'Z') return 0;
  const hours = Number(parts[9]);
  const minutes = Number(parts[10]);
  if (hours > 24 || minutes > 60) return undefined;
  return (parts[8] === '-' ? -1 : 1) * (hours * 60 + minutes);
}

/** Whether a day exists in the Gregorian calendar. */
export function isDate(year: number, month: number, day: number): boolean {
  if (month < 1 || month > 12 || day < 1) return false;
  const date = new Date(0);
  date.setUTCFullYear(year, month, 0);
  return day <= date.getUTCDate();
}

const wanted: readonly (readonly [RegExp, string])[] = [
  [/^\d{4}/, '2006'],
  [/^-/, '-'],
  [/^\d{2}/, '01'],
  [/^-/, '-'],
  [/^\d{2}/, '02'],
  [/^T/, 'T'],
  [/^\d{2}/, '15'],
  [/^:/, ':'],
  [/^\d{2}/, '04'],
  [/^:/, ':'],
  [/^\d{2}(?:[.,]\d+)?/, '05'],
  [/^(?:Z|[+-]\d{2}:\d{2})/, 'Z07:00'],
];

/** What is wrong with a text that is no RFC 3339 time. */
export function timeFault(text: string): string {
  let rest = text;
  for (const [pattern, part] of wanted) {
    const match = pattern.exec(rest);
    if (match === null) {
      return `parsing time ${goQuote(text)} as "${layout}": cannot parse ${goQuote(rest)} as "${part}"`;
    }
    rest = rest.slice(match[0].length);
  }
  const reason = rest === '' ? 'value out of range' : `extra text: ${goQuote(rest)}`;
  return `parsing time ${goQuote(text)}: ${reason}`;
}
