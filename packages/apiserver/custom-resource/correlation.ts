import { isJsonObject, type JsonObject, type JsonValue, jsonEqual } from '@sheaf/base';
import { getField } from './object-fields.ts';
import type { SchemaNode } from './schema-node.ts';

/** The old counterpart of a value on an update. */
export interface Correlation {
  readonly value: JsonValue | undefined;
  readonly isRoot: boolean;
  /** Items of a `map` list by their keys, once asked for. */
  byKey?: Map<string, JsonValue>;
}

/** The old value of a field, if the schema knows the field and both values have it. */
export function correlateKey(
  node: SchemaNode,
  key: string,
  old: Correlation | undefined,
): Correlation | undefined {
  if (old === undefined || (old.isRoot && (key === 'kind' || key === 'apiVersion'))) return undefined;
  if (childSchema(node, key) === undefined || !isJsonObject(old.value)) return undefined;
  const value = getField(old.value, key);
  return value === undefined ? undefined : { value, isRoot: false };
}

function childSchema(node: SchemaNode, key: string): SchemaNode | undefined {
  return node.properties.get(key) ?? node.additionalProperties?.schema;
}

/** The old item with the same keys, for lists of type `map`; items of other lists have no counterpart. */
export function correlateItem(
  node: SchemaNode,
  item: JsonValue | undefined,
  old: Correlation | undefined,
): Correlation | undefined {
  if (old === undefined || node.listType !== 'map' || node.items === undefined) return undefined;
  old.byKey ??= indexItems(node, old.value);
  const key = keyOf(node, item);
  const value = key === undefined ? undefined : old.byKey.get(key);
  return value === undefined ? undefined : { value, isRoot: false };
}

function indexItems(node: SchemaNode, list: JsonValue | undefined): Map<string, JsonValue> {
  const index = new Map<string, JsonValue>();
  if (!Array.isArray(list) || node.type !== 'array') return index;
  for (const item of list) {
    const key = keyOf(node, item);
    if (key !== undefined && !index.has(key)) index.set(key, item);
  }
  return index;
}

function keyOf(node: SchemaNode, item: JsonValue | undefined): string | undefined {
  if (!isJsonObject(item) || node.listMapKeys.length === 0) return undefined;
  let key = '';
  for (const name of node.listMapKeys) {
    const value = getField(item, name);
    if (value === undefined || value === null || typeof value === 'object') return undefined;
    key += `\0${JSON.stringify(value)}`;
  }
  return key;
}

/**
 * Whether a value equals its old counterpart, so that its faults are not reported again. Fields that the schema does
 * not know have no counterpart, and make their object count as changed.
 */
export function isUnchanged(
  node: SchemaNode,
  value: JsonValue | undefined,
  old: JsonValue | undefined,
): boolean {
  if (value === null || old === null) return value === old;
  if (Array.isArray(value)) return Array.isArray(old) && isSameList(node, value, old);
  if (isJsonObject(value)) return isJsonObject(old) && isSameObject(node, value, old);
  return value === old;
}

function isSameList(node: SchemaNode, list: JsonValue[], old: JsonValue[]): boolean {
  if (list.length !== old.length) return false;
  if (node.listType !== 'map') return jsonEqual(list, old);
  const correlation: Correlation = { value: old, isRoot: false };
  const { items } = node;
  return list.every((item) => {
    const counterpart = correlateItem(node, item, correlation);
    return items !== undefined && counterpart !== undefined && isUnchanged(items, item, counterpart.value);
  });
}

function isSameObject(node: SchemaNode, object: JsonObject, old: JsonObject): boolean {
  const keys = Object.keys(object);
  if (keys.length !== Object.keys(old).length) return false;
  return keys.every((key) => {
    const child = childSchema(node, key);
    return child !== undefined && Object.hasOwn(old, key) && isUnchanged(child, object[key], old[key]);
  });
}
