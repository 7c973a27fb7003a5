import { StatusError, type StatusReason } from '@sheaf/base';
import type { LiveViews } from '../storage/live-view.ts';
import type { Invocation } from './admission-review.ts';
import { evaluateConditions, withAuthorizer } from './match-conditions.ts';
import type { AdmissionPlugin, AdmissionRequest } from './plugin.ts';
import { BoundPolicies, type PolicyBinding } from './policy-bindings.ts';
import {
  evaluationOf,
  type PolicyInvocation,
  type PolicyParts,
  planInvocations,
} from './policy-invocations.ts';
import { refusal } from './refusal.ts';
import { invocationOf, type Match } from './rule-match.ts';
import { isExempt } from './scope-selectors.ts';
import {
  compileValidatingPolicy,
  judge,
  type Objection,
  type ValidatingPolicy,
  type Verdict,
  verdictOfError,
} from './validating-policy.ts';

/** Refuses what policies have something against. */
export function validatingPolicies(views: LiveViews, parts: PolicyParts): AdmissionPlugin {
  const policies = new BoundPolicies(views, 'validatingadmissionpolicies', compileValidatingPolicy);
  return {
    name: 'ValidatingAdmissionPolicy',
    handles: (request) => policies.list().length > 0 && !isExempt(request),
    async validate(request) {
      const plan = await planInvocations(policies.list(), request, parts);
      if (plan.invocations.length === 0 && plan.faults.length === 0) return;
      const denials = new Denials(request);
      for (const { policy, binding, message } of plan.faults) {
        if (!policy.ignoresFailures) denials.add({ policy, binding, message, reason: '' });
      }
      await decideAll(plan.invocations, { request, denials }, parts);
      denials.throwFirst();
    },
  };
}

interface Decision {
  readonly request: AdmissionRequest;
  readonly denials: Denials;
}

async function decideAll(
  invocations: readonly PolicyInvocation<ValidatingPolicy>[],
  decision: Decision,
  parts: PolicyParts,
): Promise<void> {
  const seen = new Map<Match, Invocation>();
  const published = new PublishedAnnotations();
  for (const invocation of invocations) {
    const { match, policy } = invocation;
    const objects = seen.get(match) ?? (await invocationOf(decision.request, match));
    seen.set(match, objects);
    const verdict = await verdictOf(invocation, { request: decision.request, objects }, parts);
    act(invocation, verdict, decision);
    for (const { key, value } of verdict.annotations) published.add(`${policy.name}/${key}`, value);
  }
  published.publish(decision.request);
}

async function verdictOf(
  { policy, parameter }: PolicyInvocation<ValidatingPolicy>,
  { request, objects }: { readonly request: AdmissionRequest; readonly objects: Invocation },
  parts: PolicyParts,
): Promise<Verdict> {
  const evaluation = evaluationOf(request, { invocation: objects, parameter }, parts);
  const matching = await evaluateConditions(policy.conditions, evaluation);
  if (matching === 'no') return nothing;
  if (matching !== 'yes') return verdictOfError(policy, matching.error);
  return withAuthorizer(evaluation, (input) => judge(policy, input));
}

const nothing: Verdict = { objections: [], annotations: [], annotationErrors: [] };

function act(
  { policy, binding }: PolicyInvocation<ValidatingPolicy>,
  verdict: Verdict,
  { request, denials }: Decision,
): void {
  for (const objection of verdict.objections) {
    const { message, reason } = objection;
    if (binding.actions.includes('Deny')) denials.add({ policy, binding, message, reason });
    if (binding.actions.includes('Audit')) auditObjection(request, objection, { policy, binding });
    if (binding.actions.includes('Warn')) {
      request.warn(
        `Validation failed for ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}': ${message}`,
      );
    }
  }
  for (const message of verdict.annotationErrors) denials.add({ policy, binding, message, reason: '' });
}

function auditObjection(
  request: AdmissionRequest,
  { index, message }: Objection,
  { policy, binding }: { readonly policy: ValidatingPolicy; readonly binding: PolicyBinding },
): void {
  const failure = {
    message,
    policy: policy.name,
    binding: binding.name,
    expressionIndex: index,
    validationActions: binding.actions,
  };
  request.annotate('validation.policy.admission.k8s.io/validation_failure', JSON.stringify([failure]));
}

interface Denial {
  readonly policy: ValidatingPolicy;
  readonly binding: PolicyBinding | undefined;
  readonly message: string;
  readonly reason: StatusReason;
}

const codes: Readonly<Partial<Record<StatusReason, number>>> = {
  Forbidden: 403,
  Unauthorized: 401,
  RequestEntityTooLarge: 413,
};

/** The first denial is what the client reads. */
class Denials {
  readonly #request: AdmissionRequest;
  #first: Denial | undefined;

  constructor(request: AdmissionRequest) {
    this.#request = request;
  }

  add(denial: Denial): void {
    this.#first ??= denial;
  }

  /** @throws StatusError with the reason that the policy gives */
  throwFirst(): void {
    if (!this.#first) return;
    const { policy, binding, message, reason } = this.#first;
    const by = binding ? ` with binding '${binding.name}'` : '';
    const text = `ValidatingAdmissionPolicy '${policy.name}'${by} denied request: ${message}`;
    const refused = refusal(this.#request, text);
    throw new StatusError({
      reason: reason || 'Invalid',
      code: codes[reason] ?? 422,
      message: refused.message,
      details: { ...refused.details, causes: [{ message: text }] },
    });
  }
}

const maxAnnotationLength = 10 * 1024;

/** Values of one annotation from several bindings are listed once each. */
class PublishedAnnotations {
  readonly #values = new Map<string, Set<string>>();

  add(key: string, value: string): void {
    const values = this.#values.get(key) ?? new Set();
    values.add(value.slice(0, maxAnnotationLength));
    this.#values.set(key, values);
  }

  publish(request: AdmissionRequest): void {
    for (const [key, values] of this.#values) request.annotate(key, [...values].join(', '));
  }
}
