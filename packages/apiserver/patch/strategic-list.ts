import { isJsonObject, type JsonObject, type JsonValue, ownField } from '@sheaf/base';
import { identityOf, type ListOrder, orderList } from './list-order.ts';
import {
  badPatch,
  listOfLists,
  missingMergeKey,
  printValue,
  typeName,
  wrongType,
} from './strategic-errors.ts';

const directive = '$patch';

export interface ItemMerge {
  /** Empty for lists of scalars. */
  readonly mergeKey: string;
  mergeItem(item: JsonObject, change: JsonObject): JsonObject;
}

/** Merges two lists, scalars as sets and maps by their merge key, and puts the result in order. */
export function mergeListItems(
  original: readonly JsonValue[],
  change: readonly JsonValue[],
  merge: ItemMerge,
): readonly JsonValue[] {
  if (original.length === 0 && change.length === 0) return original;
  if (itemType([...original, ...change]) !== 'map') return mergeScalars(original, change);
  if (merge.mergeKey === '') throw badPatch('cannot merge lists without merge key for struct');
  return mergeMapItems(original as JsonObject[], change as JsonObject[], merge);
}

function mergeScalars(original: readonly JsonValue[], change: readonly JsonValue[]): JsonValue[] {
  const merged = [...new Set([...original, ...change])];
  return orderList(merged, { patchOrder: change, liveOrder: original, mergeKey: '' });
}

/** The one type that all items have. */
function itemType(items: readonly JsonValue[]): 'map' | 'scalar' {
  const types = new Set(items.map(typeName));
  const [type] = types;
  if (type === typeName([])) throw listOfLists();
  const isMixed = types.size > 1 && [...types].some((name) => name !== 'int64' && name !== 'float64');
  if (isMixed || items.includes(null)) {
    throw badPatch(`list element types are not identical: ${printValue([...items])}`);
  }
  return type === typeName({}) ? 'map' : 'scalar';
}

function mergeMapItems(
  original: readonly JsonObject[],
  change: readonly JsonObject[],
  merge: ItemMerge,
): JsonValue[] {
  const { mergeKey } = merge;
  const instructed = followItemDirectives(original, change, mergeKey);
  const merged: JsonObject[] = [...instructed.original];
  const positions = new Map<string, number>();
  for (const [index, item] of merged.entries()) {
    const identity = keyOf(item, mergeKey);
    if (!positions.has(identity)) positions.set(identity, index);
  }
  for (const item of instructed.change) {
    const identity = keyOf(item, mergeKey);
    const position = positions.get(identity);
    const present = position === undefined ? undefined : merged[position];
    if (position === undefined || present === undefined) {
      positions.set(identity, merged.push(item) - 1);
    } else {
      merged[position] = merge.mergeItem(present, item);
    }
  }
  return orderList(merged, { patchOrder: instructed.change, liveOrder: instructed.original, mergeKey });
}

function keyOf(item: JsonObject, mergeKey: string): string {
  if (ownField(item, mergeKey) === undefined) throw missingMergeKey(item, mergeKey);
  return identityOf(item, mergeKey);
}

interface Instructed {
  readonly original: readonly JsonObject[];
  readonly change: readonly JsonObject[];
}

/** Follows the `$patch` items of a change; what is left of both lists. */
function followItemDirectives(
  original: readonly JsonObject[],
  change: readonly JsonObject[],
  mergeKey: string,
): Instructed {
  const plain = change.filter((item) => !Object.hasOwn(item, directive));
  if (plain.length === change.length) return { original, change };
  const deleted = new Set<string>();
  let isReplaced = false;
  for (const item of change) {
    const instruction = ownField(item, directive);
    if (instruction === 'delete') deleted.add(keyOf(item, mergeKey));
    else if (instruction === 'replace') isReplaced = true;
    else if (instruction !== undefined) throw badDirective(instruction, item);
  }
  if (isReplaced) return { original: plain, change: [] };
  return { original: original.filter((item) => !deleted.has(identityOf(item, mergeKey))), change: plain };
}

function badDirective(instruction: JsonValue, item: JsonObject): Error {
  if (instruction === 'merge') return badPatch('merging lists cannot yet be specified in the patch');
  return badPatch(`unknown patch type: ${printValue(instruction)} in map: ${printValue(item)}`);
}

/** Puts a list in the order of `$setElementOrder`. */
export function orderByElements(merged: readonly JsonValue[], order: ListOrder): JsonValue[] {
  if (merged.length === 0) return [];
  const { mergeKey } = order;
  for (const list of mergeKey === '' ? [] : [merged, order.patchOrder]) {
    for (const item of list) {
      if (!isJsonObject(item)) throw wrongType('map', item);
      keyOf(item, mergeKey);
    }
  }
  return orderList(merged, order);
}

/** The items of a patch have to stand in its `$setElementOrder`, in the same order; those to be deleted need not. */
export function checkElementOrder(
  change: readonly JsonValue[],
  order: readonly JsonValue[],
  mergeKey: string,
): void {
  if (order.length === 0) return;
  let next = 0;
  for (const item of change) {
    if (isJsonObject(item) && Object.hasOwn(item, directive)) continue;
    const identity = orderIdentity(item, mergeKey);
    while (next < order.length && orderIdentity(order[next] ?? null, mergeKey) !== identity) next++;
    if (next++ < order.length) continue;
    const lists = `\n${printValue([...change])}\n doesn't match $setElementOrder list:\n${printValue([...order])}\n`;
    throw badPatch(`The order in patch list:${lists}`);
  }
}

function orderIdentity(item: JsonValue, mergeKey: string): string {
  if (mergeKey === '') return identityOf(item, '');
  if (!isJsonObject(item)) throw wrongType('map', item);
  return keyOf(item, mergeKey);
}
