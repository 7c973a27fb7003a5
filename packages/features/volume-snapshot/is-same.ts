import { type JsonObject, jsonEqual } from '@sheaf/base';

/** True if two statuses are written alike. */
export function isSame(a: object | undefined, b: object | undefined): boolean {
  return jsonEqual((a ?? {}) as JsonObject, (b ?? {}) as JsonObject);
}
