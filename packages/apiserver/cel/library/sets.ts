import { boolType, listOf, typeParam } from '../checker/type.ts';
import { type Meter, valuesEqual } from '../values/equality.ts';
import type { ListValue, Value } from '../values/value.ts';
import { type Overload, plain } from './overload.ts';

const listT = listOf(typeParam('T'));

function has(list: ListValue, value: Value, meter: Meter): boolean {
  for (let index = 0; index < list.size; index++) if (valuesEqual(list.get(index), value, meter)) return true;
  return false;
}

function contains(list: ListValue, part: ListValue, meter: Meter): boolean {
  for (let index = 0; index < part.size; index++) if (!has(list, part.get(index), meter)) return false;
  return true;
}

function intersects(a: ListValue, b: ListValue, meter: Meter): boolean {
  for (let index = 0; index < a.size; index++) if (has(b, a.get(index), meter)) return true;
  return false;
}

function setFunction(call: (a: ListValue, b: ListValue, meter: Meter) => boolean, factor: number): Overload {
  return plain({
    params: [listT, listT],
    result: boolType,
    call,
    cost: (a, b) => 1 + a.size * b.size * factor,
  });
}

/** The sets extension: lists seen as sets. */
export const setLibrary: Readonly<Record<string, readonly Overload[]>> = {
  'sets.contains': [setFunction(contains, 1)],
  'sets.equivalent': [setFunction((a, b, meter) => contains(a, b, meter) && contains(b, a, meter), 2)],
  'sets.intersects': [setFunction(intersects, 1)],
};
