import { duplicate, type FieldError } from '@sheaf/api';
import { isJsonObject, type JsonObject, type JsonValue } from '@sheaf/base';
import { goJson, showValue } from './go-text.ts';
import { getField, setField } from './object-fields.ts';
import type { SchemaNode } from './schema-node.ts';

/** Finds items that occur twice in lists of type `set` and `map`. */
export type DuplicateFinder = (
  value: JsonValue | undefined,
  path: () => string,
  errors: FieldError[],
) => void;

/** Compiles the search for duplicates; nothing if no list of the schema has to be unique. */
export function compileDuplicates(node: SchemaNode): DuplicateFinder | undefined {
  const onArray = compileArray(node);
  const onObject = compileObject(node);
  if (onArray === undefined && onObject === undefined) return undefined;
  return (value, path, errors) => {
    if (Array.isArray(value)) onArray?.(value, path, errors);
    else if (isJsonObject(value)) onObject?.(value, path, errors);
  };
}

type ListFinder = (list: JsonValue[], path: () => string, errors: FieldError[]) => void;

function compileArray(node: SchemaNode): ListFinder | undefined {
  const below = node.items === undefined ? undefined : compileDuplicates(node.items);
  const own = ownFinder(node);
  if (below === undefined) return own;
  return (list, path, errors) => {
    own?.(list, path, errors);
    for (let i = 0; i < list.length; i++) below(list[i], () => `${path()}[${i}]`, errors);
  };
}

function ownFinder(node: SchemaNode): ListFinder | undefined {
  if (node.listType === 'set') return findEqualItems;
  if (node.listType !== 'map') return undefined;
  return (list, path, errors) => findEqualKeys(list, node.listMapKeys, { path, errors });
}

function compileObject(
  node: SchemaNode,
): ((object: JsonObject, path: () => string, errors: FieldError[]) => void) | undefined {
  const named = new Map<string, DuplicateFinder>();
  for (const [name, property] of node.properties) {
    const finder = compileDuplicates(property);
    if (finder !== undefined) named.set(name, finder);
  }
  const schema = node.additionalProperties?.schema;
  const others = schema === undefined ? undefined : compileDuplicates(schema);
  if (named.size === 0 && others === undefined) return undefined;
  return (object, path, errors) => {
    if (others !== undefined) {
      for (const key in object) others(object[key], () => `${path()}[${key}]`, errors);
    }
    for (const [name, finder] of named) {
      const value = getField(object, name);
      if (typeof value === 'object') finder(value, () => childPath(path(), name), errors);
    }
  };
}

function childPath(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

function findEqualItems(list: JsonValue[], path: () => string, errors: FieldError[]): void {
  for (const index of repeated(list)) {
    errors.push(duplicateAt(`${path()}[${index}]`, list[index]));
  }
}

function duplicateAt(field: string, value: JsonValue | undefined): FieldError {
  return { ...duplicate(field, null), message: `Duplicate value: ${showValue(value)}` };
}

/** Indices of items that equal an earlier one, each repeated value once. */
function repeated(list: readonly (JsonValue | undefined)[]): readonly number[] {
  if (list.length < 2) return [];
  const seen = new Map<string | number | boolean | null | undefined, number>();
  const found: number[] = [];
  for (let i = 0; i < list.length; i++) {
    const item = list[i];
    // Compound values are told apart from texts by the leading character.
    const key =
      typeof item === 'object' && item !== null
        ? `c${goJson(item)}`
        : typeof item === 'string'
          ? `s${item}`
          : item;
    const times = seen.get(key) ?? 0;
    if (times === 1) found.push(i);
    seen.set(key, times + 1);
  }
  return found;
}

interface KeySearch {
  readonly path: () => string;
  readonly errors: FieldError[];
}

function findEqualKeys(list: JsonValue[], names: readonly string[], search: KeySearch): void {
  const odd = list.findIndex((item) => item !== null && !isJsonObject(item));
  if (odd >= 0) {
    search.errors.push({
      type: 'FieldValueInvalid',
      field: `${search.path()}[${odd}]`,
      message: `Invalid value: ${showValue(list[odd])}: must be an object for an array of list-type map`,
    });
    return;
  }
  const [only] = names;
  const keys = list.map((item) => {
    if (names.length === 1 && only !== undefined)
      return isJsonObject(item) ? getField(item, only) : undefined;
    return keysOf(item, names);
  });
  for (const index of repeated(keys)) {
    search.errors.push(duplicateAt(`${search.path()}[${index}]`, keysOf(list[index], names)));
  }
}

function keysOf(item: JsonValue | undefined, names: readonly string[]): JsonObject {
  const keys: JsonObject = {};
  if (!isJsonObject(item)) return keys;
  for (const name of names) {
    const value = getField(item, name);
    if (value !== undefined) setField(keys, name, value);
  }
  return keys;
}
