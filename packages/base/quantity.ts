/** How a quantity is written: `12Mi`, `12M` or `12e6`. Kept through arithmetic, as clients see it again. */
export type QuantityFormat = 'BinarySI' | 'DecimalSI' | 'DecimalExponent';

/** The number `unscaled × 10^scale`, exact down to 10^-9. Immutable. */
export interface Quantity {
  readonly unscaled: bigint;
  readonly scale: number;
  readonly format: QuantityFormat;
  /** The text it was parsed from, where that is what it is written as. */
  readonly text: string | undefined;
}

/** The text is no quantity. The message is the API server's. */
export class QuantitySyntaxError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'QuantitySyntaxError';
  }
}

const formatWrong =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const numberWrong = 'unable to parse numeric part of quantity';
const suffixWrong = "unable to parse quantity's suffix";
/** Longer texts are refused: no amount anyone means needs them, and their arithmetic is expensive. */
const maxTextLength = 256;
const maxAllowed = 2n ** 63n - 1n;
const nanoScale = -9;
/** Beyond this many digits of difference the smaller operand of a sum or comparison does not count. */
const maxScaleGap = 4096;
const grammar = /^([+-]?)0*([0-9]*)(?:\.([0-9]*))?([eEinumkKMGTP]*[-+]?[0-9]*)$/;

const decimalExponents: ReadonlyMap<string, number> = new Map([
  ['n', -9],
  ['u', -6],
  ['m', -3],
  ['', 0],
  ['k', 3],
  ['M', 6],
  ['G', 9],
  ['T', 12],
  ['P', 15],
  ['E', 18],
]);
const binarySuffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const decimalSuffixes = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];

interface Suffix {
  readonly base: 2 | 10;
  readonly exponent: number;
  readonly format: QuantityFormat;
}

function parseSuffix(suffix: string): Suffix {
  const decimal = decimalExponents.get(suffix);
  if (decimal !== undefined) return { base: 10, exponent: decimal, format: 'DecimalSI' };
  const binary = binarySuffixes.indexOf(suffix);
  if (binary > 0) return { base: 2, exponent: binary * 10, format: 'BinarySI' };
  if (!/^[eE][+-]?[0-9]{1,18}$/.test(suffix)) throw new QuantitySyntaxError(suffixWrong);
  return { base: 10, exponent: Number(suffix.slice(1)) | 0, format: 'DecimalExponent' };
}

function power10(exponent: number): bigint {
  return 10n ** BigInt(exponent);
}

/** Divides away from zero. */
function divideUp(value: bigint, divisor: bigint): bigint {
  const quotient = value / divisor;
  if (quotient * divisor === value) return quotient;
  return value < 0n ? quotient - 1n : quotient + 1n;
}

interface Digits {
  readonly text: string;
  readonly magnitude: bigint;
  /** Digits before and after the point, leading zeros apart. */
  readonly digits: string;
  readonly fraction: number;
  readonly isNegative: boolean;
}

/** Throws `QuantitySyntaxError`. Amounts finer than a nano are rounded away from zero. */
export function parseQuantity(text: string): Quantity {
  const match = text.length > maxTextLength ? null : grammar.exec(text);
  if (match === null || text === '') throw new QuantitySyntaxError(formatWrong);
  const [, sign, whole, fraction = '', suffixText = ''] = match;
  const suffix = parseSuffix(suffixText);
  const digits = (whole || '0') + fraction;
  const number: Digits = {
    text,
    magnitude: BigInt(digits),
    digits,
    fraction: fraction.length,
    isNegative: sign === '-',
  };
  const small = smallQuantity(number, suffix);
  if (small !== undefined) return small;
  if (!/[0-9]/.test(text.slice(0, text.length - suffixText.length)))
    throw new QuantitySyntaxError(numberWrong);
  return roundedQuantity(number, suffix);
}

function isCanonicalDecimal(digits: string, scale: number): boolean {
  return scale % 3 === 0 && !digits.endsWith('000') && digits[0] !== '0';
}

/** The form in which the API server keeps a 64-bit integer, and with it the text as it was written. */
function smallQuantity(number: Digits, suffix: Suffix): Quantity | undefined {
  const { digits, fraction, magnitude } = number;
  if (!fitsSmallForm(suffix, digits.length - fraction, fraction)) return undefined;
  const scale = suffix.base === 10 ? suffix.exponent - fraction : 0;
  const small = suffix.base === 2 ? magnitude << BigInt(suffix.exponent) : magnitude;
  if (scale < nanoScale || small > maxAllowed) return undefined;
  const isCanonical = suffix.base === 2 ? (magnitude & 7n) !== 0n : isCanonicalDecimal(digits, scale);
  const unscaled = number.isNegative ? -small : small;
  return { unscaled, scale, format: suffix.format, text: isCanonical ? number.text : undefined };
}

function fitsSmallForm(suffix: Suffix, whole: number, fraction: number): boolean {
  if (suffix.base === 10) return whole + fraction <= 18;
  return (
    fraction === 0 && 15 - whole - Math.trunc(Math.fround(Math.fround(suffix.exponent * 3) / 10)) - 1 >= 0
  );
}

function roundedQuantity(digits: Digits, suffix: Suffix): Quantity {
  let magnitude = suffix.base === 2 ? digits.magnitude << BigInt(suffix.exponent) : digits.magnitude;
  let scale = (suffix.base === 10 ? suffix.exponent : 0) - digits.fraction;
  if (scale < nanoScale && magnitude !== 0n) {
    // More places than digits leave less than one nano, which is rounded up to it.
    const places = Math.min(nanoScale - scale, maxTextLength * 2);
    magnitude = divideUp(magnitude, power10(places));
  }
  scale = Math.max(scale, nanoScale);
  let format = suffix.format;
  if (format === 'BinarySI') {
    const one = power10(-Math.min(scale, 0));
    if (magnitude > maxAllowed * one) magnitude = maxAllowed * one;
    if (magnitude < one && magnitude > 0n) format = 'DecimalSI';
  }
  return { unscaled: digits.isNegative ? -magnitude : magnitude, scale, format, text: undefined };
}

/** A whole number as a quantity. */
export function quantityOf(value: bigint | number, format: QuantityFormat = 'DecimalSI'): Quantity {
  return { unscaled: BigInt(value), scale: 0, format, text: undefined };
}

/** The canonical text: largest suffix that needs no fraction. */
export function formatQuantity(quantity: Quantity): string {
  if (quantity.text !== undefined) return quantity.text;
  if (quantity.unscaled === 0n) return '0';
  if (quantity.format === 'BinarySI') {
    const whole = exactInteger(quantity);
    if (whole !== undefined && (whole <= -1024n || whole >= 1024n)) return formatBinary(whole);
  }
  return formatDecimal(quantity, quantity.format === 'DecimalExponent');
}

function formatBinary(value: bigint): string {
  let mantissa = value;
  let times = 0;
  while (times < 6 && mantissa % 1024n === 0n) {
    mantissa /= 1024n;
    times++;
  }
  return `${mantissa}${binarySuffixes[times]}`;
}

function formatDecimal(quantity: Quantity, isExponent: boolean): string {
  const digits = String(quantity.unscaled);
  const stripped = digits.replace(/0+$/, '');
  let exponent = quantity.scale + digits.length - stripped.length;
  let padding = ((exponent % 3) + 3) % 3;
  // There is no suffix above E; the mantissa carries what is more.
  if (!isExponent && exponent - padding > 18) padding = exponent - 18;
  if (padding > maxScaleGap) return `${stripped}e${exponent}`;
  exponent -= padding;
  const mantissa = stripped + '0'.repeat(padding);
  if (isExponent) return exponent === 0 ? mantissa : `${mantissa}e${exponent}`;
  return `${mantissa}${decimalSuffixes[exponent / 3 + 3]}`;
}

function exactInteger(quantity: Quantity): bigint | undefined {
  if (quantity.scale > maxScaleGap) return undefined;
  if (quantity.scale >= 0) return quantity.unscaled * power10(quantity.scale);
  const divisor = power10(-quantity.scale);
  return quantity.unscaled % divisor === 0n ? quantity.unscaled / divisor : undefined;
}

const memo = new Map<string, string>();
const memoSize = 4096;

/** `formatQuantity(parseQuantity(text))`, remembered for the texts seen last. Throws `QuantitySyntaxError`. */
export function canonicalQuantity(text: string): string {
  const known = memo.get(text);
  if (known !== undefined) return known;
  const canonical = formatQuantity(parseQuantity(text));
  if (memo.size >= memoSize) memo.clear();
  memo.set(text, canonical);
  return canonical;
}

/** Negative, zero or positive as `a` is less than, equal to or greater than `b`. */
export function compareQuantities(a: Quantity, b: Quantity): number {
  const [x, y] = aligned(a, b);
  if (x === y) return 0;
  return x < y ? -1 : 1;
}

/** The sum in the format of `a`, or of `b` where `a` is zero. */
export function addQuantities(a: Quantity, b: Quantity): Quantity {
  const [x, y] = aligned(a, b);
  const format = a.unscaled === 0n ? b.format : a.format;
  return { unscaled: x + y, scale: alignedScale(a, b), format, text: undefined };
}

/** The difference in the format of `a`, or of `b` where `a` is zero. */
export function subtractQuantities(a: Quantity, b: Quantity): Quantity {
  return addQuantities(a, negateQuantity(b));
}

export function negateQuantity(quantity: Quantity): Quantity {
  return { ...quantity, unscaled: -quantity.unscaled, text: undefined };
}

function alignedScale(a: Quantity, b: Quantity): number {
  if (a.unscaled === 0n) return b.scale;
  if (b.unscaled === 0n) return a.scale;
  return Math.max(Math.min(a.scale, b.scale), Math.max(a.scale, b.scale) - maxScaleGap);
}

function aligned(a: Quantity, b: Quantity): readonly [bigint, bigint] {
  const scale = alignedScale(a, b);
  return [rescaled(a, scale), rescaled(b, scale)];
}

function rescaled(quantity: Quantity, scale: number): bigint {
  if (quantity.unscaled === 0n || quantity.scale === scale) return quantity.unscaled;
  if (quantity.scale > scale) return quantity.unscaled * power10(quantity.scale - scale);
  return quantity.unscaled < 0n ? -1n : 1n;
}

/** -1, 0 or 1. */
export function quantitySign(quantity: Quantity): -1 | 0 | 1 {
  if (quantity.unscaled === 0n) return 0;
  return quantity.unscaled < 0n ? -1 : 1;
}

/** The nearest double; infinite where it is out of range. */
export function quantityAsNumber(quantity: Quantity): number {
  return Number(`${quantity.unscaled}e${quantity.scale}`);
}

/** In units of 10^`scale` (0 = ones, -3 = thousandths), rounded away from zero. */
export function quantityAsBigInt(quantity: Quantity, scale = 0): bigint {
  const gap = quantity.scale - scale;
  if (gap < 0) return divideUp(quantity.unscaled, power10(Math.min(-gap, maxScaleGap)));
  return quantity.unscaled * power10(Math.min(gap, maxScaleGap));
}

/** The whole number it is, or undefined where it has a fraction or does not fit 64 bits. */
export function quantityAsInteger(quantity: Quantity): bigint | undefined {
  const whole = exactInteger(quantity);
  if (whole === undefined || whole > maxAllowed || whole < -maxAllowed - 1n) return undefined;
  return whole;
}
