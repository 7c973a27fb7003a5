import { showValue } from '../library/format-text.ts';
import type { Comprehension, ComprehensionMacro, OptionalMap } from '../syntax/ast.ts';
import { listCreateCost, selfCompareCost } from '../values/cost.ts';
import { compareValues } from '../values/equality.ts';
import { EvaluationFailure, failure, noSuchOverload } from '../values/failure.ts';
import {
  ArrayList,
  EntryMap,
  ListValue,
  MapValue,
  none,
  Optional,
  typeName,
  type Value,
} from '../values/value.ts';
import type { Compiler } from './compile.ts';
import { constantValue } from './constants.ts';
import type { Evaluate, Frame } from './frame.ts';

/** What a macro does with each element and how its result comes about. */
interface Step {
  /** Units for each element besides those of the expressions in the macro. */
  readonly overhead: number;
  /** Units for seeing before the next element that the iteration has ended. */
  readonly lastCheck?: number;
  /** True ends the iteration. */
  readonly visit: (frame: Frame, element: Value) => boolean;
  readonly result: (frame: Frame) => Value;
}

interface Parts {
  readonly predicate: Evaluate | undefined;
  readonly transform: Evaluate;
  /** What appending a transformed element costs besides the transformation. */
  readonly appendCost: number;
}

type StepFactory = (parts: Parts, key: () => Value) => Step;

const factories: Readonly<Record<ComprehensionMacro, StepFactory>> = {
  all: (parts) => quantifier(parts, false),
  exists: (parts) => quantifier(parts, true),
  existsOne,
  filter,
  map: collect,
  transformList: collect,
  transformMap: insertValue,
  transformMapEntry: insertEntries,
  sortBy: (parts) => sortByKey(parts),
};

const noTransform: Evaluate = () => null;

export function compileComprehension(compiler: Compiler, node: Comprehension): Evaluate {
  const range = compiler.compile(node.range);
  const predicate = node.predicate && compiler.compile(node.predicate);
  const transform = node.transform ? compiler.compile(node.transform) : noTransform;
  const isConstant = node.transform !== undefined && constantValue(node.transform) !== undefined;
  const appendCost = isConstant ? sumCost : elementCost;
  const slot = compiler.checked.slots[node.id] ?? 0;
  const isPair = node.variables.length === 2;
  const factory = factories[node.macro];
  return (frame) => {
    const collection = range(frame);
    const step = factory({ predicate, transform, appendCost }, () => frame.slots[slot] ?? null);
    if (collection instanceof ListValue) overList(frame, collection, { slot, isPair, step });
    else if (collection instanceof MapValue) overMap(frame, collection, { slot, isPair, step });
    else throw failure(`got '${goTypeName(collection)}', expected iterable type`);
    frame.charge(1);
    return step.result(frame);
  };
}

/** The name of upstream's type for a value that is no collection. */
function goTypeName(value: Value): string {
  const name = typeName(value);
  const bare = name.slice(name.lastIndexOf('.') + 1).replace('_type', '');
  return `types.${bare.charAt(0).toUpperCase()}${bare.slice(1)}`;
}

interface Iteration {
  readonly slot: number;
  readonly isPair: boolean;
  readonly step: Step;
}

function overList(frame: Frame, list: ListValue, { slot, isPair, step }: Iteration): void {
  for (let position = 0; position < list.size; position++) {
    const element = list.get(position);
    frame.slots[slot] = isPair ? BigInt(position) : element;
    if (isPair) frame.slots[slot + 1] = element;
    frame.charge(step.overhead);
    if (!step.visit(frame, element)) continue;
    if (position + 1 < list.size) frame.charge(step.lastCheck ?? 0);
    return;
  }
}

function overMap(frame: Frame, map: MapValue, { slot, isPair, step }: Iteration): void {
  const keys = map.keys();
  for (const [position, key] of keys.entries()) {
    frame.slots[slot] = key;
    if (isPair) frame.slots[slot + 1] = map.find(key) ?? null;
    frame.charge(step.overhead);
    if (!step.visit(frame, key)) continue;
    if (position + 1 < keys.length) frame.charge(step.lastCheck ?? 0);
    return;
  }
}

function truth(value: Value): boolean {
  if (typeof value === 'boolean') return value;
  throw noSuchOverload();
}

function accepts({ predicate }: Parts, frame: Frame): boolean {
  return predicate === undefined || truth(predicate(frame));
}

/** `all` and `exists`: an element that decides wins over elements that fail. */
function quantifier({ predicate = noTransform }: Parts, deciding: boolean): Step {
  let decided = false;
  let failed: EvaluationFailure | undefined;
  return {
    overhead: deciding ? 4 : 3,
    lastCheck: deciding ? 3 : 2,
    visit: (frame) => {
      try {
        decided = truth(predicate(frame)) === deciding;
      } catch (error) {
        if (!(error instanceof EvaluationFailure)) throw error;
        failed ??= error;
      }
      return decided;
    },
    result: () => {
      if (decided) return deciding;
      if (failed) throw failed;
      return !deciding;
    },
  };
}

function existsOne(parts: Parts): Step {
  let count = 0;
  return {
    overhead: 0,
    visit: (frame) => {
      if (accepts(parts, frame)) {
        count += 1;
        frame.charge(2);
      }
      return false;
    },
    result: (frame) => {
      frame.charge(1);
      return count === 1;
    },
  };
}

/** What it costs to add to a list: the list so far, and the sum. */
const sumCost = 2;
/** The same with making a list of the one element, which is not made for constants. */
const elementCost = listCreateCost + sumCost;

function filter(parts: Parts): Step {
  const items: Value[] = [];
  return {
    overhead: 0,
    visit: (frame, element) => {
      const isKept = accepts(parts, frame);
      if (!isKept) return false;
      frame.charge(elementCost + 1);
      items.push(element);
      return false;
    },
    result: () => new ArrayList(items),
  };
}

function collect(parts: Parts): Step {
  const items: Value[] = [];
  return {
    overhead: 0,
    visit: (frame) => {
      if (!accepts(parts, frame)) return false;
      frame.charge(parts.appendCost);
      items.push(parts.transform(frame));
      return false;
    },
    result: () => new ArrayList(items),
  };
}

function insertValue(parts: Parts, key: () => Value): Step {
  const map = new EntryMap();
  return {
    overhead: 3,
    visit: (frame) => {
      if (accepts(parts, frame)) insert(map, key(), parts.transform(frame));
      return false;
    },
    result: () => map,
  };
}

function insertEntries(parts: Parts): Step {
  const map = new EntryMap();
  return {
    overhead: 2,
    visit: (frame) => {
      if (!accepts(parts, frame)) return false;
      const entries = parts.transform(frame);
      if (!(entries instanceof MapValue)) throw noSuchOverload();
      for (const key of entries.keys()) insert(map, key, entries.find(key) ?? null);
      return false;
    },
    result: () => map,
  };
}

function insert(map: EntryMap, key: Value, value: Value): void {
  if (map.find(key) !== undefined) throw failure(`insert failed: key ${showValue(key)} already exists`);
  map.set(key, value);
}

function sortByKey(parts: Parts): Step {
  const pairs: (readonly [Value, Value])[] = [];
  return {
    overhead: parts.appendCost,
    visit: (frame, element) => {
      pairs.push([parts.transform(frame), element]);
      return false;
    },
    result: (frame) => {
      frame.charge(2 + selfCompareCost(pairs.length, pairs[0]?.[0] ?? null));
      return new ArrayList(sortPairs(pairs).map((pair) => pair[1]));
    },
  };
}

function sortPairs(pairs: readonly (readonly [Value, Value])[]): readonly (readonly [Value, Value])[] {
  const isMixed = pairs.some(([key]) => typeof key !== typeof pairs[0]?.[0]);
  if (isMixed) throw failure('list elements must have the same type');
  return pairs.toSorted((a, b) => compareValues(a[0], b[0]));
}

export function compileOptionalMap(compiler: Compiler, node: OptionalMap): Evaluate {
  const target = compiler.compile(node.target);
  const body = compiler.compile(node.body);
  const slot = compiler.checked.slots[node.id] ?? 0;
  return (frame) => {
    const optional = target(frame);
    if (!(optional instanceof Optional)) throw noSuchOverload();
    frame.charge(1);
    if (optional.value === undefined) return none;
    frame.slots[slot] = optional.value;
    frame.charge(1);
    const result = body(frame);
    return node.isFlat ? result : new Optional(result);
  };
}
