import { isJsonObject, type JsonObject } from '@sheaf/base';

export { objectAt, objectsAt, textAt } from '../authorization/object-field.ts';

/** The object in a field; made where there is none. */
export function ensureObject(parent: JsonObject, field: string): JsonObject {
  const found = parent[field];
  if (isJsonObject(found)) return found;
  const made: JsonObject = {};
  parent[field] = made;
  return made;
}

/** The objects of a list field, as they are; the list may be appended to. Made where there is none. */
export function ensureList(parent: JsonObject, field: string): JsonObject[] {
  const found = parent[field];
  if (Array.isArray(found)) return found as JsonObject[];
  const made: JsonObject[] = [];
  parent[field] = made;
  return made;
}

/** A whole number; 0 if the field holds anything else. */
export function integerAt(value: unknown, field: string): number {
  const found = isJsonObject(value) && Object.hasOwn(value, field) ? value[field] : undefined;
  return typeof found === 'number' && Number.isInteger(found) ? found : 0;
}

/** The texts of a list field; whatever else is in it is left out. */
export function textsAt(value: unknown, field: string): readonly string[] {
  const found = isJsonObject(value) && Object.hasOwn(value, field) ? value[field] : undefined;
  return Array.isArray(found) ? found.filter((item): item is string => typeof item === 'string') : [];
}

/** A field that is on, off, or not given. */
export function flagAt(value: unknown, field: string): boolean | undefined {
  const found = isJsonObject(value) && Object.hasOwn(value, field) ? value[field] : undefined;
  return typeof found === 'boolean' ? found : undefined;
}
