import { asJson, type KubeObject } from '@sheaf/api';
import { jsonEqual, StatusError, toError } from '@sheaf/base';
import type { LiveViews } from '../storage/live-view.ts';
import type { Invocation } from './admission-review.ts';
import { evaluateConditions, withAuthorizer } from './match-conditions.ts';
import {
  compileMutatingPolicy,
  type MutatingPolicy,
  MutationError,
  mutateObject,
} from './mutating-policy.ts';
import type { AdmissionPlugin, AdmissionRequest, MutationPass } from './plugin.ts';
import { BoundPolicies } from './policy-bindings.ts';
import {
  evaluationOf,
  type PolicyFault,
  type PolicyInvocation,
  type PolicyParts,
  planInvocations,
} from './policy-invocations.ts';
import { refusal } from './refusal.ts';
import { Reinvocation } from './reinvocation.ts';
import { invocationOf } from './rule-match.ts';
import { isExempt } from './scope-selectors.ts';

const pluginName = 'MutatingAdmissionPolicy';

/** Lets policies change objects by expressions, one after the other. */
export function mutatingPolicies(views: LiveViews, parts: PolicyParts): AdmissionPlugin {
  const policies = new BoundPolicies(views, 'mutatingadmissionpolicies', compileMutatingPolicy);
  return {
    name: pluginName,
    handles: (request) => policies.list().length > 0 && !isExempt(request),
    async mutate(request, pass) {
      const plan = await planInvocations(policies.list(), request, parts);
      const faults: Fault[] = plan.faults.map((fault) => ({ ...fault, isInvalid: false }));
      if (plan.invocations.length > 0)
        faults.push(...(await mutateAll(plan.invocations, { request, pass }, parts)));
      throwFirst(
        request,
        faults.filter(({ policy }) => !policy.ignoresFailures),
      );
    },
  };
}

interface Fault extends PolicyFault<MutatingPolicy> {
  readonly isInvalid: boolean;
}

interface Mutating {
  readonly request: AdmissionRequest;
  readonly pass: MutationPass;
}

async function mutateAll(
  invocations: readonly PolicyInvocation<MutatingPolicy>[],
  { request, pass }: Mutating,
  parts: PolicyParts,
): Promise<readonly Fault[]> {
  const reinvocation = pass.memory(pluginName, () => new Reinvocation());
  const faults: Fault[] = [];
  reinvocation.begin(request, pass);
  for (const invocation of invocations) {
    const { policy, binding } = invocation;
    const id = keyOf(invocation);
    if (!reinvocation.includes(id, pass)) continue;
    try {
      const result = await runPolicy(invocation, request, parts);
      if (result === 'skipped') continue;
      if (result === 'changed') reinvocation.changed(pass);
    } catch (error) {
      if (!(error instanceof MutationError)) throw error;
      faults.push({ policy, binding, message: error.message, isInvalid: true });
    }
    if (policy.isReinvocable) reinvocation.add(id);
  }
  reinvocation.end(request);
  return faults;
}

function keyOf({ policy, binding, parameter }: PolicyInvocation<MutatingPolicy>): string {
  const { namespace = '', name = '' } = parameter?.metadata ?? {};
  return [policy.name, binding.name, namespace, name].join('/');
}

/** Makes all mutations of a policy, in their order. @throws MutationError */
async function runPolicy(
  invocation: PolicyInvocation<MutatingPolicy>,
  request: AdmissionRequest,
  parts: PolicyParts,
): Promise<'changed' | 'unchanged' | 'skipped'> {
  const { policy, match, parameter } = invocation;
  let seen = await invocationOf(request, match);
  const matching = await evaluateConditions(
    policy.conditions,
    evaluationOf(request, { invocation: seen, parameter }, parts),
  );
  if (matching === 'no') return 'skipped';
  if (matching !== 'yes') throw new MutationError(matching.error);
  let isChanged = false;
  for (const mutation of policy.mutations) {
    const before = seen.object;
    if (!before) break;
    const mutated = await mutateOnce(mutation, { invocation, seen, object: before }, { request, parts });
    if (jsonEqual(asJson(before), asJson(mutated))) continue;
    isChanged = true;
    const own = match.version ? await match.version.convertBack(mutated) : mutated;
    request.object = complete(request, own, parts);
    seen = await invocationOf(request, match);
  }
  return isChanged ? 'changed' : 'unchanged';
}

interface MutationInput {
  readonly invocation: PolicyInvocation<MutatingPolicy>;
  readonly seen: Invocation;
  readonly object: KubeObject;
}

function mutateOnce(
  mutation: MutatingPolicy['mutations'][number],
  { invocation, seen, object }: MutationInput,
  { request, parts }: { readonly request: AdmissionRequest; readonly parts: PolicyParts },
): Promise<KubeObject> {
  const { policy, parameter } = invocation;
  const schema = parts.kinds.schemaOf(seen.resource);
  if (!schema) throw new MutationError(`Resource kind ${seen.kind.kind} not found`);
  const evaluation = evaluationOf(request, { invocation: seen, parameter }, parts);
  return withAuthorizer(evaluation, (input) => mutateObject(mutation, policy, { input, object, schema }));
}

function complete(request: AdmissionRequest, object: KubeObject, { kinds }: PolicyParts): KubeObject {
  try {
    return kinds.complete(request, object);
  } catch (error) {
    throw new MutationError(toError(error).message, { cause: error });
  }
}

/** @throws StatusError 403 with the first fault as message and all as causes */
function throwFirst(request: AdmissionRequest, faults: readonly Fault[]): void {
  const [first] = faults;
  if (!first) return;
  throw new StatusError({
    reason: first.isInvalid ? 'Invalid' : 'Forbidden',
    code: 403,
    message: textOf(first),
    details: {
      ...refusal(request, '').details,
      causes: faults.map((fault) => ({ message: textOf(fault) })),
    },
  });
}

function textOf({ policy, binding, message }: Fault): string {
  return binding
    ? `policy '${policy.name}' with binding '${binding.name}' denied request: ${message}`
    : `policy ${JSON.stringify(policy.name)} denied request: ${message}`;
}
