import { asJson, type KubeObject } from '@sheaf/api';
import { jsonEqual, StatusError } from '@sheaf/base';
import type { AdmissionPlugin, AdmissionRequest } from '../admission/plugin.ts';
import type { Authorizer, ResourceAttributes } from './attributes.ts';
import { forbiddenObject } from './forbidden.ts';
import { type PolicyRule, quotedList, rulesOf, ruleText } from './policy-rule.ts';
import type { ApplicableRules, RbacAuthorizer } from './rbac-authorizer.ts';
import { rbacGroup } from './rbac-index.ts';
import { type RoleReference, roleReferenceOf } from './rbac-subjects.ts';
import { compactRules, findUncovered, TooManyCombinationsError } from './rule-coverage.ts';

export interface EscalationOptions {
  readonly rbac: RbacAuthorizer;
  /** The whole chain, asked for the verbs `escalate` and `bind`. */
  readonly authorizer: Authorizer;
}

const empty: PolicyRule = { verbs: [], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: [] };
const fullAuthority: readonly PolicyRule[] = [
  { ...empty, verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { ...empty, verbs: ['*'], nonResourceURLs: ['*'] },
];

/**
 * Nobody can give rights that they do not hold: a role may only contain rules its writer has (or may `escalate`), a
 * binding only refer to a role whose rules its writer has (or may `bind`). Members of `system:masters` are free.
 * @throws StatusError 403 that lists what is missing
 */
export async function checkEscalation(request: AdmissionRequest, options: EscalationOptions): Promise<void> {
  const { object, oldObject, user } = request;
  if (!object || user.groups.includes('system:masters')) return;
  if (oldObject && changesOnlyCollectorFields(object, oldObject)) return;
  if (request.resource.resource.endsWith('bindings')) await checkBinding(request, object, options);
  else await checkRole(request, object, options);
}

/** `checkEscalation` as a step of admission. */
export function escalationPlugin(options: EscalationOptions): AdmissionPlugin {
  return {
    name: 'RBACEscalation',
    handles: (request) =>
      request.resource.group === rbacGroup &&
      (request.operation === 'CREATE' || request.operation === 'UPDATE'),
    validate: (request) => checkEscalation(request, options),
  };
}

async function checkRole(
  request: AdmissionRequest,
  role: KubeObject,
  options: EscalationOptions,
): Promise<void> {
  const name = request.operation === 'CREATE' ? '' : request.name;
  const { group, resource } = request.resource;
  if (await isAllowed(request, options, { verb: 'escalate', group, resource, name })) return;
  confirmHeld(request, rulesOf(role), options);
  if (!hasAggregation(role) && !(request.oldObject && hasAggregation(request.oldObject))) return;
  if (
    missingRules(request, options.rbac.rulesFor(request.user, request.namespace), fullAuthority).length === 0
  )
    return;
  throw refuse(request, 'must have cluster-admin privileges to use the aggregationRule');
}

async function checkBinding(
  request: AdmissionRequest,
  binding: KubeObject,
  options: EscalationOptions,
): Promise<void> {
  const reference = roleReferenceOf(binding);
  const resource = reference.kind === 'Role' ? 'roles' : 'clusterroles';
  const question = { verb: 'bind', group: reference.apiGroup, resource, name: reference.name };
  if (isKnownKind(reference) && (await isAllowed(request, options, question))) return;
  const rules = options.rbac.findRoleRules(reference, request.namespace);
  if (!rules) throw missingRole(reference, resource);
  confirmHeld(request, rules, options);
}

function isKnownKind(reference: RoleReference): boolean {
  return reference.kind === 'Role' || reference.kind === 'ClusterRole';
}

async function isAllowed(
  request: AdmissionRequest,
  options: EscalationOptions,
  question: Pick<ResourceAttributes, 'verb' | 'group' | 'resource' | 'name'>,
): Promise<boolean> {
  const { user, namespace, signal } = request;
  const attributes = {
    isResource: true,
    user,
    namespace,
    version: '*',
    subresource: '',
    ...question,
  } as const;
  const { decision } = await options.authorizer.authorize(attributes, signal);
  return decision === 'allow';
}

function missingRules(
  request: AdmissionRequest,
  held: ApplicableRules,
  wanted: readonly PolicyRule[],
): readonly PolicyRule[] {
  try {
    return findUncovered(held.rules, wanted);
  } catch (error) {
    if (error instanceof TooManyCombinationsError) throw refuse(request, error.message);
    throw error;
  }
}

function confirmHeld(
  request: AdmissionRequest,
  wanted: readonly PolicyRule[],
  options: EscalationOptions,
): void {
  const { user } = request;
  const held = options.rbac.rulesFor(user, request.namespace);
  const missing = missingRules(request, held, wanted);
  if (missing.length === 0) return;
  const lines = [...new Set(compactRules(missing).map(ruleText))].sort();
  const errors = held.errors.length > 0 ? `; resolution errors: [${held.errors.join(' ')}]` : '';
  throw refuse(
    request,
    `user ${JSON.stringify(user.name)} (groups=${quotedList(user.groups)}) is attempting to grant RBAC permissions not currently held:\n${lines.join('\n')}${errors}`,
  );
}

function refuse(request: AdmissionRequest, detail: string): StatusError {
  const name = request.object?.metadata.name ?? request.name;
  return forbiddenObject({ group: rbacGroup, resource: request.resource.resource, name }, detail);
}

function missingRole(reference: RoleReference, resource: string): StatusError {
  if (!isKnownKind(reference)) {
    return new StatusError({
      reason: 'BadRequest',
      message: `unsupported role reference kind: ${JSON.stringify(reference.kind)}`,
    });
  }
  return new StatusError({
    reason: 'NotFound',
    message: `${resource}.${rbacGroup} ${JSON.stringify(reference.name)} not found`,
    details: { name: reference.name, group: rbacGroup, kind: resource },
  });
}

function hasAggregation(role: KubeObject): boolean {
  const rule = asJson(role)['aggregationRule'];
  if (typeof rule !== 'object' || rule === null || Array.isArray(rule)) return false;
  const selectors = rule['clusterRoleSelectors'];
  return Array.isArray(selectors) && selectors.length > 0;
}

/** The garbage collector must be able to strip owners and finalizers from any role. */
function changesOnlyCollectorFields(object: KubeObject, old: KubeObject): boolean {
  return jsonEqual(asJson(withoutCollectorFields(object)), asJson(withoutCollectorFields(old)));
}

function withoutCollectorFields(object: KubeObject): KubeObject {
  const {
    ownerReferences: _o,
    finalizers: _f,
    managedFields: _m,
    resourceVersion: _r,
    ...metadata
  } = object.metadata;
  return { ...object, metadata };
}
