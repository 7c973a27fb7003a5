/** A value that JSON can carry. Integers beyond 2^53 are not representable, as in JavaScript. */
export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject;

/** A JSON object. Absent fields are `undefined` and are never serialized. */
export interface JsonObject {
  [key: string]: JsonValue | undefined;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Structural equality; the order of object keys does not matter, `undefined` fields count as absent. */
export function jsonEqual(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) return Array.isArray(b) && arraysEqual(a, b);
  return isJsonObject(a) && isJsonObject(b) && objectsEqual(a, b);
}

function arraysEqual(a: readonly JsonValue[], b: readonly JsonValue[]): boolean {
  return a.length === b.length && a.every((item, index) => jsonEqual(item, b[index]));
}

function objectsEqual(a: JsonObject, b: JsonObject): boolean {
  // Own fields only: a field may be called `constructor` or `__proto__`.
  for (const key in a) if (!jsonEqual(a[key], Object.hasOwn(b, key) ? b[key] : undefined)) return false;
  for (const key in b) if (b[key] !== undefined && !Object.hasOwn(a, key)) return false;
  return true;
}

/** A deep copy that shares nothing with its source. */
export function jsonClone<T extends JsonValue | undefined>(value: T): T {
  if (Array.isArray(value)) return value.map((item) => jsonClone(item)) as T;
  return isJsonObject(value) ? (cloneObject(value) as T) : value;
}

function cloneObject(value: JsonObject): JsonObject {
  const copy: JsonObject = {};
  for (const key in value) {
    // A plain assignment to `__proto__` would set the prototype instead of a field.
    if (key === '__proto__')
      Object.defineProperty(copy, key, {
        value: jsonClone(value[key]),
        enumerable: true,
        writable: true,
        configurable: true,
      });
    else copy[key] = jsonClone(value[key]);
  }
  return copy;
}
