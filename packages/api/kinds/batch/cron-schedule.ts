/** Five-field cron schedules, and the descriptors that stand for some. */

interface Range {
  readonly least: number;
  readonly most: number;
  readonly names?: readonly string[];
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const ranges: readonly Range[] = [
  { least: 0, most: 59 },
  { least: 0, most: 23 },
  { least: 1, most: 31 },
  { least: 1, most: 12, names: months },
  { least: 0, most: 6, names: days },
];
const descriptors = new Set([
  '@yearly',
  '@annually',
  '@monthly',
  '@weekly',
  '@daily',
  '@midnight',
  '@hourly',
]);
const maxLength = 4096;

/** What is wrong with a schedule; undefined for a right one. */
export function scheduleFault(schedule: string): string | undefined {
  if (schedule.length > maxLength) return `schedule is longer than ${maxLength} characters`;
  if (schedule.startsWith('@')) return descriptorFault(schedule);
  const fields = schedule.split(/\s+/).filter((field) => field !== '');
  if (fields.length !== 5) return `expected exactly 5 fields, found ${fields.length}: [${fields.join(' ')}]`;
  for (const [index, field] of fields.entries()) {
    const range = ranges[index];
    const fault = range && fieldFault(field, range);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function descriptorFault(text: string): string | undefined {
  if (descriptors.has(text)) return undefined;
  if (!text.startsWith('@every ')) return `unrecognized descriptor: ${text}`;
  const duration = text.slice('@every '.length);
  return /^(\d+(\.\d+)?(ns|us|µs|ms|s|m|h))+$/.test(duration)
    ? undefined
    : `failed to parse duration ${text}: time: invalid duration ${JSON.stringify(duration)}`;
}

function fieldFault(field: string, range: Range): string | undefined {
  for (const part of field.split(',')) {
    if (part === '') continue;
    const fault = partFault(part, range);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function partFault(part: string, range: Range): string | undefined {
  const [span = '', step, ...moreSteps] = part.split('/');
  const [low = '', high, ...moreEnds] = span.split('-');
  const extra = moreEnds.length > 0 ? 'hyphens' : 'slashes';
  if (moreEnds.length + moreSteps.length > 0) return `too many ${extra}: ${part}`;
  const start = rangeStart(low, range);
  if (typeof start === 'string') return start;
  const end = isAny(low) ? range.most : endOf({ start, high, step }, range);
  if (typeof end === 'string') return end;
  const by = numberOf(step ?? '1', { least: 0, most: 0 });
  if (typeof by === 'string') return by;
  return boundsFault(part, { start, end, by }, range);
}

function isAny(text: string): boolean {
  return text === '*' || text === '?';
}

function rangeStart(low: string, range: Range): number | string {
  return isAny(low) ? range.least : numberOf(low, range);
}

function endOf(
  { start, high, step }: { start: number; high: string | undefined; step: string | undefined },
  range: Range,
): number | string {
  if (high !== undefined) return numberOf(high, range);
  return step === undefined ? start : range.most;
}

function numberOf(text: string, { names }: Range): number | string {
  const named = names?.indexOf(text.toLowerCase()) ?? -1;
  if (named >= 0) return names === months ? named + 1 : named;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  return `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`;
}

function boundsFault(
  part: string,
  { start, end, by }: { start: number; end: number; by: number },
  { least, most }: Range,
): string | undefined {
  if (start < least) return `beginning of range (${start}) below minimum (${least}): ${part}`;
  if (end > most) return `end of range (${end}) above maximum (${most}): ${part}`;
  if (start > end) return `beginning of range (${start}) beyond end of range (${end}): ${part}`;
  return by === 0 ? `step of range should be a positive number: ${part}` : undefined;
}
