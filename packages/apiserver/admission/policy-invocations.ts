import type { KubeObject } from '@sheaf/api';
import { asJson } from '@sheaf/api';
import { type JsonObject, StatusError, toError } from '@sheaf/base';
import type { Authorizer } from '../authorization/attributes.ts';
import type { LiveView } from '../storage/live-view.ts';
import { type Invocation, reviewFields } from './admission-review.ts';
import type { Evaluation, MatchCondition } from './match-conditions.ts';
import type { AdmissionRequest } from './plugin.ts';
import type { BoundPolicy, PolicyBinding } from './policy-bindings.ts';
import { collectParameters, findKind } from './policy-parameters.ts';
import { matchScope, type PolicyScope } from './policy-scope.ts';
import type { Match } from './rule-match.ts';
import { isNamespaceRequest } from './scope-selectors.ts';
import type { ServedKinds } from './served-versions.ts';

export interface PolicyParts {
  readonly kinds: ServedKinds;
  readonly namespaces: LiveView;
  readonly authorizer: Authorizer;
}

/** What policies of both sorts have. */
export interface Policy {
  readonly name: string;
  readonly scope: PolicyScope;
  readonly parameterKind: JsonObject | undefined;
  readonly conditions: readonly MatchCondition[];
  readonly ignoresFailures: boolean;
}

/** One evaluation that is due: a policy, by a binding, with a parameter. */
export interface PolicyInvocation<P> {
  readonly policy: P;
  readonly binding: PolicyBinding;
  readonly match: Match;
  readonly parameter: KubeObject | undefined;
}

/** A policy or binding that cannot be used. */
export interface PolicyFault<P> {
  readonly policy: P;
  readonly binding: PolicyBinding | undefined;
  readonly message: string;
}

export interface PolicyPlan<P> {
  readonly invocations: readonly PolicyInvocation<P>[];
  readonly faults: readonly PolicyFault<P>[];
}

/** What is due for a request. Nothing is decided yet, and match conditions are not asked. */
export async function planInvocations<P extends Policy>(
  policies: readonly BoundPolicy<P>[],
  request: AdmissionRequest,
  parts: PolicyParts,
): Promise<PolicyPlan<P>> {
  const plan: MutablePlan<P> = { invocations: [], faults: [] };
  for (const { policy, bindings } of policies) {
    const match = matchPolicy(policy, { request, parts, plan });
    if (!match) continue;
    for (const binding of bindings) await planBinding({ policy, binding, match }, { request, parts, plan });
  }
  return plan;
}

interface MutablePlan<P> {
  readonly invocations: PolicyInvocation<P>[];
  readonly faults: PolicyFault<P>[];
}

interface Planning<P> {
  readonly request: AdmissionRequest;
  readonly parts: PolicyParts;
  readonly plan: MutablePlan<P>;
}

function matchPolicy<P extends Policy>(policy: P, { request, parts, plan }: Planning<P>): Match | undefined {
  try {
    const match = matchScope(policy.scope, request, parts);
    if (match && policy.parameterKind) findKind(policy.parameterKind, parts.kinds);
    return match;
  } catch (error) {
    const message = `failed to configure policy: ${textOf(error)}`;
    plan.faults.push({ policy, binding: undefined, message });
    return undefined;
  }
}

async function planBinding<P extends Policy>(
  bound: Omit<PolicyInvocation<P>, 'parameter'>,
  { request, parts, plan }: Planning<P>,
): Promise<void> {
  const { policy, binding } = bound;
  try {
    if (matchScope(binding.scope, request, parts))
      plan.invocations.push(...(await invocationsOf(bound, request, parts)));
  } catch (error) {
    plan.faults.push({ policy, binding, message: `failed to configure binding: ${textOf(error)}` });
  }
}

function textOf(error: unknown): string {
  return toError(error).message;
}

async function invocationsOf<P extends Policy>(
  bound: Omit<PolicyInvocation<P>, 'parameter'>,
  { namespace }: AdmissionRequest,
  { kinds }: PolicyParts,
): Promise<readonly PolicyInvocation<P>[]> {
  const source = { kind: bound.policy.parameterKind, reference: bound.binding.parameters, namespace };
  return (await collectParameters(source, kinds)).map((parameter) => ({ ...bound, parameter }));
}

/** What the expressions of an invocation see. @throws StatusError 404 if the namespace is gone */
export function evaluationOf(
  request: AdmissionRequest,
  seen: { readonly invocation: Invocation; readonly parameter: KubeObject | undefined },
  { namespaces, authorizer }: PolicyParts,
): Evaluation {
  const { object, oldObject } = seen.invocation;
  const input = {
    object: object && asJson(object),
    oldObject: oldObject && asJson(oldObject),
    request: reviewFields(request, seen.invocation),
    params: seen.parameter && asJson(seen.parameter),
    namespaceObject: namespaceOf(request, namespaces),
  };
  return { request, input, authorizer };
}

function namespaceOf(request: AdmissionRequest, namespaces: LiveView): JsonObject | undefined {
  if (request.namespace === '' || isNamespaceRequest(request)) return undefined;
  const namespace = namespaces.get('', request.namespace);
  if (namespace) return asJson(namespace);
  throw new StatusError({
    reason: 'NotFound',
    message: `namespaces ${JSON.stringify(request.namespace)} not found`,
    details: { name: request.namespace, kind: 'namespaces' },
  });
}
