import { Cron } from 'croner';

/** When something is due, in milliseconds since 1970. */
export interface Schedule {
  /** The first time after `after`; `undefined` if it never comes. */
  next(after: number): number | undefined;
  /** The last time up to `until`, if it comes after `after`. */
  latest(after: number, until: number): number | undefined;
}

const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
const leastIntervalMs = 1000;

/**
 * Reads a schedule of a CronJob. `@every` counts from the last time; the others mean a wall clock of a time zone, UTC if none is
 * named. `undefined` if it cannot be read; the API server refuses most of those.
 */
export function readSchedule(text: string, timeZone: string | undefined): Schedule | undefined {
  const key = `${timeZone ?? ''} ${text}`;
  if (known.has(key)) return known.get(key);
  if (known.size >= knownLimit) known.clear();
  const schedule = read(text, timeZone);
  known.set(key, schedule);
  return schedule;
}

/** To read one takes longer than to use it, and each pass of a controller asks for the same few. */
const known = new Map<string, Schedule | undefined>();
const knownLimit = 1000;

function read(text: string, timeZone: string | undefined): Schedule | undefined {
  const every = /^@every (.+)$/.exec(text);
  if (every) return interval(durationMs(every[1] ?? ''));
  const named = /^(?:CRON_)?TZ=(\S+)\s+(.*)$/.exec(text);
  const zone = timeZone ?? named?.[1];
  try {
    const pattern = (named?.[2] ?? text).replaceAll('?', '*');
    const cron = new Cron(pattern, { timezone: zone ?? 'UTC', paused: true, sloppyRanges: true });
    // It looks at the time zone only when it is asked.
    cron.nextRun();
    return wallClock(cron);
  } catch {
    // Not a schedule of its kind, or no such time zone: whoever asked says so.
    return undefined;
  }
}

function wallClock(cron: Cron): Schedule {
  return {
    next: (after) => cron.nextRun(new Date(after))?.getTime(),
    latest(after, until) {
      // It looks for times before its argument; one that is due this very second counts.
      const time = cron.previousRuns(1, new Date(until + 1000))[0]?.getTime();
      return time !== undefined && time > after && time <= until ? time : undefined;
    },
  };
}

function interval(everyMs: number): Schedule {
  return {
    next: (after) => after + everyMs,
    latest(after, until) {
      const count = Math.floor((until - after) / everyMs);
      return count > 0 ? after + count * everyMs : undefined;
    },
  };
}

function durationMs(text: string): number {
  let sum = 0;
  for (const [, number, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g))
    sum += Number(number) * (units[unit ?? ''] ?? 0);
  return Math.max(leastIntervalMs, Math.floor(sum / 1000) * 1000);
}
