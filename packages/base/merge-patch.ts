import { badRequest } from './errors.ts';
import { isJsonObject, type JsonObject, type JsonValue, jsonEqual } from './json.ts';
import { isWithinDepth, ownField, setField, shallowCopy } from './json-fields.ts';

/**
 * RFC 7396. The inputs are not changed; unchanged parts of the document are shared with the answer. As in the API server, nulls
 * inside a value that is new to the document are dropped, also in objects within lists. Throws a StatusError 400 for a patch that is nested too deeply.
 */
export function applyMergePatch(document: JsonValue | undefined, patch: JsonValue): JsonValue {
  if (!isWithinDepth(patch)) throw badRequest('error decoding patch: exceeded max depth');
  return mergeValue(document, patch);
}

function mergeValue(document: JsonValue | undefined, patch: JsonValue): JsonValue {
  if (!isJsonObject(document)) return withoutNulls(patch);
  if (!isJsonObject(patch)) return patch;
  const merged = shallowCopy(document);
  for (const key of Object.keys(patch)) {
    const change = patch[key];
    if (change === undefined) continue;
    if (change === null) delete merged[key];
    else setField(merged, key, mergeValue(ownField(document, key), change));
  }
  return merged;
}

function withoutNulls(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isJsonObject(value)) return value;
  const kept: JsonObject = {};
  for (const key of Object.keys(value)) {
    const field = value[key];
    if (field !== null && field !== undefined) setField(kept, key, withoutNulls(field));
  }
  return kept;
}

/** The smallest merge patch that turns `from` into `to`. Nulls inside `to` cannot be expressed, as RFC 7396 says. */
export function createMergePatch(from: JsonObject, to: JsonObject): JsonObject {
  const patch: JsonObject = {};
  for (const key of Object.keys(from)) {
    if (from[key] !== undefined && ownField(to, key) === undefined) setField(patch, key, null);
  }
  for (const key of Object.keys(to)) {
    const change = changeOf(ownField(from, key), to[key]);
    if (change !== undefined) setField(patch, key, change);
  }
  return patch;
}

function changeOf(from: JsonValue | undefined, to: JsonValue | undefined): JsonValue | undefined {
  if (to === undefined || jsonEqual(from, to)) return undefined;
  return isJsonObject(from) && isJsonObject(to) ? createMergePatch(from, to) : to;
}
