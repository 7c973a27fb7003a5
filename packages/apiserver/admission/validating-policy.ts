import type { KubeObject } from '@sheaf/api';
import { isJsonObject, type JsonObject, type StatusReason } from '@sheaf/base';
import {
  boolType,
  type CompiledExpression,
  nullType,
  type PolicyCompilation,
  PolicyEnvironment,
  type PolicyInput,
  PolicyRun,
  type PolicyVariable,
  stringType,
} from '../cel/index.ts';
import { compileConditions, conditionEnvironment } from './match-conditions.ts';
import { objectAt, objectsAt, textAt } from './object-field.ts';
import type { Policy } from './policy-invocations.ts';
import { compileScope } from './policy-scope.ts';

interface Validation {
  readonly source: string;
  readonly expression: PolicyCompilation;
  readonly message: string;
  readonly messageExpression: CompiledExpression | undefined;
  readonly reason: StatusReason;
}

interface Annotation {
  readonly key: string;
  readonly source: string;
  readonly expression: PolicyCompilation;
}

export interface ValidatingPolicy extends Policy {
  readonly validations: readonly Validation[];
  readonly annotations: readonly Annotation[];
  readonly variables: readonly PolicyVariable[];
  /** What is wrong with the variables. */
  readonly fault: string | undefined;
}

export function compileValidatingPolicy(policy: KubeObject): ValidatingPolicy {
  const spec = objectAt(policy, 'spec');
  const { paramKind } = spec;
  const parameterKind = isJsonObject(paramKind) ? paramKind : undefined;
  const environment = policyEnvironment(parameterKind !== undefined);
  const fault = addVariables(spec, environment);
  return {
    name: policy.metadata.name ?? '',
    scope: compileScope(spec['matchConstraints']),
    parameterKind,
    conditions: compileConditions(spec, conditionEnvironment(parameterKind !== undefined)),
    ignoresFailures: textAt(spec, 'failurePolicy') === 'Ignore',
    validations: objectsAt(spec, 'validations').map((item) => compileValidation(item, environment)),
    annotations: objectsAt(spec, 'auditAnnotations').map((item) => compileAnnotation(item, environment)),
    variables: environment.variables,
    fault,
  };
}

export function policyEnvironment(hasParams: boolean): PolicyEnvironment {
  return new PolicyEnvironment({ hasParams, hasAuthorizer: true, isPolicy: true });
}

/** Adds `spec.variables`; answers what is wrong with the first bad one. */
export function addVariables(spec: JsonObject, environment: PolicyEnvironment): string | undefined {
  for (const variable of objectsAt(spec, 'variables')) {
    const name = textAt(variable, 'name');
    const { error } = environment.addVariable(name, textAt(variable, 'expression'));
    if (error) return `composited variable ${JSON.stringify(name)} fails to compile: ${error}`;
  }
  return undefined;
}

function compileValidation(validation: JsonObject, environment: PolicyEnvironment): Validation {
  const source = textAt(validation, 'expression');
  const messageSource = textAt(validation, 'messageExpression');
  return {
    source: source.trim(),
    expression: environment.compile(source, [boolType]),
    message: textAt(validation, 'message').trim(),
    messageExpression:
      messageSource === '' ? undefined : environment.compile(messageSource, [stringType]).compiled,
    reason: (textAt(validation, 'reason') || 'Invalid') as StatusReason,
  };
}

function compileAnnotation(annotation: JsonObject, environment: PolicyEnvironment): Annotation {
  const source = textAt(annotation, 'valueExpression');
  const expression = environment.compile(source, [stringType, nullType]);
  return { key: textAt(annotation, 'key'), source, expression };
}

/** One thing that a policy has against a request. */
export interface Objection {
  /** Of the validation. */
  readonly index: number;
  readonly message: string;
  readonly reason: StatusReason;
}

export interface Verdict {
  readonly objections: readonly Objection[];
  readonly annotations: readonly { readonly key: string; readonly value: string }[];
  /** Annotations that cannot be computed; they deny whatever the binding's actions are. */
  readonly annotationErrors: readonly string[];
}

/** Evaluates all validations of a policy. */
export function judge(policy: ValidatingPolicy, input: PolicyInput): Verdict {
  if (policy.fault) return verdictOfError(policy, policy.fault);
  const run = new PolicyRun(input, policy.variables);
  const objections: Objection[] = [];
  for (const [index, validation] of policy.validations.entries()) {
    const objection = judgeOne(policy, { validation, index }, run);
    if (run.remaining < 0 && objection) return verdictOfError(policy, objection.message);
    if (objection) objections.push(objection);
  }
  return { objections, ...annotate(policy, input) };
}

export function verdictOfError(policy: ValidatingPolicy, message: string): Verdict {
  const objections: readonly Objection[] = policy.ignoresFailures
    ? []
    : [{ index: 0, message, reason: 'Invalid' }];
  return { objections, annotations: [], annotationErrors: [] };
}

function judgeOne(
  policy: ValidatingPolicy,
  { validation, index }: { readonly validation: Validation; readonly index: number },
  run: PolicyRun,
): Objection | undefined {
  const outcome = evaluate(validation.expression, validation.source, run);
  if (typeof outcome === 'string')
    return policy.ignoresFailures && run.remaining >= 0 ? undefined : { index, message: outcome, reason: '' };
  if (outcome.value === true) return undefined;
  return { index, message: messageOf(validation, run), reason: validation.reason };
}

/** The value, or a text that says why there is none. */
function evaluate(
  { compiled, error }: PolicyCompilation,
  source: string,
  run: PolicyRun,
): { readonly value: unknown } | string {
  if (!compiled) return `compilation error: ${error}`;
  const outcome = run.run(compiled);
  if (outcome.ok) return outcome;
  return run.remaining < 0 ? outcome.message : `expression '${source}' resulted in error: ${outcome.message}`;
}

const maxMessageLength = 5 * 1024;

function messageOf({ messageExpression, message, source }: Validation, run: PolicyRun): string {
  const outcome = messageExpression && run.run(messageExpression);
  const text = outcome?.ok && typeof outcome.value === 'string' ? outcome.value.trim() : '';
  if (text !== '' && text.length <= maxMessageLength && !text.includes('\n')) return text;
  return message || `failed expression: ${source}`;
}

function annotate(
  { annotations, variables, ignoresFailures }: ValidatingPolicy,
  input: PolicyInput,
): Pick<Verdict, 'annotations' | 'annotationErrors'> {
  if (annotations.length === 0) return { annotations: [], annotationErrors: [] };
  const run = new PolicyRun(input, variables);
  const values: { key: string; value: string }[] = [];
  const errors: string[] = [];
  for (const { key, source, expression } of annotations) {
    const outcome = evaluate(expression, source, run);
    if (typeof outcome === 'string') errors.push(outcome);
    else if (typeof outcome.value === 'string' && outcome.value.trim() !== '')
      values.push({ key, value: outcome.value.trim() });
  }
  return { annotations: values, annotationErrors: ignoresFailures ? [] : errors };
}
