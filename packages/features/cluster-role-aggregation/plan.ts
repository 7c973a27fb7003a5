import type { KubeObject } from '@sheaf/api';
import { isJsonObject, type JsonObject, jsonEqual } from '@sheaf/base';

/** The rules a role must have, given all roles; `undefined` if it does not aggregate. */
export type AggregateRules = (
  role: KubeObject,
  clusterRoles: readonly KubeObject[],
) => JsonObject[] | undefined;

export function isAggregating(role: KubeObject): boolean {
  return isJsonObject(role['aggregationRule']);
}

/** The role with the rules it must have; `undefined` if it has them. */
export function planAggregation(
  role: KubeObject,
  clusterRoles: readonly KubeObject[],
  aggregate: AggregateRules,
): KubeObject | undefined {
  if (role.metadata.deletionTimestamp !== undefined) return undefined;
  const rules = aggregate(role, clusterRoles);
  if (!rules || jsonEqual(rules, Array.isArray(role['rules']) ? role['rules'] : [])) return undefined;
  return { ...role, rules };
}
