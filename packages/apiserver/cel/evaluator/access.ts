import { showValue } from '../library/format-text.ts';
import type { Meter } from '../values/equality.ts';
import { valuesEqual } from '../values/equality.ts';
import { failure, noSuchOverload } from '../values/failure.ts';
import { ListValue, MapValue, none, Optional, Uint, type Value } from '../values/value.ts';

/** `operand.field`. */
export function selectField(operand: Value, field: string): Value {
  if (operand instanceof MapValue) {
    const value = operand.find(field);
    if (value !== undefined) return value;
  } else if (operand instanceof Optional) return findField(operand, field);
  if (operand instanceof ListValue) throw failure("unsupported index type 'string' in list");
  throw failure(`no such key: ${field}`);
}

/** `operand.?field`, and fields of an optional. */
export function findField(operand: Value, field: string): Optional {
  const inner = operand instanceof Optional ? operand.value : operand;
  if (inner === undefined) return none;
  if (!(inner instanceof MapValue)) return none;
  const value = inner.find(field);
  return value === undefined ? none : new Optional(value);
}

/** `has(operand.field)`. */
export function hasField(operand: Value, field: string): boolean {
  const inner = operand instanceof Optional ? operand.value : operand;
  return inner instanceof MapValue && inner.find(field) !== undefined;
}

/** `operand[key]`. */
export function index(operand: Value, key: Value): Value {
  if (operand instanceof Optional) return findIndex(operand, key);
  const value = findElement(operand, key);
  if (value !== undefined) return value;
  const what = operand instanceof ListValue ? 'index out of bounds' : 'no such key';
  throw failure(`${what}: ${showValue(key)}`);
}

/** `operand[?key]`, and elements of an optional. */
export function findIndex(operand: Value, key: Value): Optional {
  const inner = operand instanceof Optional ? operand.value : operand;
  if (inner === undefined) return none;
  const value = findElement(inner, key);
  return value === undefined ? none : new Optional(value);
}

function findElement(operand: Value, key: Value): Value | undefined {
  if (operand instanceof MapValue) return operand.find(key);
  if (!(operand instanceof ListValue)) throw noSuchOverload();
  const position = listIndex(key);
  return position < 0 || position >= operand.size ? undefined : operand.get(position);
}

function listIndex(key: Value): number {
  if (typeof key === 'bigint') return Number(key);
  if (key instanceof Uint) return Number(key.value);
  if (typeof key === 'number' && Number.isInteger(key)) return key;
  throw failure(`unsupported index type '${typeof key === 'number' ? 'double' : typeof key}' in list`);
}

/** `value in collection`. */
export function contains(value: Value, collection: Value, meter: Meter): boolean {
  if (collection instanceof MapValue) return collection.find(value) !== undefined;
  if (!(collection instanceof ListValue)) throw noSuchOverload();
  for (let position = 0; position < collection.size; position++)
    if (valuesEqual(collection.get(position), value, meter)) return true;
  return false;
}
