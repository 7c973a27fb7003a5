import type { TypeSchema } from '@sheaf/api';
import type { JsonValue } from '@sheaf/base';
import type { PathElement } from './field-path.ts';
import { sortElements } from './field-path.ts';
import { asMember, emptySet, type FieldSet, leaf } from './field-set.ts';
import {
  asList,
  asMap,
  elementsOf,
  fieldSchema,
  isAtomic,
  isEmptyMap,
  isNamedField,
  itemSchema,
  shapeOf,
} from './type-shape.ts';

/**
 * The paths a configuration claims: every scalar and every atomic value, every key of a map, every item of a set or map list, and the
 * fields that are null or an empty map. Structs on the way are not claimed. Items that occur twice are claimed as a whole.
 */
export function fieldSetOf(value: JsonValue, schema: TypeSchema): FieldSet {
  return nodeOf(value, schema) ?? emptySet;
}

/** The node of a value; undefined if neither the value nor anything below it is claimed. */
function nodeOf(value: JsonValue, schema: TypeSchema): FieldSet | undefined {
  const shape = shapeOf(schema, value);
  if (isAtomic(schema, shape)) return leaf;
  return shape === 'map' ? mapNode(value, schema) : listNode(value, schema);
}

function mapNode(value: JsonValue, schema: TypeSchema): FieldSet | undefined {
  const map = asMap(value);
  if (map === undefined) return undefined;
  const children = new Map<PathElement, FieldSet>();
  for (const key in map) {
    const child = map[key];
    if (child === undefined) continue;
    const node = nodeOf(child, fieldSchema(schema, key));
    if (isClaimed(child) || !isNamedField(schema, key))
      children.set(`f:${key}`, node ? asMember(node) : leaf);
    else if (node !== undefined) children.set(`f:${key}`, node);
  }
  return sortedNode(children);
}

/** Whether a field with this value is claimed itself, whatever its type. */
function isClaimed(value: JsonValue): boolean {
  return value === null || (typeof value === 'object' && !Array.isArray(value) && isEmptyMap(value));
}

function listNode(value: JsonValue, schema: TypeSchema): FieldSet | undefined {
  const list = asList(value);
  if (list === undefined) return undefined;
  const elements = elementsOf(schema, list);
  if (elements === undefined) return leaf;
  const children = new Map<PathElement, FieldSet>();
  for (const [index, element] of elements.entries()) {
    const node = children.has(element) ? leaf : nodeOf(list[index] ?? null, itemSchema(schema));
    children.set(element, node ? asMember(node) : leaf);
  }
  return sortedNode(children);
}

function sortedNode(children: ReadonlyMap<PathElement, FieldSet>): FieldSet | undefined {
  if (children.size === 0) return undefined;
  const node: Record<PathElement, FieldSet> = {};
  for (const key of sortElements([...children.keys()])) node[key] = children.get(key) ?? leaf;
  return node;
}
