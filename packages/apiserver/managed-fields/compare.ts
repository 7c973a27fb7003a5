import type { TypeSchema } from '@sheaf/api';
import { type JsonObject, type JsonValue, jsonEqual, ownField } from '@sheaf/base';
import { fieldElement, type PathElement } from './field-path.ts';
import {
  emptySet,
  type FieldSet,
  finishSet,
  insertPath,
  isEmptySet,
  newDraft,
  recursiveDifference,
  type SetDraft,
  union,
} from './field-set.ts';
import {
  asList,
  asMap,
  elementsOf,
  fieldSchema,
  isAtomic,
  isEmptyMap,
  itemSchema,
  type Shape,
  shapeOf,
} from './type-shape.ts';

/** How one value differs from another. No path is in two of the sets. */
export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

export const noDifference: Comparison = { added: emptySet, modified: emptySet, removed: emptySet };

export function isSame(comparison: Comparison): boolean {
  return isEmptySet(comparison.added) && isEmptySet(comparison.modified) && isEmptySet(comparison.removed);
}

/** The fields that got a new value: added or modified. */
export function changedFields(comparison: Comparison): FieldSet {
  return union(comparison.modified, comparison.added);
}

export function excludeFields(comparison: Comparison, fields: FieldSet): Comparison {
  return {
    added: recursiveDifference(comparison.added, fields),
    modified: recursiveDifference(comparison.modified, fields),
    removed: recursiveDifference(comparison.removed, fields),
  };
}

/** A value before and after; undefined where it is absent. */
interface Sides {
  readonly before: JsonValue | undefined;
  readonly after: JsonValue | undefined;
}

class Walk {
  readonly path: PathElement[] = [];
  #added: SetDraft | undefined;
  #modified: SetDraft | undefined;
  #removed: SetDraft | undefined;

  addPath(): void {
    insertPath((this.#added ??= newDraft()), this.path);
  }

  modifyPath(): void {
    insertPath((this.#modified ??= newDraft()), this.path);
  }

  removePath(): void {
    insertPath((this.#removed ??= newDraft()), this.path);
  }

  /** Records a value that is compared as a whole. */
  leaf(sides: Sides): void {
    if (sides.before === undefined) this.addPath();
    else if (sides.after === undefined) this.removePath();
    else if (!jsonEqual(sides.before, sides.after)) this.modifyPath();
  }

  result(): Comparison {
    if (!this.#added && !this.#modified && !this.#removed) return noDifference;
    return { added: toSet(this.#added), modified: toSet(this.#modified), removed: toSet(this.#removed) };
  }
}

function toSet(draft: SetDraft | undefined): FieldSet {
  return draft === undefined ? emptySet : finishSet(draft);
}

/** Compares field by field, as the schema divides the value. Values of unexpected types are compared as a whole. */
export function compareValues(before: JsonValue, after: JsonValue, schema: TypeSchema): Comparison {
  if (before === after) return noDifference;
  const walk = new Walk();
  compareNode(walk, { before, after }, schema);
  return walk.result();
}

function compareNode(walk: Walk, sides: Sides, schema: TypeSchema): void {
  if (schema.type === 'scalar') {
    walk.leaf(sides);
    return;
  }
  const { before, after } = sides;
  const shape = shapeOf(schema, after === undefined ? before : after);
  if (schema.type === 'any' && before !== undefined && after !== undefined) {
    const shapeBefore = shapeOf(schema, before);
    if (shapeBefore !== shape) compareAs(walk, sides, { schema, shape: shapeBefore });
  }
  if (compareAs(walk, sides, { schema, shape })) return;
  if (before === undefined) walk.addPath();
  else if (after === undefined) walk.removePath();
}

interface Kind {
  readonly schema: TypeSchema;
  readonly shape: Shape;
}

/** True if the value was compared as a whole. */
function compareAs(walk: Walk, sides: Sides, kind: Kind): boolean {
  const { schema, shape } = kind;
  if (!isAtomic(schema, shape)) {
    return shape === 'map' ? compareMaps(walk, sides, schema) : compareLists(walk, sides, schema);
  }
  walk.leaf(sides);
  return true;
}

function compareMaps(walk: Walk, sides: Sides, schema: TypeSchema): boolean {
  const before = asMap(sides.before);
  const after = asMap(sides.after);
  if (isEmptyMap(before) && isEmptyMap(after)) {
    walk.leaf(sides);
    return true;
  }
  if (after !== undefined) compareFields(walk, { before: before ?? {}, after }, schema);
  if (before !== undefined) compareMissing(walk, { before, after: after ?? {} }, schema);
  return false;
}

interface MapSides {
  readonly before: JsonObject;
  readonly after: JsonObject;
}

function compareFields(walk: Walk, sides: MapSides, schema: TypeSchema): void {
  const { before, after } = sides;
  for (const key in after) {
    const value = after[key];
    const old = ownField(before, key);
    if (value === old || value === undefined) continue;
    walk.path.push(fieldElement(key));
    compareNode(walk, { before: old, after: value }, fieldSchema(schema, key));
    walk.path.pop();
  }
}

function compareMissing(walk: Walk, sides: MapSides, schema: TypeSchema): void {
  const { before, after } = sides;
  for (const key in before) {
    if (before[key] === undefined || ownField(after, key) !== undefined) continue;
    walk.path.push(fieldElement(key));
    compareNode(walk, { before: before[key], after: undefined }, fieldSchema(schema, key));
    walk.path.pop();
  }
}

function compareLists(walk: Walk, sides: Sides, schema: TypeSchema): boolean {
  const before = asList(sides.before) ?? [];
  const after = asList(sides.after) ?? [];
  if (before.length === 0 && after.length === 0) {
    walk.leaf(sides);
    return true;
  }
  if (jsonEqual(sides.before, sides.after)) return false;
  const itemsBefore = groupItems(schema, before);
  const itemsAfter = groupItems(schema, after);
  if (itemsBefore !== undefined && itemsAfter !== undefined) {
    compareGroups(walk, { before: itemsBefore, after: itemsAfter }, schema);
    return false;
  }
  walk.leaf(sides);
  return true;
}

interface GroupSides {
  readonly before: ReadonlyMap<PathElement, readonly JsonValue[]>;
  readonly after: ReadonlyMap<PathElement, readonly JsonValue[]>;
}

function compareGroups(walk: Walk, { before, after }: GroupSides, schema: TypeSchema): void {
  for (const [element, items] of after) {
    compareItems(walk, { element, before: before.get(element) ?? [], after: items }, schema);
  }
  for (const [element, items] of before) {
    if (!after.has(element)) compareItems(walk, { element, before: items, after: [] }, schema);
  }
}

function groupItems(
  schema: TypeSchema,
  list: readonly JsonValue[],
): Map<PathElement, JsonValue[]> | undefined {
  const elements = elementsOf(schema, list);
  if (elements === undefined) return undefined;
  const groups = new Map<PathElement, JsonValue[]>();
  for (const [index, element] of elements.entries()) {
    const group = groups.get(element);
    const item = list[index] as JsonValue;
    if (group === undefined) groups.set(element, [item]);
    else group.push(item);
  }
  return groups;
}

interface ItemSides {
  readonly element: PathElement;
  readonly before: readonly JsonValue[];
  readonly after: readonly JsonValue[];
}

/** Items of one key. Several of them count as one value: they appear, change and vanish together. */
function compareItems(walk: Walk, sides: ItemSides, schema: TypeSchema): void {
  const [before] = sides.before;
  const [after] = sides.after;
  const isRepeatedBefore = sides.before.length > 1;
  const isRepeatedAfter = sides.after.length > 1;
  walk.path.push(sides.element);
  if (isRepeatedBefore && isRepeatedAfter) {
    walk.leaf({ before: [...sides.before], after: [...sides.after] });
  } else if (isRepeatedBefore) {
    if (after !== undefined) compareNode(walk, { before: undefined, after }, itemSchema(schema));
    walk.removePath();
  } else if (isRepeatedAfter) {
    if (before !== undefined) compareNode(walk, { before, after: undefined }, itemSchema(schema));
    walk.addPath();
  } else {
    compareNode(walk, { before, after }, itemSchema(schema));
  }
  walk.path.pop();
}
