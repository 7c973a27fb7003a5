import type { JsonValue } from '@sheaf/base';

/** Sets a field whatever its name: a plain assignment to `__proto__` would set the prototype. */
export function setField(object: Record<string, JsonValue | undefined>, key: string, value: JsonValue): void {
  if (key !== '__proto__') {
    object[key] = value;
    return;
  }
  Object.defineProperty(object, key, { value, enumerable: true, writable: true, configurable: true });
}

/** Reads an own field; inherited ones such as `constructor` are absent. */
export function getField(
  object: Readonly<Record<string, JsonValue | undefined>>,
  key: string,
): JsonValue | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}
