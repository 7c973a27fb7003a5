import { isJsonObject, type JsonObject, type JsonValue, jsonClone } from '@sheaf/base';

/** A field by its path, such as `domain.cpu.model`. */
export function fieldAt(object: JsonObject, path: string): JsonValue | undefined {
  let value: JsonValue | undefined = object;
  for (const word of path.split('.')) value = isJsonObject(value) ? value[word] : undefined;
  return value;
}

/** Absent, or what clients write for a field that they do not use. */
export function isUnset(value: JsonValue | undefined): boolean {
  return value === undefined || value === null || value === '' || value === 0 || value === false;
}

/** Sets a field and what is above it; with `undefined` nothing. */
export function setField(object: JsonObject, path: string, value: JsonValue | undefined): void {
  if (value === undefined) return;
  const words = path.split('.');
  let place = object;
  for (const word of words.slice(0, -1)) {
    const next = place[word];
    const inner = isJsonObject(next) ? next : {};
    place[word] = inner;
    place = inner;
  }
  place[words.at(-1) ?? ''] = jsonClone(value);
}

/** Sets a field that its user has left open. */
export function fillField(object: JsonObject, path: string, value: JsonValue | undefined): void {
  const old = fieldAt(object, path);
  if (old === undefined || old === null || old === '') setField(object, path, value);
}

export function objectsAt(object: JsonObject, path: string): readonly JsonObject[] {
  const list = fieldAt(object, path);
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
}

/** Of a field that holds a text or a number; anything else is no text. */
export function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
