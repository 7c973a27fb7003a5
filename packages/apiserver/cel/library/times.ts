import { durationType, intType, stringType, timestampType } from '../checker/type.ts';
import { failure } from '../values/failure.ts';
import { floorDivide } from '../values/time.ts';
import type { Timestamp } from '../values/value.ts';
import { method, type Overload } from './overload.ts';

const milli = 1_000_000n;

/** A moment in a time zone, as a Date whose UTC fields are the local ones. */
function local(value: Timestamp, zone: string): Date {
  const millis = Number(floorDivide(value.nanos, milli));
  return new Date(millis + zoneOffset(zone, millis));
}

const fixedZone = /^([+-]?)(\d{1,2}):(\d{2})$/;

function zoneOffset(zone: string, millis: number): number {
  if (zone === '' || zone === 'UTC') return 0;
  const fixed = fixedZone.exec(zone);
  if (fixed) return (fixed[1] === '-' ? -1 : 1) * (Number(fixed[2]) * 60 + Number(fixed[3])) * 60_000;
  return namedOffset(zone, millis);
}

const formats = new Map<string, Intl.DateTimeFormat>();

function zoneFormat(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known) return known;
  try {
    const made = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      era: 'short',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    formats.set(zone, made);
    return made;
  } catch (cause) {
    throw Object.assign(failure(`unknown time zone ${zone}`), { cause });
  }
}

function namedOffset(zone: string, millis: number): number {
  const parts = Object.fromEntries(
    zoneFormat(zone)
      .formatToParts(millis)
      .map((part) => [part.type, part.value]),
  );
  const numbers = ['year', 'month', 'day', 'hour', 'minute', 'second'].map((name) => Number(parts[name]));
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, seconds = 0] = numbers;
  const shown = new Date(0);
  shown.setUTCFullYear(year, month - 1, day);
  shown.setUTCHours(hour, minute, seconds, 0);
  return shown.getTime() - Math.floor(millis / 1000) * 1000;
}

function accessor(read: (date: Date) => number): Overload[] {
  return [
    method({ params: [timestampType], result: intType, call: (value) => BigInt(read(local(value, 'UTC'))) }),
    method({
      params: [timestampType, stringType],
      result: intType,
      call: (value, zone) => BigInt(read(local(value, zone))),
    }),
  ];
}

function ofDuration(nanosPerUnit: bigint): Overload {
  return method({ params: [durationType], result: intType, call: (value) => value.nanos / nanosPerUnit });
}

function dayOfYear(date: Date): number {
  const start = new Date(0);
  start.setUTCFullYear(date.getUTCFullYear(), 0, 1);
  const midnight = new Date(0);
  midnight.setUTCFullYear(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate());
  return Math.round((midnight.getTime() - start.getTime()) / 86_400_000);
}

/** Parts of timestamps (in UTC or a given zone) and durations. */
export const timeLibrary: Readonly<Record<string, readonly Overload[]>> = {
  getFullYear: accessor((date) => date.getUTCFullYear()),
  getMonth: accessor((date) => date.getUTCMonth()),
  getDayOfYear: accessor(dayOfYear),
  getDayOfMonth: accessor((date) => date.getUTCDate() - 1),
  getDate: accessor((date) => date.getUTCDate()),
  getDayOfWeek: accessor((date) => date.getUTCDay()),
  getHours: [...accessor((date) => date.getUTCHours()), ofDuration(3_600_000_000_000n)],
  getMinutes: [...accessor((date) => date.getUTCMinutes()), ofDuration(60_000_000_000n)],
  getSeconds: [...accessor((date) => date.getUTCSeconds()), ofDuration(1_000_000_000n)],
  getMilliseconds: [
    ...accessor((date) => date.getUTCMilliseconds()),
    method({ params: [durationType], result: intType, call: (value) => value.nanos / milli }),
  ],
};
