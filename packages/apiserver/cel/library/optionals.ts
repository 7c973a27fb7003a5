import { boolType, listOf, optionalOf, typeParam } from '../checker/type.ts';
import { failure } from '../values/failure.ts';
import {
  ArrayList,
  Duration,
  ListValue,
  MapValue,
  none,
  Optional,
  Timestamp,
  Uint,
  type Value,
} from '../values/value.ts';
import { method, type Overload, plain } from './overload.ts';

const paramV = typeParam('V');
const optionalV = optionalOf(paramV);
const listV = listOf(paramV);
const listOptionalV = listOf(optionalV);
const zeroTime = -62_135_596_800_000_000_000n;

function isZero(value: Value): boolean {
  if (typeof value === 'object' && value !== null) return isZeroObject(value);
  return value === null || value === false || value === '' || value === 0 || value === 0n;
}

function isZeroObject(value: object): boolean {
  if (value instanceof ListValue || value instanceof MapValue) return value.size === 0;
  if (value instanceof Uint) return value.value === 0n;
  if (value instanceof Uint8Array) return value.length === 0;
  if (value instanceof Duration) return value.nanos === 0n;
  return value instanceof Timestamp && value.nanos === zeroTime;
}

function unwrapAll(list: ListValue): ListValue {
  const values: Value[] = [];
  for (let index = 0; index < list.size; index++) {
    const optional = list.get(index);
    if (!(optional instanceof Optional)) throw failure('value is not an optional');
    if (optional.value !== undefined) values.push(optional.value);
  }
  return new ArrayList(values);
}

function valueOf(optional: Optional): Value {
  if (optional.value === undefined) throw failure('optional.none() dereference');
  return optional.value;
}

/** Optional types. */
export const optionalLibrary: Readonly<Record<string, readonly Overload[]>> = {
  'optional.of': [plain({ params: [paramV], result: optionalV, call: (value) => new Optional(value) })],
  'optional.ofNonZeroValue': [
    plain({
      params: [paramV],
      result: optionalV,
      call: (value) => (isZero(value) ? none : new Optional(value)),
    }),
  ],
  'optional.none': [plain({ params: [], result: optionalV, call: () => none })],
  'optional.unwrap': [
    plain({
      params: [listOptionalV],
      result: listV,
      call: unwrapAll,
      cost: (list) => 1 + Math.floor(list.size / 100),
    }),
  ],
  unwrapOpt: [
    method({
      params: [listOptionalV],
      result: listV,
      call: unwrapAll,
      cost: (list) => 1 + Math.floor(list.size / 100),
    }),
  ],
  value: [method({ params: [optionalV], result: paramV, call: valueOf })],
  hasValue: [
    method({ params: [optionalV], result: boolType, call: (optional) => optional.value !== undefined }),
  ],
  or: [
    method({
      params: [optionalV, optionalV],
      result: optionalV,
      call: (optional, other) => (optional.value === undefined ? other : optional),
      cost: () => 0,
    }),
  ],
  orValue: [
    method({
      params: [optionalV, paramV],
      result: paramV,
      // Not `??`: the value may be null.
      call: (optional, other) => (optional.value === undefined ? other : optional.value),
      cost: () => 0,
    }),
  ],
  first: [
    method({
      params: [listV],
      result: optionalV,
      call: (list) => (list.size === 0 ? none : new Optional(list.get(0))),
    }),
  ],
  last: [
    method({
      params: [listV],
      result: optionalV,
      call: (list) => (list.size === 0 ? none : new Optional(list.get(list.size - 1))),
    }),
  ],
};
