import { isJsonObject, type JsonObject, type JsonValue, ownField } from '@sheaf/base';
import { SettingProblem } from './setting-problem.ts';

/** @throws SettingProblem when the text is no JSON, or no object */
export function jsonObjectOf(text: string): JsonObject {
  const value = jsonOf(text);
  if (isJsonObject(value)) return value;
  throw new SettingProblem('it is JSON, but not an object', 'Write an object: {"field": value}.');
}

function jsonOf(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    throw new SettingProblem(
      `it is no valid JSON: ${cause}`,
      'Write a JSON object, with double quotes and without a comma at the end.',
    );
  }
}

/** Absent or null: 0. */
export function integerField(object: JsonObject, field: string): number {
  const value = ownField(object, field) ?? 0;
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value;
  throw wrongType(field, value, 'a whole number, without quotes');
}

/** Absent or null: false. */
export function booleanField(object: JsonObject, field: string): boolean {
  const value = ownField(object, field) ?? false;
  if (typeof value === 'boolean') return value;
  throw wrongType(field, value, 'true or false, without quotes');
}

/** Absent or null: empty. */
export function stringField(object: JsonObject, field: string): string {
  const value = ownField(object, field) ?? '';
  if (typeof value === 'string') return value;
  throw wrongType(field, value, 'a text in double quotes');
}

/** Absent or null: none. */
export function stringsField(object: JsonObject, field: string): readonly string[] {
  const value = ownField(object, field) ?? [];
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
  throw wrongType(field, value, 'a list of texts: ["one", "two"]');
}

/** Absent or null: an empty one. */
export function objectField(object: JsonObject, field: string): JsonObject {
  const value = ownField(object, field) ?? {};
  if (isJsonObject(value)) return value;
  throw wrongType(field, value, 'an object: {"field": value}');
}

/** @throws SettingProblem naming the first field that is none of `known` */
export function refuseUnknownFields(object: JsonObject, known: readonly string[]): void {
  const unknown = Object.keys(object).find((field) => !known.includes(field));
  if (unknown !== undefined)
    throw new SettingProblem(`there is no field ${unknown}`, `Use ${known.join(', ')}.`);
}

function wrongType(field: string, value: JsonValue, wanted: string): SettingProblem {
  return new SettingProblem(
    `${field} is ${JSON.stringify(value)}, which it cannot be`,
    `Write ${field} as ${wanted}.`,
  );
}
