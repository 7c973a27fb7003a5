import { isJsonObject, type JsonObject } from '@sheaf/base';

const nothing: JsonObject = Object.freeze({});

/** A field that holds an object; an empty one if it holds anything else. */
export function objectAt(value: unknown, field: string): JsonObject {
  const found = isJsonObject(value) && Object.hasOwn(value, field) ? value[field] : undefined;
  return isJsonObject(found) ? found : nothing;
}

/** The objects of a list field; whatever else is in it is left out. */
export function objectsAt(value: unknown, field: string): readonly JsonObject[] {
  const found = isJsonObject(value) && Object.hasOwn(value, field) ? value[field] : undefined;
  return Array.isArray(found) ? found.filter(isJsonObject) : [];
}

/** A text field; empty if it holds anything else. */
export function textAt(value: unknown, field: string): string {
  const found = isJsonObject(value) && Object.hasOwn(value, field) ? value[field] : undefined;
  return typeof found === 'string' ? found : '';
}
