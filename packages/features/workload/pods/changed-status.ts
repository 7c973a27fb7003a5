import { asJson, type KubeObject } from '@sheaf/api';
import { jsonEqual } from '@sheaf/base';

/** The object with another status; `undefined` if it has that already, since each write is a reason for another pass. */
export function withStatus<T extends KubeObject & { readonly status?: object }>(
  object: T,
  status: NonNullable<T['status']>,
): T | undefined {
  const next: T = { ...object, status };
  return jsonEqual(asJson(next)['status'] ?? {}, asJson(object)['status'] ?? {}) ? undefined : next;
}
