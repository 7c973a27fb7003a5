import { isJsonObject, type JsonObject, type JsonValue } from '@sheaf/base';

/** Reading JSON of unknown shape: a value of the wrong type counts as absent. */

export function readText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

const noTexts: readonly string[] = [];

export function readTexts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : noTexts;
}

export function readNumber(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

export function readObject(value: unknown): JsonObject | undefined {
  return isJsonObject(value) ? value : undefined;
}

export function readObjects(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.map((item: JsonValue) => readObject(item) ?? {}) : [];
}
