import { isJsonObject, type JsonObject, type JsonValue } from './json.ts';

/** The deepest nesting that patches and merges accept; deeper values are refused before anything recurses. */
export const maxJsonDepth = 1000;

/** A field of the object itself: safe for names such as `constructor` or `__proto__`. */
export function ownField(object: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** Sets a field; a plain assignment to `__proto__` would set the prototype instead. */
export function setField(object: JsonObject, name: string, value: JsonValue | undefined): void {
  if (name !== '__proto__') {
    object[name] = value;
    return;
  }
  Object.defineProperty(object, name, { value, enumerable: true, writable: true, configurable: true });
}

/** A copy of the object's own fields; nested values are shared. */
export function shallowCopy(object: JsonObject): JsonObject {
  return Object.hasOwn(object, '__proto__') ? copyFields(object) : { ...object };
}

function copyFields(object: JsonObject): JsonObject {
  const copy: JsonObject = {};
  for (const key of Object.keys(object)) setField(copy, key, object[key]);
  return copy;
}

/** True when no value inside is nested deeper than `limit` levels. Costs one walk; never recurses deeper than `limit`. */
export function isWithinDepth(value: JsonValue | undefined, limit: number = maxJsonDepth): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (limit === 0) return false;
  if (Array.isArray(value)) return value.every((item) => isWithinDepth(item, limit - 1));
  if (!isJsonObject(value)) return true;
  for (const key in value) if (!isWithinDepth(value[key], limit - 1)) return false;
  return true;
}
