import type { ListSchema, TypeSchema } from '@sheaf/api';
import { isJsonObject, type JsonObject, type JsonValue, ownField } from '@sheaf/base';
import { compareText, elementText, type PathElement, quote } from './field-path.ts';

/** How a value is walked: what its schema says, or, where anything goes, what the value is. */
export type Shape = 'map' | 'list' | 'scalar';

export const anySchema: TypeSchema = { type: 'any' };

/** Null takes any shape; where anything goes it counts as a map. */
export function shapeOf(schema: TypeSchema, value: JsonValue | undefined): Shape {
  switch (schema.type) {
    case 'object':
    case 'map':
      return 'map';
    case 'list':
    case 'scalar':
      return schema.type;
    case 'any':
      if (typeof value !== 'object') return value === undefined ? 'map' : 'scalar';
      return Array.isArray(value) ? 'list' : 'map';
  }
}

/** Whether a value is owned and replaced as a whole. */
export function isAtomic(schema: TypeSchema, shape: Shape): boolean {
  if (shape === 'scalar') return true;
  if (shape === 'list') return schema.type !== 'list' || schema.listType === 'atomic';
  return (schema.type === 'object' || schema.type === 'map') && schema.isAtomic;
}

export function fieldSchema(schema: TypeSchema, name: string): TypeSchema {
  if (schema.type === 'object') return schema.fields.get(name)?.schema ?? anySchema;
  return schema.type === 'map' ? schema.values : anySchema;
}

/** A field of a struct, as opposed to a key of a map. */
export function isNamedField(schema: TypeSchema, name: string): boolean {
  return schema.type === 'object' && schema.fields.has(name);
}

/** Whether a struct may have a field of this name. A struct without any field is free-form. */
export function isDeclared(schema: TypeSchema, name: string): boolean {
  if (schema.type !== 'object') return true;
  return schema.fields.has(name) || schema.preserveUnknown || schema.fields.size === 0;
}

export function asMap(value: JsonValue | undefined): JsonObject | undefined {
  return isJsonObject(value) ? value : undefined;
}

export function asList(value: JsonValue | undefined): JsonValue[] | undefined {
  return Array.isArray(value) ? value : undefined;
}

export function isEmptyMap(map: JsonObject | undefined): boolean {
  if (map !== undefined) for (const key in map) if (map[key] !== undefined) return false;
  return true;
}

interface MapKey {
  readonly name: string;
  /** The quoted name and a colon. */
  readonly prefix: string;
  readonly defaultValue: JsonValue | undefined;
}

const keysOfLists = new WeakMap<ListSchema, readonly MapKey[]>();

function keysOf(schema: ListSchema): readonly MapKey[] {
  let keys = keysOfLists.get(schema);
  if (keys === undefined) {
    keys = schema.mapKeys
      .map(({ name, defaultValue }) => ({ name, prefix: `${quote(name)}:`, defaultValue }))
      .toSorted((a, b) => compareText(a.name, b.name));
    keysOfLists.set(schema, keys);
  }
  return keys;
}

/** The path element of an item in a set or map list; undefined if the item has none ({@link itemProblem} says why). */
export function itemElement(schema: ListSchema, item: JsonValue): PathElement | undefined {
  if (schema.listType === 'set') return typeof item === 'object' ? undefined : `v:${elementText(item)}`;
  return isJsonObject(item) ? keyElementOf(schema, item) : undefined;
}

function keyElementOf(schema: ListSchema, item: JsonObject): PathElement | undefined {
  let text = '';
  for (const { name, prefix, defaultValue } of keysOf(schema)) {
    const value = ownField(item, name) ?? defaultValue;
    if (value === undefined) continue;
    // Only scalars can be part of a key.
    if (typeof value === 'object' && value !== null) return undefined;
    text += `${text === '' ? '' : ','}${prefix}${elementText(value)}`;
  }
  return text === '' ? undefined : `k:{${text}}`;
}

/** Why an item has no path element. */
export function itemProblem(schema: ListSchema, item: JsonValue): string {
  if (schema.listType === 'set') {
    if (item === null) return "associative list without keys has an element that's an explicit null";
    return Array.isArray(item)
      ? 'not supported: associative list with lists as elements'
      : "associative list without keys has an element that's a map type";
  }
  if (item === null) return 'associative list with keys may not have a null element';
  if (!isJsonObject(item)) return 'associative list with keys may not have non-map elements';
  const compound = schema.mapKeys.find(
    ({ name }) =>
      typeof (ownField(item, name) ?? null) === 'object' && (ownField(item, name) ?? null) !== null,
  );
  if (compound)
    return `associative list with keys has an element whose key field ${JSON.stringify(compound.name)} is not a scalar`;
  const names = schema.mapKeys.map(({ name }) => JSON.stringify(name)).join(' ');
  return `associative list with keys has an element that omits all key fields [${names}] (and doesn't have default values for any key fields)`;
}

/** The elements of all items; undefined if the list is not one of sets or maps, or if some item has none. */
export function elementsOf(schema: TypeSchema, list: readonly JsonValue[]): PathElement[] | undefined {
  if (schema.type !== 'list' || schema.listType === 'atomic') return undefined;
  const elements: PathElement[] = [];
  for (const item of list) {
    const element = itemElement(schema, item);
    if (element === undefined) return undefined;
    elements.push(element);
  }
  return elements;
}

export function itemSchema(schema: TypeSchema): TypeSchema {
  return schema.type === 'list' ? schema.items : anySchema;
}
