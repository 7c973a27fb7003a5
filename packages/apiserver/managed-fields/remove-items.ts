import type { TypeSchema } from '@sheaf/api';
import { type JsonObject, type JsonValue, setField } from '@sheaf/base';
import { asMember, type FieldSet, isEmptySet, isMember } from './field-set.ts';
import {
  asList,
  asMap,
  elementsOf,
  fieldSchema,
  isAtomic,
  isNamedField,
  itemSchema,
  shapeOf,
} from './type-shape.ts';

/**
 * The value without the fields and items of the set. Containers that become empty stay, as empty ones; a container goes only if its own
 * path is in the set. Answers the very same value if nothing is removed.
 */
export function removeItems(value: JsonValue, set: FieldSet, schema: TypeSchema): JsonValue {
  const shape = shapeOf(schema, value);
  if (isEmptySet(set) || isAtomic(schema, shape)) return value;
  return shape === 'map' ? removeFields(value, set, schema) : removeListItems(value, set, schema);
}

function removeFields(value: JsonValue, set: FieldSet, schema: TypeSchema): JsonValue {
  const map = asMap(value);
  if (map === undefined) return value;
  const kept: JsonObject = {};
  let isChanged = false;
  for (const key in map) {
    const child = map[key];
    const node = set[`f:${key}`];
    const field =
      child === undefined || node === undefined ? child : removeNode(child, node, fieldSchema(schema, key));
    if (field !== child) isChanged = true;
    if (field !== undefined) setField(kept, key, field);
  }
  return isChanged ? kept : value;
}

function removeNode(value: JsonValue, node: FieldSet, schema: TypeSchema): JsonValue | undefined {
  return isMember(node) ? undefined : removeItems(value, node, schema);
}

function removeListItems(value: JsonValue, set: FieldSet, schema: TypeSchema): JsonValue {
  const list = asList(value);
  const elements = list && elementsOf(schema, list);
  if (list === undefined || elements === undefined) return value;
  const kept: JsonValue[] = [];
  let isChanged = false;
  for (const [index, element] of elements.entries()) {
    const item = list[index] as JsonValue;
    const node = set[element];
    const left = node === undefined ? item : removeNode(item, node, itemSchema(schema));
    if (left !== item) isChanged = true;
    if (left !== undefined) kept.push(left);
  }
  return isChanged ? kept : value;
}

/** The set and, in addition, each named field that has members below: what has to go if all below it goes. */
export function withNamedFields(set: FieldSet, schema: TypeSchema): FieldSet {
  const named: Record<string, FieldSet> = {};
  for (const key in set) {
    const child = set[key] as FieldSet;
    const name = key.slice(2);
    const isField = key.startsWith('f:');
    const node =
      key === '.' ? child : withNamedFields(child, isField ? fieldSchema(schema, name) : itemSchema(schema));
    named[key] = isField && isNamedField(schema, name) && !isMember(node) ? asMember(node) : node;
  }
  return named;
}
