import { type JsonObject, type JsonValue, jsonClone } from '@sheaf/base';
import { setField } from './object-fields.ts';
import type { SchemaNode } from './schema-node.ts';

/** Writes missing defaults into a value, in place. */
export type Defaulter = (value: JsonValue | undefined) => void;

interface DefaultField {
  readonly name: string;
  readonly value: JsonValue;
  readonly nullable: boolean;
  readonly isReserved: boolean;
}

/** Compiles the defaults of a schema; nothing if it has none. Defaults are copied into each value. */
export function compileDefaults(node: SchemaNode): Defaulter | undefined {
  const onObject = compileObject(node);
  const onArray = compileArray(node);
  if (onObject === undefined && onArray === undefined) return undefined;
  return (value) => {
    if (typeof value !== 'object' || value === null) return;
    if (Array.isArray(value)) onArray?.(value);
    else onObject?.(value);
  };
}

function compileObject(node: SchemaNode): ((object: JsonObject) => void) | undefined {
  const fields = defaultFields(node);
  const below = new Map<string, Defaulter>();
  for (const [name, property] of node.properties) {
    const defaulter = compileDefaults(property);
    if (defaulter !== undefined) below.set(name, defaulter);
  }
  const others = compileOthers(node);
  if (fields.length === 0 && below.size === 0 && others === undefined) return undefined;
  return (object) => {
    for (const field of fields) fill(object, field);
    for (const [name, defaulter] of below) {
      const value = object[name];
      if (typeof value === 'object' && value !== null) defaulter(value);
    }
    others?.(object);
  };
}

function defaultFields(node: SchemaNode): readonly DefaultField[] {
  const fields: DefaultField[] = [];
  for (const [name, property] of node.properties) {
    const value = property.defaultValue;
    if (value === undefined) continue;
    fields.push({ name, value, nullable: property.nullable, isReserved: name in Object.prototype });
  }
  return fields;
}

function fill(object: JsonObject, field: DefaultField): void {
  const current = field.isReserved && !Object.hasOwn(object, field.name) ? undefined : object[field.name];
  if (current !== undefined && (current !== null || field.nullable)) return;
  setField(object, field.name, typeof field.value === 'object' ? jsonClone(field.value) : field.value);
}

function compileOthers(node: SchemaNode): ((object: JsonObject) => void) | undefined {
  const schema = node.additionalProperties?.schema;
  if (schema === undefined) return undefined;
  const below = compileDefaults(schema);
  const replacement = nullReplacement(schema);
  if (below === undefined && replacement === undefined) return undefined;
  return (object) => {
    for (const key in object) {
      if (node.properties.has(key)) continue;
      if (object[key] === null && replacement !== undefined) setField(object, key, jsonClone(replacement));
      below?.(object[key]);
    }
  };
}

/** What replaces a null; nothing if nulls stay. */
function nullReplacement(node: SchemaNode): JsonValue | undefined {
  return node.nullable ? undefined : node.defaultValue;
}

function compileArray(node: SchemaNode): ((list: JsonValue[]) => void) | undefined {
  if (node.items === undefined) return undefined;
  const below = compileDefaults(node.items);
  const replacement = nullReplacement(node.items);
  if (below === undefined && replacement === undefined) return undefined;
  return (list) => {
    for (let i = 0; i < list.length; i++) {
      if (list[i] === null && replacement !== undefined) list[i] = jsonClone(replacement);
      below?.(list[i]);
    }
  };
}
