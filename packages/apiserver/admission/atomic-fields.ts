import type { TypeSchema } from '@sheaf/api';
import { isJsonObject, type JsonObject, type JsonValue } from '@sheaf/base';

/** Paths of the lists, maps and structs in a configuration that can only be replaced as a whole, e.g. `.spec.args`. */
export function findAtomics(value: JsonValue, schema: TypeSchema, path = ''): readonly string[] {
  if (Array.isArray(value)) return atomicsOfList(value, schema, path);
  return isJsonObject(value) ? atomicsOfObject(value, schema, path) : [];
}

function atomicsOfObject(value: JsonObject, schema: TypeSchema, path: string): readonly string[] {
  if (schema.type !== 'object' && schema.type !== 'map') return [];
  const found = schema.isAtomic ? [path] : [];
  if (schema.type === 'map') return found;
  for (const [key, field] of Object.entries(value)) {
    const known = schema.fields.get(key)?.schema;
    if (field !== undefined && known) found.push(...findAtomics(field, known, `${path}.${key}`));
  }
  return found;
}

function atomicsOfList(list: readonly JsonValue[], schema: TypeSchema, path: string): readonly string[] {
  if (schema.type !== 'list') return [];
  const found = schema.listType === 'atomic' ? [path] : [];
  for (const [index, item] of list.entries())
    found.push(...findAtomics(item, schema.items, `${path}[${index}]`));
  return found;
}
