import type { KubeObject, TypeSchema } from '@sheaf/api';
import { asJson, asObject } from '@sheaf/api';
import { applyJsonPatch, isJsonObject, type JsonObject, JsonPatchError, type JsonValue } from '@sheaf/base';
import {
  applyObjectType,
  jsonPatchType,
  listOf,
  type PolicyCompilation,
  PolicyEnvironment,
  type PolicyInput,
  PolicyRun,
  type PolicyVariable,
  toJson,
} from '../cel/index.ts';
import { findTypeProblems, mergeValues } from '../managed-fields/index.ts';
import { findAtomics } from './atomic-fields.ts';
import { compileConditions, conditionEnvironment } from './match-conditions.ts';
import { objectAt, objectsAt, textAt } from './object-field.ts';
import type { Policy } from './policy-invocations.ts';
import { compileScope } from './policy-scope.ts';
import { addVariables } from './validating-policy.ts';

export interface Mutation {
  readonly type: 'ApplyConfiguration' | 'JSONPatch';
  readonly source: string;
  readonly expression: PolicyCompilation;
}

export interface MutatingPolicy extends Policy {
  readonly mutations: readonly Mutation[];
  readonly variables: readonly PolicyVariable[];
  /** What is wrong with the variables. */
  readonly fault: string | undefined;
  readonly isReinvocable: boolean;
}

export function compileMutatingPolicy(policy: KubeObject): MutatingPolicy {
  const spec = objectAt(policy, 'spec');
  const { paramKind } = spec;
  const parameterKind = isJsonObject(paramKind) ? paramKind : undefined;
  const hasParams = parameterKind !== undefined;
  const environment = mutationEnvironment(hasParams);
  const fault = addVariables(spec, environment);
  return {
    name: policy.metadata.name ?? '',
    scope: compileScope(spec['matchConstraints']),
    parameterKind,
    conditions: compileConditions(spec, conditionEnvironment(hasParams)),
    ignoresFailures: textAt(spec, 'failurePolicy') === 'Ignore',
    isReinvocable: textAt(spec, 'reinvocationPolicy') === 'IfNeeded',
    mutations: objectsAt(spec, 'mutations').map((mutation) => compileMutation(mutation, environment)),
    variables: environment.variables,
    fault,
  };
}

export function mutationEnvironment(hasParams: boolean): PolicyEnvironment {
  return new PolicyEnvironment({ hasParams, hasAuthorizer: true, isPolicy: true, isMutation: true });
}

export function compileMutation(mutation: JsonObject, environment: PolicyEnvironment): Mutation {
  const isPatch = textAt(mutation, 'patchType') === 'JSONPatch';
  const source = textAt(objectAt(mutation, isPatch ? 'jsonPatch' : 'applyConfiguration'), 'expression');
  return {
    type: isPatch ? 'JSONPatch' : 'ApplyConfiguration',
    source,
    expression: environment.compile(source, [isPatch ? listOf(jsonPatchType) : applyObjectType]),
  };
}

/** Why a mutation cannot be made. */
export class MutationError extends Error {}

/** The object as a mutation makes it; the same object if it changes nothing. @throws MutationError */
export function mutateObject(
  mutation: Mutation,
  policy: MutatingPolicy,
  { input, object, schema }: { input: PolicyInput; object: KubeObject; schema: TypeSchema },
): KubeObject {
  if (policy.fault) throw new MutationError(policy.fault);
  const value = evaluate(mutation, policy, input);
  return mutation.type === 'JSONPatch'
    ? applyPatch(object, value)
    : applyConfiguration(object, value, schema);
}

function evaluate({ expression, source }: Mutation, policy: MutatingPolicy, input: PolicyInput): JsonValue {
  const { compiled, error } = expression;
  if (!compiled) throw new MutationError(error ?? '');
  const run = new PolicyRun(input, policy.variables);
  const outcome = run.run(compiled);
  if (outcome.ok) return toJson(outcome.value);
  throw new MutationError(
    run.remaining < 0 ? outcome.message : `expression '${source}' resulted in error: ${outcome.message}`,
  );
}

/** A patch whose test fails changes nothing. */
function applyPatch(object: KubeObject, patch: JsonValue): KubeObject {
  let patched: JsonValue;
  try {
    patched = applyJsonPatch(asJson(object), patch);
  } catch (error) {
    if (!(error instanceof JsonPatchError)) throw error;
    if (error.problem === 'test-failed') return object;
    throw new MutationError(`JSON Patch: ${error.detail}`, { cause: error });
  }
  if (isJsonObject(patched) && isJsonObject(patched['metadata'])) return asObject(patched);
  throw new MutationError('JSON Patch: the result is not an object');
}

function applyConfiguration(object: KubeObject, value: JsonValue, schema: TypeSchema): KubeObject {
  if (!isJsonObject(value)) throw new MutationError('invalid return type');
  const configuration: JsonObject = {
    ...value,
    ...(object.apiVersion && { apiVersion: object.apiVersion }),
    ...(object.kind && { kind: object.kind }),
  };
  const problems = findTypeProblems(configuration, schema);
  if (problems.length > 0) {
    const texts = problems.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
    throw new MutationError(
      `error applying patch: failed to convert patch object to typed object: ${texts.join('; ')}`,
    );
  }
  const atomics = findAtomics(configuration, schema);
  if (atomics.length > 0) {
    throw new MutationError(
      `error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ${atomics.join(', ')}`,
    );
  }
  return asObject(mergeValues(asJson(object), configuration, schema));
}
