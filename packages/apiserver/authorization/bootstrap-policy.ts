import { asJson, type KubeObject } from '@sheaf/api';
import { isJsonObject, type JsonObject, type JsonValue, jsonClone, jsonEqual } from '@sheaf/base';
import type { LiveViews } from '../storage/live-view.ts';
import { aggregateRules } from './aggregation.ts';
import { type PolicyRule, parseRules } from './policy-rule.ts';
import { rbacGroup } from './rbac-index.ts';
import { findUncovered } from './rule-coverage.ts';

export type RbacResource = 'clusterroles' | 'clusterrolebindings' | 'roles' | 'rolebindings';

/** The default roles and bindings of Kubernetes 1.36, by resource. */
export type BootstrapPolicy = Readonly<Record<RbacResource, readonly KubeObject[]>>;

/** One write of the reconciliation at start. `recreate`: delete by the old uid, then create (a roleRef cannot change). */
export interface BootstrapWrite {
  readonly resource: RbacResource;
  readonly operation: 'create' | 'update' | 'recreate';
  readonly object: KubeObject;
  /** Set for `recreate`. */
  readonly oldUid?: string;
}

const resources: readonly RbacResource[] = ['clusterroles', 'clusterrolebindings', 'roles', 'rolebindings'];

/** Loads the default policy; it is read at start only, so it stays out of the program otherwise. */
export async function loadBootstrapPolicy(): Promise<BootstrapPolicy> {
  const module = await import('./generated/bootstrap-policy.json', { with: { type: 'json' } });
  return module.default;
}

/**
 * What must be written so that the default roles grant at least what they should. Additions by users stay; objects
 * annotated `rbac.authorization.kubernetes.io/autoupdate: "false"` are left alone. Pure; applying it twice changes nothing.
 */
export function planBootstrap(policy: BootstrapPolicy, views: LiveViews): BootstrapWrite[] {
  const present = views.of(rbacGroup, 'clusterroles');
  const isFirst = policy.clusterroles.some(
    (role) => role['aggregationRule'] !== undefined && !present.get('', role.metadata.name ?? ''),
  );
  const withRules = isFirst ? { ...policy, clusterroles: fillAggregated(policy.clusterroles) } : policy;
  return resources.flatMap((resource) => {
    const view = views.of(rbacGroup, resource);
    return withRules[resource].flatMap((expected) => {
      const { namespace = '', name = '' } = expected.metadata;
      const write = reconcile(expected, view.get(namespace, name));
      return write ? [{ ...write, resource }] : [];
    });
  });
}

/** Aggregated roles start with their rules, so that `view`, `edit` and `admin` grant something from the first moment. */
function fillAggregated(roles: readonly KubeObject[]): readonly KubeObject[] {
  let filled = roles;
  // admin takes from edit, which takes from view: three rounds reach the end of any chain of the default roles.
  for (let round = 0; round < 3; round++) {
    filled = filled.map((role) => {
      const rules = aggregateRules(role, filled);
      return rules ? { ...role, rules } : role;
    });
  }
  return filled;
}

function reconcile(
  expected: KubeObject,
  existing: KubeObject | undefined,
): Omit<BootstrapWrite, 'resource'> | undefined {
  if (!existing) return { operation: 'create', object: copyOf(expected) };
  if (existing.metadata.annotations?.['rbac.authorization.kubernetes.io/autoupdate'] === 'false')
    return undefined;
  const isBinding = expected['roleRef'] !== undefined;
  if (isBinding && !jsonEqual(asJson(expected)['roleRef'], asJson(existing)['roleRef'])) {
    return { operation: 'recreate', object: copyOf(expected), oldUid: existing.metadata.uid ?? '' };
  }
  const object = copyOf(existing);
  mergeMetadata(object, expected);
  if (isBinding) addMissing(object, expected, 'subjects');
  else reconcileRole(object, expected);
  return jsonEqual(asJson(object), asJson(existing)) ? undefined : { operation: 'update', object };
}

/** Present values win over expected ones. */
function mergeMetadata(object: KubeObject, expected: KubeObject): void {
  const { metadata } = expected;
  if (metadata.annotations)
    object.metadata.annotations = { ...metadata.annotations, ...object.metadata.annotations };
  if (metadata.labels) object.metadata.labels = { ...metadata.labels, ...object.metadata.labels };
}

function reconcileRole(object: KubeObject, expected: KubeObject): void {
  const isAggregated = isJsonObject(expected['aggregationRule']);
  const missing = isAggregated
    ? []
    : findUncovered(parseRules(object['rules']), parseRules(expected['rules']));
  if (missing.length > 0) object['rules'] = [...listOf(object['rules']), ...missing.map(toJson)];
  const wanted = expected['aggregationRule'];
  const present = object['aggregationRule'];
  if (!isJsonObject(wanted)) delete object['aggregationRule'];
  else if (!isJsonObject(present)) object['aggregationRule'] = jsonClone(wanted);
  else addMissing(present, wanted, 'clusterRoleSelectors');
}

function addMissing(target: Record<string, unknown>, expected: Record<string, unknown>, field: string): void {
  const present = listOf(target[field]);
  const missing = listOf(expected[field]).filter((item) => !present.some((other) => jsonEqual(item, other)));
  if (missing.length > 0) target[field] = [...present, ...jsonClone(missing)];
}

function listOf(value: unknown): JsonValue[] {
  return Array.isArray(value) ? (value as JsonValue[]) : [];
}

function toJson(rule: PolicyRule): JsonObject {
  const json: JsonObject = {};
  for (const [field, values] of Object.entries(rule) as [string, readonly string[]][]) {
    if (values.length > 0) json[field] = [...values];
  }
  return json;
}

function copyOf(object: KubeObject): KubeObject {
  return jsonClone(asJson(object)) as unknown as KubeObject;
}
