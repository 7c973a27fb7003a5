import {
  boolType,
  bytesType,
  type CelType,
  doubleType,
  durationType,
  intType,
  listOf,
  stringType,
  timestampType,
  typeParam,
  uintType,
} from '../checker/type.ts';
import { add } from '../evaluator/arithmetic.ts';
import { hiddenCost, listCreateCost, listTraversal, selfCompareCost } from '../values/cost.ts';
import { compareValues, type Meter, valuesEqual } from '../values/equality.ts';
import { EvaluationFailure, failure } from '../values/failure.ts';
import { ArrayList, Duration, ListValue, Uint, type Value } from '../values/value.ts';
import { method, type Overload, plain } from './overload.ts';

const paramA = typeParam('A');
const listA = listOf(paramA);
const comparable = [
  intType,
  uintType,
  doubleType,
  boolType,
  durationType,
  timestampType,
  stringType,
  bytesType,
];
/** More elements than any cost limit pays for. */
const maxRange = 1_000_000_000n;

/** One overload for each type of element. */
function forTypes(
  types: readonly CelType[],
  build: (type: CelType, list: CelType<ListValue>) => Overload,
): Overload[] {
  return types.map((type) => build(type, listOf(type)));
}

function elements(list: ListValue): Value[] {
  return Array.from({ length: list.size }, (_, index) => list.get(index));
}

function isSorted(list: ListValue): boolean {
  for (let index = 1; index < list.size; index++)
    if (compareValues(list.get(index - 1), list.get(index)) > 0) return false;
  return true;
}

function sum(list: ListValue, zero: Value): Value {
  let total = zero;
  for (let index = 0; index < list.size; index++) total = add(total, list.get(index));
  return total;
}

/** NaN for values without an order, which upstream passes over here. */
function compareOrNothing(a: Value, b: Value): number {
  try {
    return compareValues(a, b);
  } catch (error) {
    if (error instanceof EvaluationFailure) return Number.NaN;
    throw error;
  }
}

function extreme(name: string, sign: number): (list: ListValue) => Value {
  return (list) => {
    if (list.size === 0) throw failure(`${name} called on empty list`);
    let best = list.get(0);
    for (let index = 1; index < list.size; index++) {
      const next = list.get(index);
      if (compareOrNothing(best, next) * sign > 0) best = next;
    }
    return best;
  };
}

function indexOf(list: ListValue, item: Value, meter: Meter): bigint {
  for (let index = 0; index < list.size; index++)
    if (valuesEqual(list.get(index), item, meter)) return BigInt(index);
  return -1n;
}

function lastIndexOf(list: ListValue, item: Value, meter: Meter): bigint {
  for (let index = list.size - 1; index >= 0; index--)
    if (valuesEqual(list.get(index), item, meter)) return BigInt(index);
  return -1n;
}

function slice(list: ListValue, start: bigint, end: bigint): ListValue {
  const call = `cannot slice(${start}, ${end})`;
  if (start < 0n || end < 0n) throw failure(`${call}, negative indexes not supported`);
  if (start > end) throw failure(`${call}, start index must be less than or equal to end index`);
  if (end > BigInt(list.size)) throw failure(`${call}, list is length ${list.size}`);
  return new ArrayList(elements(list).slice(Number(start), Number(end)));
}

function flatten(list: ListValue, depth: bigint): ListValue {
  if (depth < 0n) throw failure('level must be non-negative');
  const flat: Value[] = [];
  collect(list, depth > 1000n ? 1000n : depth, flat);
  return new ArrayList(flat);
}

function collect(list: ListValue, depth: bigint, into: Value[]): void {
  for (let index = 0; index < list.size; index++) {
    const value = list.get(index);
    if (depth > 0n && value instanceof ListValue) collect(value, depth - 1n, into);
    else into.push(value);
  }
}

function sort(list: ListValue): ListValue {
  const items = elements(list);
  const kind = typeof items[0];
  if (items.some((item) => typeof item !== kind)) throw failure('list elements must have the same type');
  return new ArrayList(items.sort(compareValues));
}

function range(count: bigint): ListValue {
  return new ArrayList(Array.from({ length: count > 0n ? Number(count) : 0 }, (_, index) => BigInt(index)));
}

function distinct(list: ListValue, meter: Meter): ListValue {
  const kept: Value[] = [];
  for (let index = 0; index < list.size; index++) {
    const value = list.get(index);
    if (!kept.some((other) => valuesEqual(other, value, meter))) kept.push(value);
  }
  return new ArrayList(kept);
}

function allocating(size: number, factor = 1): number {
  return Math.floor(size * factor) + 1 + listCreateCost;
}

function selfCompare(list: ListValue): number {
  return selfCompareCost(list.size, list.size > 0 ? list.get(0) : null);
}

function flattenCost(list: ListValue, depth: bigint): number {
  const levels = Math.min(Math.max(0, Number(depth)), 1000);
  return allocating(list.size * levels) + hiddenCost(list, levels);
}

const zeros: readonly (readonly [CelType, Value])[] = [
  [intType, 0n],
  [uintType, new Uint(0n)],
  [doubleType, 0],
  [durationType, new Duration(0n)],
];

/** Kubernetes' list functions and the lists extension, version 3. */
export const listLibrary: Readonly<Record<string, readonly Overload[]>> = {
  isSorted: forTypes(comparable, (_, list) =>
    method({ params: [list], result: boolType, call: isSorted, cost: listTraversal }),
  ),
  sum: zeros.map(([type, zero]) =>
    method({ params: [listOf(type)], result: type, call: (list) => sum(list, zero), cost: listTraversal }),
  ),
  max: forTypes(comparable, (type, list) =>
    method({ params: [list], result: type, call: extreme('max', -1), cost: listTraversal }),
  ),
  min: forTypes(comparable, (type, list) =>
    method({ params: [list], result: type, call: extreme('min', 1), cost: listTraversal }),
  ),
  indexOf: [
    method({ params: [listA, paramA], result: intType, call: indexOf, cost: (list) => listTraversal(list) }),
  ],
  lastIndexOf: [
    method({
      params: [listA, paramA],
      result: intType,
      call: lastIndexOf,
      cost: (list) => listTraversal(list),
    }),
  ],
  slice: [
    method({
      params: [listA, intType, intType],
      result: listA,
      call: slice,
      cost: (_, start, end) => allocating(Math.max(0, Number(end - start))),
    }),
  ],
  flatten: [
    method({
      params: [listOf(listA)],
      result: listA,
      call: (list) => flatten(list, 1n),
      cost: (list) => flattenCost(list, 1n),
    }),
    method({
      params: [listOf(typeParam('dyn')), intType],
      result: listOf(typeParam('B')),
      call: flatten,
      cost: flattenCost,
    }),
  ],
  sort: forTypes(comparable, (_, list) =>
    method({ params: [list], result: list, call: sort, cost: selfCompare }),
  ),
  'lists.range': [
    plain({
      params: [intType],
      result: listOf(intType),
      call: range,
      cost: (count) => allocating(Number(count > maxRange ? maxRange : count > 0n ? count : 0n)),
    }),
  ],
  reverse: [
    method({
      params: [listA],
      result: listA,
      call: (list) => new ArrayList(elements(list).reverse()),
      cost: (list) => allocating(list.size),
    }),
  ],
  distinct: [method({ params: [listA], result: listA, call: distinct, cost: selfCompare })],
};
