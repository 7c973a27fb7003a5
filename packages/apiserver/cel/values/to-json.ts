import type { JsonObject, JsonValue } from '@sheaf/base';
import { failure } from './failure.ts';
import { formatDuration, formatTimestamp } from './time.ts';
import { Duration, ListValue, MapValue, Optional, Timestamp, typeName, Uint, type Value } from './value.ts';

/** A value as JSON. Fails the evaluation for values that have none, and beyond 100 levels. */
export function toJson(value: Value, depth = 0): JsonValue {
  if (depth > 100) throw failure('value is nested too deeply');
  switch (typeof value) {
    case 'string':
    case 'boolean':
    case 'number':
      return value;
    case 'bigint':
      return Number(value);
    default:
      return value === null ? null : objectToJson(value, depth);
  }
}

type ObjectValue = Exclude<Value, null | string | boolean | number | bigint>;

function objectToJson(value: ObjectValue, depth: number): JsonValue {
  if (value instanceof ListValue)
    return Array.from({ length: value.size }, (_, index) => toJson(value.get(index), depth + 1));
  if (value instanceof MapValue) return mapToJson(value, depth);
  if (value instanceof Uint) return Number(value.value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  return namedToJson(value, depth);
}

function namedToJson(
  value: Exclude<ObjectValue, ListValue | MapValue | Uint | Uint8Array>,
  depth: number,
): JsonValue {
  if (value instanceof Timestamp) return formatTimestamp(value);
  if (value instanceof Duration) return formatDuration(value);
  if (value instanceof Optional && value.value !== undefined) return toJson(value.value, depth + 1);
  throw failure(`type conversion error from '${typeName(value)}' to JSON`);
}

function mapToJson(map: MapValue, depth: number): JsonObject {
  const entries = map.keys().map((key) => {
    if (typeof key !== 'string') throw failure(`unsupported JSON key of type '${typeName(key)}'`);
    return [key, toJson(map.find(key) ?? null, depth + 1)] as const;
  });
  // Unlike an assignment, this makes a field even of `__proto__`.
  return Object.fromEntries(entries);
}
