import { isJsonObject, type JsonValue } from '@sheaf/base';
import type { GoStruct, GoType } from '../builtin/go-type.ts';

/** As many as upstream reports; more say nothing new. */
const maxReported = 100;

/** The fields a struct does not know, in the order of the document: `unknown field "spec.containers[0].zork"`. */
export function unknownFields(struct: GoStruct, value: JsonValue): string[] {
  const found = new Set<string>();
  inStruct({ found, path: '' }, struct, value);
  return [...found].map((path) => `unknown field ${JSON.stringify(path)}`);
}

interface Search {
  readonly found: Set<string>;
  readonly path: string;
}

function member({ found, path }: Search, key: string): Search {
  return { found, path: path === '' ? key : `${path}.${key}` };
}

function inStruct(search: Search, struct: GoStruct, value: JsonValue): void {
  if (!isJsonObject(value)) return;
  for (const key in value) {
    if (search.found.size >= maxReported) return;
    const inner = member(search, key);
    const field = struct.fieldsByName.get(key);
    const given = value[key];
    if (given === undefined) continue;
    if (field === undefined) search.found.add(inner.path);
    else inType(inner, field.type, given);
  }
}

function inType(search: Search, type: GoType, value: JsonValue): void {
  if (type.kind === 'struct' && type.struct !== undefined) inStruct(search, type.struct, value);
  else if (type.kind === 'list' && type.items !== undefined) inList(search, type.items, value);
  else if (type.kind === 'map' && type.items !== undefined) inMap(search, type.items, value);
}

function inList(search: Search, items: GoType, value: JsonValue): void {
  if (!Array.isArray(value) || !isComposite(items)) return;
  value.forEach((item, index) =>
    inType({ found: search.found, path: `${search.path}[${index}]` }, items, item),
  );
}

function inMap(search: Search, values: GoType, value: JsonValue): void {
  if (!isJsonObject(value) || !isComposite(values)) return;
  for (const key in value) inType(member(search, key), values, value[key] ?? null);
}

function isComposite(type: GoType): boolean {
  return type.kind === 'struct' || type.kind === 'list' || type.kind === 'map';
}
