import type { JsonObject } from '@sheaf/base';
import type { Authorizer } from '../authorization/attributes.ts';
import {
  AuthorizationMemory,
  boolType,
  matchConditionsBudget,
  type PolicyCompilation,
  PolicyEnvironment,
  type PolicyInput,
  PolicyRun,
} from '../cel/index.ts';

import { objectsAt, textAt } from './object-field.ts';
import type { AdmissionRequest } from './plugin.ts';

export interface MatchCondition {
  readonly name: string;
  readonly source: string;
  readonly compilation: PolicyCompilation;
}

export function compileConditions(
  owner: JsonObject,
  environment: PolicyEnvironment,
): readonly MatchCondition[] {
  return objectsAt(owner, 'matchConditions').map((condition) => {
    const source = textAt(condition, 'expression');
    return { name: textAt(condition, 'name'), source, compilation: environment.compile(source, [boolType]) };
  });
}

/** What decides about a request by expressions gets to know it by. */
export interface Evaluation {
  readonly request: AdmissionRequest;
  readonly input: PolicyInput;
  readonly authorizer: Authorizer;
}

/** Runs `evaluate` with answers of the authorizer, however long those take. */
export function withAuthorizer<T>(evaluation: Evaluation, evaluate: (input: PolicyInput) => T): Promise<T> {
  const { request, authorizer, input } = evaluation;
  const source = new AuthorizationMemory(authorizer, request.signal);
  return source.settle(() => evaluate({ ...input, authorizer: { source, user: request.user } }));
}

export type Matching = 'yes' | 'no' | { readonly error: string };

/** One false condition is enough for `no`, whatever the others come to. */
export async function evaluateConditions(
  conditions: readonly MatchCondition[],
  evaluation: Evaluation,
): Promise<Matching> {
  if (conditions.length === 0) return 'yes';
  return withAuthorizer(evaluation, (input) => runConditions(conditions, input));
}

function runConditions(conditions: readonly MatchCondition[], input: PolicyInput): Matching {
  const run = new PolicyRun(input, [], matchConditionsBudget);
  const errors: string[] = [];
  for (const { source, compilation } of conditions) {
    if (!compilation.compiled) {
      errors.push(`compilation error: ${compilation.error}`);
      continue;
    }
    const outcome = run.run(compilation.compiled);
    if (!outcome.ok) {
      if (run.remaining < 0) return { error: outcome.message };
      errors.push(`expression '${source}' resulted in error: ${outcome.message}`);
    } else if (outcome.value === false) return 'no';
  }
  return errors.length === 0 ? 'yes' : { error: joined(errors) };
}

function joined(errors: readonly string[]): string {
  const texts = [...new Set(errors)];
  return texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(', ')}]`;
}

export function conditionEnvironment(hasParams = false): PolicyEnvironment {
  return new PolicyEnvironment({ hasAuthorizer: true, hasParams });
}
