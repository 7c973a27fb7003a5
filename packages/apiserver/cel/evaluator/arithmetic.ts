import { concatenate } from '../values/concat-list.ts';
import { failure, noSuchOverload } from '../values/failure.ts';
import { int64, maxInt64, minInt64, uint64 } from '../values/number.ts';
import { durationOf, timestampOf } from '../values/time.ts';
import { Duration, ListValue, Timestamp, Uint, type Value } from '../values/value.ts';

export type BinaryOperation = (a: Value, b: Value) => Value;

/** `a + b` for numbers, text, bytes, lists, durations and timestamps. */
export function add(a: Value, b: Value): Value {
  if (typeof a === 'bigint' && typeof b === 'bigint') return int64(a + b);
  if (typeof a === 'string' && typeof b === 'string') return a + b;
  if (typeof a === 'number' && typeof b === 'number') return a + b;
  return addObjects(a, b);
}

function addObjects(a: Value, b: Value): Value {
  if (a instanceof ListValue && b instanceof ListValue) return concatenate(a, b);
  if (a instanceof Uint && b instanceof Uint) return uint64(a.value + b.value);
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.concat([a, b]);
  return addTimes(a, b);
}

function addTimes(a: Value, b: Value): Value {
  if (a instanceof Duration) {
    if (b instanceof Duration) return duration(a.nanos + b.nanos);
    if (b instanceof Timestamp) return timestamp(a.nanos + b.nanos, b.offset);
  }
  if (a instanceof Timestamp && b instanceof Duration) return timestamp(a.nanos + b.nanos, a.offset);
  throw noSuchOverload();
}

export function subtract(a: Value, b: Value): Value {
  if (typeof a === 'bigint' && typeof b === 'bigint') return int64(a - b);
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (a instanceof Uint && b instanceof Uint) return uint64(a.value - b.value);
  return subtractTimes(a, b);
}

function subtractTimes(a: Value, b: Value): Value {
  if (a instanceof Timestamp && b instanceof Timestamp) return duration(a.nanos - b.nanos);
  if (a instanceof Timestamp && b instanceof Duration) return timestamp(a.nanos - b.nanos, a.offset);
  if (a instanceof Duration && b instanceof Duration) return duration(a.nanos - b.nanos);
  throw noSuchOverload();
}

function duration(nanos: bigint): Duration {
  const made = durationOf(nanos);
  if (!made) throw failure('integer overflow');
  return made;
}

function timestamp(nanos: bigint, offset: number): Timestamp {
  const made = timestampOf(nanos, offset);
  if (!made) throw failure('timestamp overflow');
  return made;
}

export function multiply(a: Value, b: Value): Value {
  if (typeof a === 'bigint' && typeof b === 'bigint') return int64(a * b);
  if (typeof a === 'number' && typeof b === 'number') return a * b;
  if (a instanceof Uint && b instanceof Uint) return uint64(a.value * b.value);
  throw noSuchOverload();
}

export function divide(a: Value, b: Value): Value {
  if (typeof a === 'bigint' && typeof b === 'bigint') {
    if (b === 0n) throw failure('division by zero');
    return int64(a / b);
  }
  if (typeof a === 'number' && typeof b === 'number') return a / b;
  if (!(a instanceof Uint && b instanceof Uint)) throw noSuchOverload();
  if (b.value === 0n) throw failure('division by zero');
  return new Uint(a.value / b.value);
}

export function modulo(a: Value, b: Value): Value {
  if (typeof a === 'bigint' && typeof b === 'bigint') {
    if (b === 0n) throw failure('modulus by zero');
    if (a === minInt64 && b === -1n) throw failure('integer overflow');
    return a % b;
  }
  if (!(a instanceof Uint && b instanceof Uint)) throw noSuchOverload();
  if (b.value === 0n) throw failure('modulus by zero');
  return new Uint(a.value % b.value);
}

export function negate(value: Value): Value {
  if (typeof value === 'bigint') return value === minInt64 ? int64(maxInt64 + 1n) : -value;
  if (typeof value === 'number') return -value;
  throw noSuchOverload();
}

export function not(value: Value): Value {
  if (typeof value === 'boolean') return !value;
  throw noSuchOverload();
}
