import type { KubeObject } from '@sheaf/api';
import { isJsonObject, type JsonObject, jsonClone, jsonEqual } from '@sheaf/base';
import { matchesLabelSelector } from './label-match.ts';

/**
 * The rules an aggregated ClusterRole must have: those of all other roles its selectors match, in the order of the roles'
 * names, each rule once. `undefined` if the role does not aggregate. Pure; a controller writes the result.
 */
export function aggregateRules(
  role: KubeObject,
  clusterRoles: readonly KubeObject[],
): JsonObject[] | undefined {
  const selectors = selectorsOf(role);
  if (!selectors) return undefined;
  const rules: JsonObject[] = [];
  const byName = clusterRoles.toSorted((a, b) => compare(a.metadata.name ?? '', b.metadata.name ?? ''));
  for (const selector of selectors) {
    for (const source of byName) {
      if (source.metadata.name === role.metadata.name) continue;
      if (matchesLabelSelector(selector, source.metadata.labels ?? {})) addRules(rules, source['rules']);
    }
  }
  return rules;
}

/** Whether the role's present rules differ from what it has to aggregate. */
export function needsAggregation(role: KubeObject, clusterRoles: readonly KubeObject[]): boolean {
  const wanted = aggregateRules(role, clusterRoles);
  if (!wanted) return false;
  const present = Array.isArray(role['rules']) ? role['rules'].filter(isJsonObject) : [];
  return !jsonEqual(wanted, present);
}

function selectorsOf(role: KubeObject): readonly unknown[] | undefined {
  const rule = role['aggregationRule'];
  if (!isJsonObject(rule)) return undefined;
  const selectors = rule['clusterRoleSelectors'];
  return Array.isArray(selectors) ? selectors : [];
}

function addRules(rules: JsonObject[], source: unknown): void {
  if (!Array.isArray(source)) return;
  for (const rule of source.filter(isJsonObject)) {
    if (!rules.some((present) => jsonEqual(present, rule))) rules.push(jsonClone(rule));
  }
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
