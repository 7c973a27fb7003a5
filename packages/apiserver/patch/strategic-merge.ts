import type { TypeSchema } from '@sheaf/api';
import {
  isJsonObject,
  isWithinDepth,
  type JsonObject,
  type JsonValue,
  ownField,
  setField,
  shallowCopy,
} from '@sheaf/base';
import {
  badPatch,
  printValue,
  wrongElementOrder,
  wrongPrimitiveList,
  wrongRetainKeys,
  wrongType,
} from './strategic-errors.ts';
import { checkElementOrder, mergeListItems, orderByElements } from './strategic-list.ts';
import { itemSchemaOf, patchFieldOf } from './strategic-schema.ts';

const directive = '$patch';
const retainKeys = '$retainKeys';
const elementOrder = '$setElementOrder';
const deletions = '$deleteFromPrimitiveList';

/**
 * Applies a strategic merge patch to a document of a built-in kind. Neither input is changed; unchanged parts of the document are shared
 * with the answer, which is not normalised yet. Throws a StatusError: 400 for a patch that is not well-formed, 422 for lists of lists.
 */
export function strategicMergePatch(document: JsonObject, patch: JsonObject, schema: TypeSchema): JsonObject {
  if (!isWithinDepth(patch)) throw badPatch('exceeded max depth');
  return mergeMaps(document, patch, schema);
}

export function mergeMaps(original: JsonObject, patch: JsonObject, schema: TypeSchema): JsonObject {
  const instruction = ownField(patch, directive);
  if (instruction !== undefined) return followDirective(instruction, patch);
  const merged = keepRetained(original, patch);
  const ordered = mergeOrderedLists(merged, patch, schema);
  const deleted: string[] = [];
  for (const key of Object.keys(patch)) {
    if (key === retainKeys || key.startsWith(elementOrder) || ordered.has(key)) continue;
    if (key.startsWith(deletions)) deleted.push(key);
    else mergeField(merged, { key, change: patch[key] }, schema);
  }
  for (const key of deleted) deleteFromList(merged, key, patch[key]);
  return merged;
}

function followDirective(instruction: JsonValue, patch: JsonObject): JsonObject {
  if (instruction === 'delete') return {};
  const { [directive]: _, ...replacement } = patch;
  if (instruction === 'replace') return replacement;
  throw badPatch(`unknown patch type: ${printValue(instruction)} in map: ${printValue(patch)}`);
}

/** A copy of the original, only with the fields that `$retainKeys` names if the patch has that. */
function keepRetained(original: JsonObject, patch: JsonObject): JsonObject {
  const list = ownField(patch, retainKeys);
  if (list === undefined) return shallowCopy(original);
  if (!Array.isArray(list)) throw badPatch(wrongRetainKeys);
  const retained = new Set(list);
  const kept: JsonObject = {};
  checkRetained(patch, retained);
  for (const key of Object.keys(original)) if (retained.has(key)) setField(kept, key, original[key]);
  return kept;
}

/** What a patch sets has to be among what it retains. */
function checkRetained(patch: JsonObject, retained: ReadonlySet<JsonValue>): void {
  for (const key of Object.keys(patch)) {
    const isDirective = key === retainKeys || key.startsWith(deletions) || key.startsWith(elementOrder);
    if (!isDirective && patch[key] !== null && !retained.has(key)) throw badPatch(wrongRetainKeys);
  }
}

/** Merges the lists that have a `$setElementOrder`; answers their names, which need no more merging. */
function mergeOrderedLists(merged: JsonObject, patch: JsonObject, schema: TypeSchema): ReadonlySet<string> {
  const done = new Set<string>();
  for (const key of Object.keys(patch)) {
    if (!key.startsWith(elementOrder)) continue;
    const order = asList(patch[key]);
    const name = nameAfter(key, elementOrder, wrongElementOrder);
    const change = ownField(patch, name);
    const list = mergeOrderedList({ original: ownField(merged, name), change, order }, name, schema);
    if (list !== undefined) setField(merged, name, list);
    done.add(name);
  }
  return done;
}

interface OrderedList {
  readonly original: JsonValue | undefined;
  readonly change: JsonValue | undefined;
  readonly order: readonly JsonValue[];
}

function mergeOrderedList(list: OrderedList, name: string, schema: TypeSchema): JsonValue[] | undefined {
  const original = list.original === undefined ? undefined : asList(list.original);
  const change = list.change === undefined ? undefined : asList(list.change);
  const field = patchFieldOf(schema, name);
  checkElementOrder(change ?? [], list.order, field.mergeKey);
  if (original === undefined && change === undefined) return undefined;
  const merged = mergePresentLists(original, change, field);
  return orderByElements(merged, {
    patchOrder: list.order,
    liveOrder: original ?? [],
    mergeKey: field.mergeKey,
  });
}

function mergePresentLists(
  original: readonly JsonValue[] | undefined,
  change: readonly JsonValue[] | undefined,
  field: ReturnType<typeof patchFieldOf>,
): readonly JsonValue[] {
  if (change === undefined) return original ?? [];
  if (original === undefined) return withoutDirectives([...change]) as JsonValue[];
  return mergeLists(original, change, field);
}

function mergeLists(
  original: readonly JsonValue[],
  change: readonly JsonValue[],
  field: ReturnType<typeof patchFieldOf>,
): readonly JsonValue[] {
  if (field.strategy !== 'merge') return change;
  const schema = itemSchemaOf(field.schema);
  return mergeListItems(original, change, {
    mergeKey: field.mergeKey,
    mergeItem: (item, itemChange) => mergeMaps(item, itemChange, schema),
  });
}

interface FieldChange {
  readonly key: string;
  readonly change: JsonValue | undefined;
}

function mergeField(merged: JsonObject, { key, change }: FieldChange, schema: TypeSchema): void {
  if (change === undefined) return;
  const original = ownField(merged, key);
  if (change === null) delete merged[key];
  else if (isJsonObject(original) && isJsonObject(change)) {
    const field = patchFieldOf(schema, key);
    const isReplaced = field.strategy === 'replace';
    setField(merged, key, isReplaced ? change : mergeMaps(original, change, field.schema));
  } else if (Array.isArray(original) && Array.isArray(change)) {
    setField(merged, key, [...mergeLists(original, change, patchFieldOf(schema, key))]);
  } else {
    takeNew(merged, key, change);
  }
}

/** A value that replaces nothing, or something of another type: without directives and nulls. */
function takeNew(merged: JsonObject, key: string, change: JsonValue): void {
  const value = withoutDirectives(change);
  if (value === undefined) delete merged[key];
  else setField(merged, key, value);
}

/** Undefined for a map that is itself a directive. */
function withoutDirectives(value: JsonValue): JsonValue | undefined {
  if (Array.isArray(value)) return value.map(withoutDirectives).filter((item) => item !== undefined);
  if (!isJsonObject(value)) return value;
  if (Object.hasOwn(value, directive)) return undefined;
  const kept: JsonObject = {};
  for (const key of Object.keys(value)) {
    const field = value[key];
    const clean = field === null || field === undefined ? undefined : withoutDirectives(field);
    if (clean !== undefined) setField(kept, key, clean);
  }
  return kept;
}

/** Takes the listed scalars out of a list, whatever the list's strategy is. */
function deleteFromList(merged: JsonObject, key: string, listed: JsonValue | undefined): void {
  const name = nameAfter(key, deletions, wrongPrimitiveList);
  const original = ownField(merged, name);
  if (listed === null) delete merged[name];
  if (!Array.isArray(original) || !Array.isArray(listed)) return;
  const gone = new Set(listed);
  setField(
    merged,
    name,
    original.filter((item) => !gone.has(item)),
  );
}

function nameAfter(key: string, prefix: string, problem: string): string {
  if (!key.startsWith(`${prefix}/`)) throw badPatch(problem);
  return key.slice(prefix.length + 1);
}

function asList(value: JsonValue | undefined): readonly JsonValue[] {
  if (!Array.isArray(value)) throw wrongType('list', value);
  return value;
}
