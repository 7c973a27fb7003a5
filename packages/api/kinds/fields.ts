import { isJsonObject, type JsonObject, type JsonValue } from '@sheaf/base';
import { asJson, type KubeObject } from '../meta/object.ts';

/**
 * Reading conformed objects: fields have their declared types, and what is absent reads as empty. Nothing here copies.
 */

const noTexts: readonly string[] = [];
const noObjects: readonly JsonObject[] = [];
const noFields: JsonObject = Object.freeze({});

export function objectAt(parent: JsonObject, name: string): JsonObject | undefined {
  const value = parent[name];
  return isJsonObject(value) ? value : undefined;
}

/** The nested object, or an empty one that must not be written to. */
export function fieldsAt(parent: JsonObject, name: string): JsonObject {
  return objectAt(parent, name) ?? noFields;
}

/** The nested object; made where it is absent. */
export function ensureAt(parent: JsonObject, name: string): JsonObject {
  const found = objectAt(parent, name);
  if (found !== undefined) return found;
  const made: JsonObject = {};
  parent[name] = made;
  return made;
}

export function listAt(parent: JsonObject, name: string): readonly JsonObject[] {
  const value = parent[name];
  return Array.isArray(value) ? (value as JsonObject[]) : noObjects;
}

export function textsAt(parent: JsonObject, name: string): readonly string[] {
  const value = parent[name];
  return Array.isArray(value) ? (value as string[]) : noTexts;
}

export function textAt(parent: JsonObject, name: string): string {
  const value = parent[name];
  return typeof value === 'string' ? value : '';
}

export function numberAt(parent: JsonObject, name: string): number | undefined {
  const value = parent[name];
  return typeof value === 'number' ? value : undefined;
}

export function isTrueAt(parent: JsonObject, name: string): boolean {
  return parent[name] === true;
}

/** A map of texts: labels, data, matchLabels. */
export function mapAt(parent: JsonObject, name: string): Readonly<Record<string, string>> {
  return fieldsAt(parent, name) as Record<string, string>;
}

export function specOf(object: KubeObject): JsonObject {
  return fieldsAt(asJson(object), 'spec');
}

/** The spec to be filled in; made where it is absent. */
export function ensureSpec(object: KubeObject): JsonObject {
  return ensureAt(asJson(object), 'spec');
}

/** Sets a field that was not given; where Go always writes a field, null is what it writes for none. */
export function fill(object: JsonObject, name: string, value: JsonValue): void {
  const given = object[name];
  if (given === undefined || given === null) object[name] = value;
}

/** The same for texts that mean nothing when empty. */
export function fillText(object: JsonObject, name: string, value: string): void {
  if (!object[name]) object[name] = value;
}

export function isEmptyObject(object: JsonObject): boolean {
  for (const _ in object) return false;
  return true;
}

/** A map as messages show it: keys in order. */
export function sortedFields(map: JsonObject): JsonObject {
  const sorted: JsonObject = {};
  for (const key of Object.keys(map).sort()) sorted[key] = map[key];
  return sorted;
}
