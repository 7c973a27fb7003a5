import { boolType, doubleType, intType, opaqueType, stringType } from '../checker/type.ts';
import { traversal } from '../values/cost.ts';
import { failure } from '../values/failure.ts';
import { maxInt64, minInt64 } from '../values/number.ts';
import { Opaque } from '../values/value.ts';
import { method, type Overload, plain } from './overload.ts';

const name = 'kubernetes.Quantity';
const scale = 1_000_000_000n;

/** A resource quantity, exact to 10^-9. */
export class Quantity extends Opaque {
  readonly type = name;
  /** The amount times 10^9. */
  readonly nanos: bigint;
  /** The power of ten that upstream keeps the amount in; `undefined` if it keeps it as a decimal fraction. */
  readonly scale: number | undefined;

  constructor(nanos: bigint, kept: number | undefined) {
    super();
    this.nanos = nanos;
    this.scale = kept;
  }

  equals(other: Opaque): boolean {
    return other instanceof Quantity && other.nanos === this.nanos;
  }
}

const multipliers: Readonly<Record<string, readonly [bigint, bigint]>> = {
  n: [1n, scale],
  u: [1000n, scale],
  m: [1_000_000n, scale],
  '': [1n, 1n],
  k: [1000n, 1n],
  M: [1000n ** 2n, 1n],
  G: [1000n ** 3n, 1n],
  T: [1000n ** 4n, 1n],
  P: [1000n ** 5n, 1n],
  E: [1000n ** 6n, 1n],
  Ki: [1024n, 1n],
  Mi: [1024n ** 2n, 1n],
  Gi: [1024n ** 3n, 1n],
  Ti: [1024n ** 4n, 1n],
  Pi: [1024n ** 5n, 1n],
  Ei: [1024n ** 6n, 1n],
};

const quantityText = /^([+-]?)(\d*)(?:\.(\d*))?(?:([eE])([+-]?\d{1,18})|([numkMGTPE]|[KMGTPE]i)?)$/;
const wrongFormat =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

/** Reads a quantity such as `1.5Gi` or `1e3`; `undefined` if the text is none. Amounts below 10^-9 are rounded up. */
export function parseQuantity(text: string): Quantity | undefined {
  const match = text.length > 1000 ? null : quantityText.exec(text);
  return match ? quantityOf(match) : undefined;
}

function quantityOf(match: RegExpExecArray): Quantity | undefined {
  const [, sign, whole = '', fraction = '', , exponent, suffix = ''] = match;
  const own = whole === '' && fraction === '' ? undefined : ratio(exponent, suffix);
  if (!own) return undefined;
  const [factor, divisor] = own;
  const digits = BigInt(`${whole}${fraction}`);
  const magnitude = cap(ceilDivide(digits * factor * scale, divisor * 10n ** BigInt(fraction.length)));
  const power = exponent === undefined ? undefined : Number(exponent);
  return new Quantity(sign === '-' ? -magnitude : magnitude, keptScale({ whole, fraction, power, suffix }));
}

interface QuantityParts {
  readonly whole: string;
  readonly fraction: string;
  readonly power: number | undefined;
  readonly suffix: string;
}

const decimalPowers: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  '': 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};
const binaryPowers: Readonly<Record<string, number>> = { Ki: 10, Mi: 20, Gi: 30, Ti: 40, Pi: 50, Ei: 60 };

/** Upstream keeps amounts with few digits as an integer and a power of ten. */
function keptScale({ whole, fraction, power, suffix }: QuantityParts): number | undefined {
  const bits = power === undefined ? binaryPowers[suffix] : undefined;
  const digits = whole.replace(/^0+/, '').length;
  const decimals = fraction.replace(/0+$/, '').length;
  if (bits !== undefined) {
    const isSmall = 15 - digits - Math.trunc((bits * 3) / 10) - 1 >= 0;
    return decimals === 0 && isSmall ? 0 : undefined;
  }
  const kept = (power ?? decimalPowers[suffix] ?? 0) - decimals;
  return 18 - digits - decimals >= 0 && kept >= -9 ? kept : undefined;
}

function ratio(exponent: string | undefined, suffix: string): readonly [bigint, bigint] | undefined {
  if (exponent === undefined) return multipliers[suffix];
  const power = Number(exponent);
  if (power < -(2 ** 31) || power >= 2 ** 31) return undefined;
  // Beyond these powers the amount is rounded to the least, or capped.
  const bounded = Math.max(-1100, Math.min(1100, power));
  return bounded < 0 ? [1n, 10n ** BigInt(-bounded)] : [10n ** BigInt(bounded), 1n];
}

function ceilDivide(value: bigint, divisor: bigint): bigint {
  const quotient = value / divisor;
  return value % divisor === 0n ? quotient : quotient + 1n;
}

/** The largest amount a quantity can hold. */
function cap(nanos: bigint): bigint {
  const most = maxInt64 * scale;
  return nanos > most ? most : nanos;
}

function toInteger(quantity: Quantity): bigint | undefined {
  if (quantity.scale === undefined || quantity.scale < 0) return undefined;
  const value = quantity.nanos / scale;
  return value > maxInt64 || value < minInt64 ? undefined : value;
}

export const quantityType = opaqueType<Quantity>(name);

function parseOrFail(text: string): Quantity {
  const quantity = parseQuantity(text);
  if (!quantity) throw failure(wrongFormat);
  return quantity;
}

function asInteger(quantity: Quantity): bigint {
  const value = toInteger(quantity);
  if (value === undefined) throw failure('cannot convert value to integer');
  return value;
}

/** The sum, kept in the finer of the two scales. */
function add(a: Quantity, b: Quantity): Quantity {
  if (a.nanos === 0n && a.scale !== undefined) return b;
  const kept = a.scale === undefined || b.scale === undefined ? undefined : Math.min(a.scale, b.scale);
  return new Quantity(a.nanos + b.nanos, kept);
}

function negate(value: Quantity): Quantity {
  return new Quantity(-value.nanos, value.scale);
}

function ofInteger(value: bigint): Quantity {
  return new Quantity(value * scale, 0);
}

function compare(a: Quantity, b: Quantity): bigint {
  if (a.nanos === b.nanos) return 0n;
  return a.nanos < b.nanos ? -1n : 1n;
}

const pair = [quantityType, quantityType] as const;
const withInt = [quantityType, intType] as const;

/** `quantity()` and what can be done with one. */
export const quantityLibrary: Readonly<Record<string, readonly Overload[]>> = {
  quantity: [
    plain({ params: [stringType], result: quantityType, call: parseOrFail, cost: (text) => traversal(text) }),
  ],
  isQuantity: [
    plain({
      params: [stringType],
      result: boolType,
      call: (text) => parseQuantity(text) !== undefined,
      cost: (text) => traversal(text),
    }),
  ],
  sign: [plain({ params: [quantityType], result: intType, call: (value) => compare(value, ofInteger(0n)) })],
  isGreaterThan: [method({ params: pair, result: boolType, call: (a, b) => a.nanos > b.nanos })],
  isLessThan: [method({ params: pair, result: boolType, call: (a, b) => a.nanos < b.nanos })],
  compareTo: [method({ params: pair, result: intType, call: compare })],
  asApproximateFloat: [
    method({ params: [quantityType], result: doubleType, call: (value) => Number(value.nanos) / 1e9 }),
  ],
  asInteger: [method({ params: [quantityType], result: intType, call: asInteger })],
  isInteger: [
    method({ params: [quantityType], result: boolType, call: (value) => toInteger(value) !== undefined }),
  ],
  add: [
    method({ params: pair, result: quantityType, call: (a, b) => add(a, b) }),
    method({ params: withInt, result: quantityType, call: (a, b) => add(a, ofInteger(b)) }),
  ],
  sub: [
    method({ params: pair, result: quantityType, call: (a, b) => add(a, negate(b)) }),
    method({ params: withInt, result: quantityType, call: (a, b) => add(a, ofInteger(-b)) }),
  ],
};
