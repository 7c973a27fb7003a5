import { asJson, type FieldError, invalid, invalidObject, type KubeObject } from '@sheaf/api';
import { isJsonObject, type JsonObject, jsonEqual } from '@sheaf/base';
import { boolType, nullType, type PolicyEnvironment, stringType } from '../cel/index.ts';
import { conditionEnvironment } from './match-conditions.ts';
import { compileMutation, mutationEnvironment } from './mutating-policy.ts';
import { objectAt, objectsAt, textAt } from './object-field.ts';
import type { AdmissionPlugin, AdmissionRequest } from './plugin.ts';
import { policyEnvironment } from './validating-policy.ts';

type Check = (object: KubeObject) => readonly FieldError[];

const checks: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['validatingadmissionpolicies', checkValidatingPolicy],
  ['mutatingadmissionpolicies', checkMutatingPolicy],
  ['validatingwebhookconfigurations', checkWebhooks],
  ['mutatingwebhookconfigurations', checkWebhooks],
]);

/** Expressions that cannot be compiled are refused when they are written, not when they are first needed. */
export function expressionChecks(): AdmissionPlugin {
  return {
    name: 'AdmissionExpressions',
    handles: ({ resource, subresource, operation, object }) =>
      object !== undefined &&
      subresource === '' &&
      operation !== 'DELETE' &&
      resource.group === 'admissionregistration.k8s.io' &&
      checks.has(resource.resource),
    validate(request) {
      const { object } = request;
      if (!object || isUnchanged(request)) return;
      const errors = checks.get(request.resource.resource)?.(object) ?? [];
      if (errors.length === 0) return;
      const { kind, group } = request.kind;
      throw invalidObject({ kind, group, name: object.metadata.name ?? '' }, errors);
    },
  };
}

/** What is stored stays writable, whatever later versions of the checks think of it. */
function isUnchanged({ object, oldObject }: AdmissionRequest): boolean {
  if (!object || !oldObject) return false;
  const [next, old] = [asJson(object), asJson(oldObject)];
  return jsonEqual(next['spec'], old['spec']) && jsonEqual(next['webhooks'], old['webhooks']);
}

function faults(field: string, source: string, error: string | undefined): readonly FieldError[] {
  return error === undefined ? [] : [invalid(field, source, error)];
}

function checkWebhooks(configuration: KubeObject): readonly FieldError[] {
  const environment = conditionEnvironment();
  return objectsAt(configuration, 'webhooks').flatMap((webhook, index) =>
    checkConditions(webhook, `webhooks[${index}]`, environment),
  );
}

function checkConditions(
  owner: JsonObject,
  path: string,
  environment: PolicyEnvironment,
): readonly FieldError[] {
  return objectsAt(owner, 'matchConditions').flatMap((condition, index) => {
    const source = textAt(condition, 'expression');
    const { error } = environment.compile(source, [boolType]);
    return faults(`${path}.matchConditions[${index}].expression`, source, error);
  });
}

function checkVariables(spec: JsonObject, environment: PolicyEnvironment): readonly FieldError[] {
  return objectsAt(spec, 'variables').flatMap((variable, index) => {
    const source = textAt(variable, 'expression');
    const { error } = environment.addVariable(textAt(variable, 'name'), source);
    return faults(`spec.variables[${index}].expression`, source, error);
  });
}

function checkValidatingPolicy(policy: KubeObject): readonly FieldError[] {
  const spec = objectAt(policy, 'spec');
  const hasParams = isJsonObject(spec['paramKind']);
  const environment = policyEnvironment(hasParams);
  return [
    ...checkVariables(spec, environment),
    ...checkConditions(spec, 'spec', conditionEnvironment(hasParams)),
    ...objectsAt(spec, 'validations').flatMap((validation, index) =>
      checkValidation(validation, `spec.validations[${index}]`, environment),
    ),
    ...objectsAt(spec, 'auditAnnotations').flatMap((annotation, index) => {
      const source = textAt(annotation, 'valueExpression');
      const { error } = environment.compile(source, [stringType, nullType]);
      return faults(`spec.auditAnnotations[${index}].valueExpression`, source, error);
    }),
  ];
}

function checkValidation(
  validation: JsonObject,
  path: string,
  environment: PolicyEnvironment,
): readonly FieldError[] {
  const source = textAt(validation, 'expression');
  const messageSource = textAt(validation, 'messageExpression');
  const errors = faults(`${path}.expression`, source, environment.compile(source, [boolType]).error);
  if (messageSource === '') return errors;
  const { error } = environment.compile(messageSource, [stringType]);
  return [...errors, ...faults(`${path}.messageExpression`, messageSource, error)];
}

function checkMutatingPolicy(policy: KubeObject): readonly FieldError[] {
  const spec = objectAt(policy, 'spec');
  const hasParams = isJsonObject(spec['paramKind']);
  const environment = mutationEnvironment(hasParams);
  return [
    ...checkVariables(spec, environment),
    ...checkConditions(spec, 'spec', conditionEnvironment(hasParams)),
    ...objectsAt(spec, 'mutations').flatMap((mutation, index) => {
      const { type, source, expression } = compileMutation(mutation, environment);
      const part = type === 'JSONPatch' ? 'jsonPatch' : 'applyConfiguration';
      return faults(`spec.mutations[${index}].${part}.expression`, source, expression.error);
    }),
  ];
}
