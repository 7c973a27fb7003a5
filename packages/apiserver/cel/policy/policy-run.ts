import type { JsonObject } from '@sheaf/base';
import type { User } from '../../authentication/user.ts';
import { type CompiledExpression, type Outcome, perCallLimit, runtimeBudget } from '../expression.ts';
import { AuthorizerValue, type DecisionSource, ResourceCheck } from '../library/authorizer.ts';
import { adaptDynamic } from '../schema/json-value.ts';
import { costLimitMessage, EvaluationCancelled, failure } from '../values/failure.ts';
import { MapValue, type Value } from '../values/value.ts';
import { adaptNamespace } from './namespace-value.ts';
import type { PolicyVariable } from './policy-environment.ts';

/** What the expressions of a policy are about. */
export interface PolicyInput {
  readonly object: JsonObject | undefined;
  readonly oldObject: JsonObject | undefined;
  /** The `request` of an AdmissionReview. */
  readonly request: JsonObject;
  readonly params?: JsonObject | undefined;
  readonly namespaceObject?: JsonObject | undefined;
  readonly authorizer?: PolicyAuthorizer | undefined;
}

export interface PolicyAuthorizer {
  readonly source: DecisionSource;
  readonly user: User;
}

/** Runs the expressions of one policy over one request. Variables are computed once, when they are first used. */
export class PolicyRun {
  readonly #values: readonly Value[];
  #remaining: number;

  /** `budget`: the units all expressions together may cost. */
  constructor(input: PolicyInput, variables: readonly PolicyVariable[], budget = runtimeBudget) {
    this.#remaining = budget;
    const { authorizer } = input;
    const asker = authorizer && new AuthorizerValue(authorizer.user, authorizer.source);
    this.#values = [
      input.object ? adaptDynamic(input.object) : null,
      input.oldObject ? adaptDynamic(input.oldObject) : null,
      adaptDynamic(input.request),
      input.params ? adaptDynamic(input.params) : null,
      input.namespaceObject ? adaptNamespace(input.namespaceObject) : null,
      asker ?? null,
      asker ? requestResource(asker, input.request) : null,
      new LazyVariables(variables, (expression) => this.#evaluate(expression)),
    ];
  }

  /** Units left. Below zero nothing more can be run. */
  get remaining(): number {
    return this.#remaining;
  }

  /** Runs an expression of the same environment as the variables. */
  run(expression: CompiledExpression): Outcome {
    return this.#evaluate(expression);
  }

  #evaluate(expression: CompiledExpression): Outcome {
    if (this.#remaining < 0) return outOfBudget(0);
    const outcome = expression.run(this.#values, perCallLimit);
    this.#remaining -= outcome.cost;
    return this.#remaining < 0 ? outOfBudget(outcome.cost) : outcome;
  }
}

function outOfBudget(cost: number): Outcome {
  const message =
    'validation failed due to running out of cost budget, no further validation rules will be run';
  return { ok: false, message, isCancelled: true, cost };
}

function requestResource(authorizer: AuthorizerValue, request: JsonObject): ResourceCheck {
  const resource = (request['requestResource'] ?? request['resource'] ?? {}) as JsonObject;
  return new ResourceCheck(authorizer, {
    group: textOf(resource['group']),
    resource: textOf(resource['resource']),
    subresource: textOf(request['requestSubResource'] ?? request['subResource']),
    namespace: textOf(request['namespace']),
    name: textOf(request['name']),
  });
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The variable `variables`: each field is computed when it is first read. */
class LazyVariables extends MapValue {
  readonly #expressions: ReadonlyMap<string, CompiledExpression>;
  readonly #evaluate: (expression: CompiledExpression) => Outcome;
  readonly #outcomes = new Map<string, Outcome>();

  constructor(variables: readonly PolicyVariable[], evaluate: (expression: CompiledExpression) => Outcome) {
    super();
    this.#expressions = new Map(variables.map(({ name, expression }) => [name, expression]));
    this.#evaluate = evaluate;
  }

  get size(): number {
    return this.#expressions.size;
  }

  keys(): readonly Value[] {
    return Array.from(this.#expressions.keys());
  }

  find(key: Value): Value | undefined {
    const expression = typeof key === 'string' ? this.#expressions.get(key) : undefined;
    if (!expression || typeof key !== 'string') return undefined;
    const outcome = this.#outcomes.get(key) ?? this.#evaluate(expression);
    this.#outcomes.set(key, outcome);
    if (outcome.ok) return outcome.value;
    if (outcome.isCancelled) throw new EvaluationCancelled(costLimitMessage);
    throw failure(`composited variable ${JSON.stringify(key)} fails to evaluate: ${outcome.message}`);
  }
}
