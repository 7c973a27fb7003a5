import type { TypeSchema } from '@sheaf/api';
import { type JsonObject, type JsonValue, jsonEqual, ownField, setField, shallowCopy } from '@sheaf/base';
import type { PathElement } from './field-path.ts';
import {
  asList,
  asMap,
  elementsOf,
  fieldSchema,
  isAtomic,
  isEmptyMap,
  itemSchema,
  shapeOf,
} from './type-shape.ts';

/**
 * The live value with a configuration laid over it: nothing is removed; where both have a leaf the configuration's is taken; items of
 * sets and map lists take the configuration's order, between them what only the live list has. Answers the live value itself if
 * nothing changes, and shares with it what does not.
 */
export function mergeValues(live: JsonValue, applied: JsonValue, schema: TypeSchema): JsonValue {
  const shape = shapeOf(schema, applied);
  if (isAtomic(schema, shape)) return takeWhole(live, applied);
  return shape === 'map' ? mergeMaps(live, applied, schema) : mergeLists(live, applied, schema);
}

function takeWhole(live: JsonValue, applied: JsonValue): JsonValue {
  return jsonEqual(live, applied) ? live : applied;
}

function mergeMaps(live: JsonValue, applied: JsonValue, schema: TypeSchema): JsonValue {
  const old = asMap(live);
  const config = asMap(applied);
  if (isEmptyMap(old) && isEmptyMap(config)) return takeWhole(live, applied);
  if (old === undefined) return applied;
  return config === undefined ? live : mergeFields(old, config, schema);
}

function mergeFields(live: JsonObject, applied: JsonObject, schema: TypeSchema): JsonObject {
  let merged: JsonObject | undefined;
  for (const key in applied) {
    const value = applied[key];
    if (value === undefined) continue;
    const old = ownField(live, key);
    const field = old === undefined ? value : mergeValues(old, value, fieldSchema(schema, key));
    if (field !== old) setField((merged ??= shallowCopy(live)), key, field);
  }
  return merged ?? live;
}

function mergeLists(live: JsonValue, applied: JsonValue, schema: TypeSchema): JsonValue {
  const old = asList(live) ?? [];
  const config = asList(applied) ?? [];
  if (old.length === 0 && config.length === 0) return takeWhole(live, applied);
  if (config.length === 0) return live;
  const liveElements = elementsOf(schema, old);
  const appliedElements = elementsOf(schema, config);
  if (liveElements === undefined || appliedElements === undefined) return takeWhole(live, applied);
  const merged = mergeItems(
    { items: old, elements: liveElements },
    { items: config, elements: appliedElements },
    schema,
  );
  const isUnchanged = merged.length === old.length && merged.every((item, index) => item === old[index]);
  return isUnchanged ? live : merged;
}

interface KeyedList {
  readonly items: readonly JsonValue[];
  readonly elements: readonly PathElement[];
}

/** A walk through a live list and a configured one at once. */
interface ListWalk {
  readonly live: KeyedList;
  readonly applied: KeyedList;
  readonly schema: TypeSchema;
  readonly liveItems: ReadonlyMap<PathElement, JsonValue>;
  readonly wanted: ReadonlySet<PathElement>;
  /** Items of both lists, in the configuration's order. */
  readonly shared: readonly PathElement[];
  readonly taken: Set<PathElement>;
  readonly merged: JsonValue[];
  livePosition: number;
  appliedPosition: number;
  turn: number;
}

/**
 * Items that only the live list has stay between their neighbours; those of the configuration come in its order, and a shared item that
 * the live list has too early is passed over until its turn.
 */
function mergeItems(live: KeyedList, applied: KeyedList, schema: TypeSchema): JsonValue[] {
  const liveItems = itemsByElement(live);
  const walk: ListWalk = {
    live,
    applied,
    schema,
    liveItems,
    wanted: new Set(applied.elements),
    shared: applied.elements.filter((element) => liveItems.has(element)),
    taken: new Set(),
    merged: [],
    livePosition: 0,
    appliedPosition: 0,
    turn: 0,
  };
  while (walk.livePosition < live.items.length || walk.appliedPosition < applied.items.length) {
    if (!stepLive(walk)) takeApplied(walk);
  }
  return walk.merged;
}

/** True if the next live item was dealt with alone; otherwise it is the configuration's turn. */
function stepLive(walk: ListWalk): boolean {
  const element = walk.live.elements[walk.livePosition];
  if (element === undefined) return false;
  const isAppliedLeft = walk.appliedPosition < walk.applied.items.length;
  if (isAppliedLeft && element === walk.applied.elements[walk.appliedPosition]) {
    walk.livePosition++;
    return false;
  }
  if (!walk.wanted.has(element)) {
    walk.merged.push(walk.live.items[walk.livePosition++] as JsonValue);
    return true;
  }
  const due = walk.shared[walk.turn];
  const isEarly = isAppliedLeft && due !== undefined && due !== element;
  if (!isEarly && !walk.taken.has(element)) return false;
  walk.livePosition++;
  return isEarly || !isAppliedLeft;
}

function takeApplied(walk: ListWalk): void {
  const element = walk.applied.elements[walk.appliedPosition];
  const item = walk.applied.items[walk.appliedPosition++];
  if (element === undefined || item === undefined) return;
  const old = walk.liveItems.get(element);
  const isNew = old === undefined || old === null;
  walk.merged.push(isNew ? item : mergeValues(old, item, itemSchema(walk.schema)));
  walk.taken.add(element);
  if (walk.shared[walk.turn] === element) walk.turn++;
}

/** The item of each key; null where there are several, which the configuration's item replaces. */
function itemsByElement(list: KeyedList): Map<PathElement, JsonValue> {
  const items = new Map<PathElement, JsonValue>();
  for (const [index, element] of list.elements.entries()) {
    items.set(element, items.has(element) ? null : (list.items[index] as JsonValue));
  }
  return items;
}
