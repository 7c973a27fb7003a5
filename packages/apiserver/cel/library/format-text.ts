import { failure } from '../values/failure.ts';
import { fixedText, formatDouble } from '../values/number.ts';
import { formatTimestamp, secondsText } from '../values/time.ts';
import {
  Duration,
  ListValue,
  MapValue,
  Timestamp,
  TypeValue,
  typeName,
  Uint,
  type Value,
} from '../values/value.ts';

const clausePattern = /%(?:%|(?:\.(\d{1,9}))?([a-zA-Z]?))/g;
const maxPrecision = 1000;

export interface Clause {
  readonly verb: string;
  readonly precision: number | undefined;
}

/** The clauses of a format string that take an argument. */
export function parseClauses(template: string): readonly Clause[] {
  return Array.from(template.matchAll(clausePattern))
    .filter(([all]) => all !== '%%')
    .map(([, precision, verb = '']) => ({
      verb,
      precision: precision === undefined ? undefined : Number(precision),
    }));
}

/** `"%s is %d".format([a, b])`. */
export function formatText(template: string, args: ListValue): string {
  let next = 0;
  return template.replace(clausePattern, (all: string, precision: string | undefined, verb: string) => {
    if (all === '%%') return '%';
    if (next >= args.size) throw failure(`index ${next} out of range`);
    const value = args.get(next);
    next += 1;
    return formatClause(verb, value, precision === undefined ? undefined : Number(precision));
  });
}

type Formatter = (value: Value, precision: number | undefined) => string;

const formatters: Readonly<Record<string, Formatter>> = {
  s: showValue,
  d: decimal,
  f: fixed,
  e: scientific,
  b: binary,
  x: hexadecimal,
  X: (value) => hexadecimal(value).toUpperCase(),
  o: (value) => integerOf(value, 'octal').toString(8),
};

function formatClause(verb: string, value: Value, precision: number | undefined): string {
  if (precision !== undefined && precision > maxPrecision)
    throw failure('error during formatting: precision is too large');
  const format = Object.hasOwn(formatters, verb) ? formatters[verb] : undefined;
  if (!format) throw failure(`could not parse formatting clause: unrecognized formatting clause "${verb}"`);
  return format(value, precision);
}

/** What is said where a clause cannot take a value of a type. */
export function wrongClause(verb: string, allowed: string, given: string): string {
  return `error during formatting: ${verb} clause can only be used on ${allowed}, was given ${given}`;
}

/** A value as `%s` shows it. */
export function showValue(value: Value): string {
  switch (typeof value) {
    case 'string':
      return value;
    case 'bigint':
    case 'boolean':
      return String(value);
    case 'number':
      return formatDouble(value);
    default:
      return value === null ? 'null' : showObject(value);
  }
}

type ObjectValue = Exclude<Value, null | string | bigint | boolean | number>;

function showObject(value: ObjectValue): string {
  if (value instanceof ListValue) return `[${elementsOf(value).map(showNested).join(', ')}]`;
  if (value instanceof MapValue) return showMap(value);
  if (value instanceof Uint) return value.value.toString();
  if (value instanceof Uint8Array) return new TextDecoder().decode(value);
  return showNamed(value);
}

function showNamed(value: Exclude<ObjectValue, ListValue | MapValue | Uint | Uint8Array>): string {
  if (value instanceof Timestamp) return formatTimestamp(value);
  if (value instanceof Duration) return `${secondsText(value.nanos)}s`;
  if (value instanceof TypeValue) return value.name;
  const allowed = 'strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps';
  throw failure(wrongClause('string', allowed, typeName(value)));
}

/** A value as it is shown within a list or map: as a literal of CEL. */
function showNested(value: Value): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'number')
    return Number.isFinite(value) ? fixedText(value, 6) : `"${formatDouble(value)}"`;
  if (value instanceof Uint8Array) return `b${JSON.stringify(showValue(value))}`;
  if (value instanceof Timestamp) return `timestamp("${formatTimestamp(value)}")`;
  if (value instanceof Duration) return `duration("${secondsText(value.nanos)}s")`;
  return showValue(value);
}

function elementsOf(list: ListValue): Value[] {
  return Array.from({ length: list.size }, (_, index) => list.get(index));
}

function showMap(map: MapValue): string {
  const entries = map.keys().map((key) => [showNested(key), showNested(map.find(key) ?? null)] as const);
  const sorted = entries.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return `{${sorted.map(([key, value]) => `${key}:${value}`).join(', ')}}`;
}

function decimal(value: Value): string {
  return integerOf(value, 'decimal').toString();
}

const specialTexts = new Set(['NaN', 'Infinity', '-Infinity']);

function numberOf(value: Value, verb: string): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'string' && specialTexts.has(value)) return Number(value);
  throw failure(wrongClause(verb, 'doubles', typeName(value)));
}

function special(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  return value > 0 ? '∞' : '-∞';
}

function fixed(value: Value, precision = 6): string {
  const number = numberOf(value, 'fixed-point');
  if (!Number.isFinite(number)) return special(number);
  const [whole = '', fraction] = fixedText(number, precision).split('.');
  const grouped = whole.replace(/\B(?=(?:\d{3})+$)/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

const superscripts = '⁰¹²³⁴⁵⁶⁷⁸⁹';

/** Upstream writes powers of ten for readers, and takes the precision for a width. */
function scientific(value: Value, width = 0): string {
  const number = numberOf(value, 'scientific');
  if (!Number.isFinite(number)) return special(number);
  const [mantissa = '', exponent = '+0'] = number.toExponential(6).split('e');
  const digits = exponent
    .slice(1)
    .padStart(2, '0')
    .replace(/\d/g, (digit) => superscripts.charAt(Number(digit)));
  return `${mantissa}×10${exponent.startsWith('-') ? '⁻' : ''}${digits}`.padStart(width);
}

function integerOf(value: Value, verb: string): bigint {
  if (typeof value === 'bigint') return value;
  if (value instanceof Uint) return value.value;
  throw failure(wrongClause(verb, 'integers', typeName(value)));
}

function binary(value: Value): string {
  if (typeof value === 'boolean') return value ? '1' : '0';
  if (typeof value === 'bigint' || value instanceof Uint) return integerOf(value, 'binary').toString(2);
  throw failure(wrongClause('binary', 'integers and bools', typeName(value)));
}

function hexadecimal(value: Value): string {
  if (typeof value === 'string') return Buffer.from(value).toString('hex');
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  if (typeof value === 'bigint' || value instanceof Uint) return integerOf(value, 'hex').toString(16);
  throw failure(wrongClause('hex', 'integers, byte buffers, and strings', typeName(value)));
}
