import { noSuchOverload } from './failure.ts';
import { compareBytes, compareText } from './text.ts';
import {
  Duration,
  ListValue,
  MapValue,
  Opaque,
  Optional,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
} from './value.ts';

/** Counts the steps of work that upstream's costs do not cover; ends the evaluation when there are too many. */
export interface Meter {
  step(): void;
}

/** For comparisons outside of an evaluation. */
export const unmetered: Meter = {
  step: () => {
    // Nothing is counted.
  },
};

/** A list that knows better than element by element when it equals another (set and map lists). */
export interface ComparableList extends ListValue {
  equalsList(other: ListValue, meter: Meter): boolean;
}

/** Numbers compare across types; a NaN compares with nothing. `undefined` if one is not a number. */
export function compareNumbers(a: Value, b: Value): number | undefined {
  const left = numberOf(a);
  const right = numberOf(b);
  if (left === undefined || right === undefined) return undefined;
  if (left < right) return -1;
  if (left > right) return 1;
  // Neither below nor above: equal, unless one is a NaN.
  return Number.isNaN(left) || Number.isNaN(right) ? Number.NaN : 0;
}

function numberOf(value: Value): number | bigint | undefined {
  if (typeof value === 'bigint' || typeof value === 'number') return value;
  return value instanceof Uint ? value.value : undefined;
}

/** Equality of CEL: values of different types are not equal, numbers are compared by value. */
export function valuesEqual(a: Value, b: Value, meter: Meter = unmetered): boolean {
  if (typeof a === 'string' || typeof a === 'boolean' || a === null) return a === b;
  const numbers = compareNumbers(a, b);
  if (numbers !== undefined) return numbers === 0;
  return typeof a === 'object' && typeof b === 'object' && b !== null && objectsEqual(a, b, meter);
}

type Composite = Exclude<Value, null | boolean | bigint | number | string>;

function objectsEqual(a: Composite, b: Composite, meter: Meter): boolean {
  meter.step();
  if (a instanceof ListValue) return b instanceof ListValue && listsEqual(a, b, meter);
  if (a instanceof MapValue) return b instanceof MapValue && mapsEqual(a, b, meter);
  if (a instanceof Optional) return b instanceof Optional && optionalsEqual(a, b, meter);
  return simpleEqual(a, b);
}

function simpleEqual(a: Composite, b: Composite): boolean {
  if (a instanceof Opaque) return b instanceof Opaque && a.type === b.type && a.equals(b);
  if (a instanceof Uint8Array) return b instanceof Uint8Array && compareBytes(a, b) === 0;
  if (a instanceof TypeValue) return b instanceof TypeValue && a.name === b.name;
  return timesEqual(a, b);
}

function timesEqual(a: Composite, b: Composite): boolean {
  if (a instanceof Timestamp) return b instanceof Timestamp && a.nanos === b.nanos;
  return a instanceof Duration && b instanceof Duration && a.nanos === b.nanos;
}

function optionalsEqual(a: Optional, b: Optional, meter: Meter): boolean {
  if (a.value === undefined || b.value === undefined) return a.value === b.value;
  return valuesEqual(a.value, b.value, meter);
}

function listsEqual(a: ListValue, b: ListValue, meter: Meter): boolean {
  if (a.size !== b.size) return false;
  if ('equalsList' in a) return (a as ComparableList).equalsList(b, meter);
  for (let index = 0; index < a.size; index++) {
    meter.step();
    if (!valuesEqual(a.get(index), b.get(index), meter)) return false;
  }
  return true;
}

function mapsEqual(a: MapValue, b: MapValue, meter: Meter): boolean {
  if (a.size !== b.size) return false;
  for (const key of a.keys()) {
    meter.step();
    const left = a.find(key);
    const right = b.find(key);
    if (left === undefined || right === undefined) {
      if (left !== right) return false;
    } else if (!valuesEqual(left, right, meter)) return false;
  }
  return true;
}

/** Order of two values: below, at or above 0; NaN where neither holds. Fails if they have no order. */
export function compareValues(a: Value, b: Value): number {
  if (typeof a === 'bigint' && typeof b === 'bigint') return a < b ? -1 : a > b ? 1 : 0;
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b);
  const numbers = compareNumbers(a, b);
  return numbers ?? compareOthers(a, b);
}

function compareOthers(a: Value, b: Value): number {
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b);
  if (a instanceof Timestamp && b instanceof Timestamp) return compareBig(a.nanos, b.nanos);
  if (a instanceof Duration && b instanceof Duration) return compareBig(a.nanos, b.nanos);
  if (a instanceof Uint8Array && b instanceof Uint8Array) return compareBytes(a, b);
  throw noSuchOverload();
}

function compareBig(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
