import type { KubeObject } from '@sheaf/api';
import { isJsonObject, type JsonObject } from '@sheaf/base';
import type { LiveViews } from '../storage/live-view.ts';
import { CompiledView } from './compiled-view.ts';
import { objectAt, textAt, textsAt } from './object-field.ts';
import { compileScope, type PolicyScope } from './policy-scope.ts';

/** A binding of a policy of either sort. */
export interface PolicyBinding {
  readonly name: string;
  readonly policy: string;
  readonly scope: PolicyScope;
  readonly parameters: JsonObject | undefined;
  /** Deny, Warn, Audit; of validating policies. */
  readonly actions: readonly string[];
}

function compileBinding(binding: KubeObject): PolicyBinding {
  const spec = objectAt(binding, 'spec');
  const { paramRef } = spec;
  return {
    name: binding.metadata.name ?? '',
    policy: textAt(spec, 'policyName'),
    scope: compileScope(spec['matchResources']),
    parameters: isJsonObject(paramRef) ? paramRef : undefined,
    actions: textsAt(spec, 'validationActions'),
  };
}

/** A policy that is in force, and what binds it. */
export interface BoundPolicy<P> {
  readonly policy: P;
  readonly bindings: readonly PolicyBinding[];
}

/** The policies in force, in the order of their names: those that some binding names. */
export class BoundPolicies<P extends { readonly name: string }> {
  readonly #policies: CompiledView<P>;
  readonly #bindings: CompiledView<PolicyBinding>;
  #seen: readonly [readonly P[], readonly PolicyBinding[]] | undefined;
  #bound: readonly BoundPolicy<P>[] = [];

  /** `plural`: of the policies, e.g. `validatingadmissionpolicies`. */
  constructor(views: LiveViews, plural: string, compile: (policy: KubeObject) => P) {
    const group = 'admissionregistration.k8s.io';
    const bindings = plural.replace(/ies$/, 'ybindings');
    this.#policies = new CompiledView(views.of(group, plural), compile);
    this.#bindings = new CompiledView(views.of(group, bindings), compileBinding);
  }

  list(): readonly BoundPolicy<P>[] {
    const policies = this.#policies.list();
    const bindings = this.#bindings.list();
    if (this.#seen?.[0] === policies && this.#seen[1] === bindings) return this.#bound;
    this.#seen = [policies, bindings];
    this.#bound = policies
      .map((policy) => ({ policy, bindings: bindings.filter((binding) => binding.policy === policy.name) }))
      .filter((bound) => bound.bindings.length > 0);
    return this.#bound;
  }
}
