const zeroSeconds = -62_135_596_800;
const canonicalSeconds = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)Z$/;
const canonicalMicros = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)\.\d{6}Z$/;

/** A moment as Go holds it. */
export interface GoTime {
  /** Since 1970-01-01 UTC; may be negative. */
  readonly seconds: number;
  readonly nanos: number;
}

/** The text is no time; the message is Go's. */
export class TimeSyntaxError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'TimeSyntaxError';
  }
}

const secondsLayout = '2006-01-02T15:04:05Z07:00';
const microsLayout = '2006-01-02T15:04:05.000000Z07:00';

/** `metav1.Time`: RFC 3339 in any zone to UTC seconds; null for Go's zero time. Throws `TimeSyntaxError`. */
export function canonicalTime(text: string): string | null {
  const match = canonicalSeconds.exec(text);
  if (match !== null && isPlainDate(match)) return text;
  return formatTime(parseTime(text, secondsLayout));
}

/** `metav1.MicroTime`: as `canonicalTime`, with exactly six decimals. */
export function canonicalMicroTime(text: string): string | null {
  const match = canonicalMicros.exec(text);
  if (match !== null && isPlainDate(match)) return text;
  return formatMicroTime(parseTime(text, microsLayout));
}

/** True for dates that are right without a closer look: no short months' ends, no zero time. */
function isPlainDate([, year = '', month = '', day = '', ...clock]: RegExpExecArray): boolean {
  const isDate = year > '0001' && month >= '01' && month <= '12' && day >= '01' && day <= '28';
  return isDate && isPlainClock(clock);
}

function isPlainClock([hour = '', minute = '', second = '']: readonly string[]): boolean {
  return hour < '24' && minute < '60' && second < '60';
}

export function formatTime(time: GoTime): string | null {
  if (time.seconds === zeroSeconds && time.nanos === 0) return null;
  return `${isoSeconds(time)}Z`;
}

export function formatMicroTime(time: GoTime): string | null {
  if (time.seconds === zeroSeconds && time.nanos === 0) return null;
  return `${isoSeconds(time)}.${String(Math.floor(time.nanos / 1000)).padStart(6, '0')}Z`;
}

function isoSeconds(time: GoTime): string {
  const iso = new Date(time.seconds * 1000).toISOString();
  // Years outside 0–9999 have a sign and six digits in ISO but not in Go.
  const year = /^[+-]\d{6}/.exec(iso);
  if (year === null) return iso.slice(0, 19);
  const number = Number(year[0]);
  const digits = String(Math.abs(number)).padStart(4, '0');
  return `${number < 0 ? '-' : ''}${digits}${iso.slice(7, 22)}`;
}

/** The moment a canonical or other RFC 3339 text means. Throws `TimeSyntaxError`. */
export function parseRfc3339(text: string): GoTime {
  return parseTime(text, secondsLayout);
}

class Reader {
  readonly text: string;
  readonly layout: string;
  position = 0;

  constructor(text: string, layout: string) {
    this.text = text;
    this.layout = layout;
  }

  fail(element: string): never {
    const quoted = JSON.stringify(this.text);
    const rest = JSON.stringify(this.text.slice(this.position));
    throw new TimeSyntaxError(
      `parsing time ${quoted} as "${this.layout}": cannot parse ${rest} as ${JSON.stringify(element)}`,
    );
  }

  outOfRange(what: string): never {
    throw new TimeSyntaxError(`parsing time ${JSON.stringify(this.text)}: ${what} out of range`);
  }

  digits(count: number, element: string): number {
    const part = this.text.slice(this.position, this.position + count);
    if (part.length !== count || !/^\d+$/.test(part)) this.fail(element);
    this.position += count;
    return Number(part);
  }

  literal(char: string): void {
    if (this.text[this.position] !== char) this.fail(char);
    this.position++;
  }
}

function parseTime(text: string, layout: string): GoTime {
  const reader = new Reader(text, layout);
  const year = reader.digits(4, '2006');
  reader.literal('-');
  const month = reader.digits(2, '01');
  if (month < 1 || month > 12) reader.outOfRange('month');
  reader.literal('-');
  const day = reader.digits(2, '02');
  reader.literal('T');
  const hour = ranged(reader, { limit: 24, element: '15', what: 'hour' });
  reader.literal(':');
  const minute = ranged(reader, { limit: 60, element: '04', what: 'minute' });
  reader.literal(':');
  const second = ranged(reader, { limit: 60, element: '05', what: 'second' });
  const nanos = layout === microsLayout ? sixDecimals(reader) : optionalFraction(reader);
  const offset = zone(reader);
  if (reader.position < text.length) {
    const rest = JSON.stringify(text.slice(reader.position));
    throw new TimeSyntaxError(`parsing time ${JSON.stringify(text)}: extra text: ${rest}`);
  }
  if (day < 1 || day > daysIn(year, month)) reader.outOfRange('day');
  return { seconds: epochSeconds([year, month, day]) + hour * 3600 + minute * 60 + second - offset, nanos };
}

function ranged(
  reader: Reader,
  { limit, element, what }: { limit: number; element: string; what: string },
): number {
  const value = reader.digits(2, element);
  if (value >= limit) reader.outOfRange(what);
  return value;
}

function epochSeconds([year, month, day]: readonly [number, number, number]): number {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getTime() / 1000;
}

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

function optionalFraction(reader: Reader): number {
  const match = /^[.,](\d+)/.exec(reader.text.slice(reader.position, reader.position + 64));
  if (match === null) return 0;
  reader.position += match[0].length;
  return Number(String(match[1]).slice(0, 9).padEnd(9, '0'));
}

function sixDecimals(reader: Reader): number {
  const match = /^[.,](\d{6})/.exec(reader.text.slice(reader.position, reader.position + 7));
  if (match === null) reader.fail('.000000');
  reader.position += 7;
  return Number(match[1]) * 1000;
}

function zone(reader: Reader): number {
  if (reader.text[reader.position] === 'Z') {
    reader.position++;
    return 0;
  }
  const match = /^([+-])(\d\d):(\d\d)/.exec(reader.text.slice(reader.position, reader.position + 6));
  if (match === null) reader.fail('Z07:00');
  const hours = Number(match[2]);
  const minutes = Number(match[3]);
  if (hours > 24) reader.outOfRange('time zone offset hour');
  if (minutes > 60) reader.outOfRange('time zone offset minute');
  reader.position += 6;
  return (match[1] === '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
}
