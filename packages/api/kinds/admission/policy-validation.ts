import type { JsonObject } from '@sheaf/base';
import { duplicate, type FieldError, invalid, notSupported, required } from '../../meta/field-error.ts';
import { qualifiedNameErrors } from '../../meta/names.ts';
import type { KubeObject } from '../../meta/object.ts';
import { checkEnum, checkOptionalEnum, type Errors, pushInvalid } from '../checks.ts';
import { listAt, objectAt, specOf, textAt, textsAt } from '../fields.ts';
import { checkLabelSelector } from '../label-selector-checks.ts';
import { checkRules } from './rule-checks.ts';
import { checkMatchConditions } from './webhook-validation.ts';

/** Expressions are compiled by the server; here is what is wrong without looking into them. */
export function validateValidatingPolicy(policy: KubeObject): readonly FieldError[] {
  const errors: Errors = [];
  const spec = specOf(policy);
  checkCommon(errors, spec);
  const [validations, audits] = [listAt(spec, 'validations'), listAt(spec, 'auditAnnotations')];
  if (validations.length === 0 && audits.length === 0) {
    const detail = 'validations or auditAnnotations must contain at least one item';
    errors.push(required('spec.validations', detail), required('spec.auditAnnotations', detail));
    return errors;
  }
  for (const [index, validation] of validations.entries())
    checkValidation(errors, `spec.validations[${index}]`, validation);
  for (const [index, audit] of audits.entries())
    checkAudit(errors, `spec.auditAnnotations[${index}]`, { audit, policy: policy.metadata.name ?? '' });
  return errors;
}

function checkCommon(errors: Errors, spec: JsonObject): void {
  checkOptionalEnum(errors, { field: 'spec.failurePolicy', value: spec['failurePolicy'] }, [
    'Fail',
    'Ignore',
  ]);
  const kind = objectAt(spec, 'paramKind');
  if (kind !== undefined) checkParamKind(errors, 'spec.paramKind', kind);
  const constraints = objectAt(spec, 'matchConstraints');
  if (constraints === undefined) errors.push(required('spec.matchConstraints'));
  else {
    checkMatchResources(errors, 'spec.matchConstraints', constraints);
    if (listAt(constraints, 'resourceRules').length === 0)
      errors.push(required('spec.matchConstraints.resourceRules'));
  }
  checkMatchConditions(errors, 'spec.matchConditions', listAt(spec, 'matchConditions'));
  checkVariables(errors, 'spec.variables', listAt(spec, 'variables'));
}

function checkParamKind(errors: Errors, field: string, kind: JsonObject): void {
  const version = textAt(kind, 'apiVersion');
  if (version === '') errors.push(required(`${field}.apiVersion`));
  else if (version.split('/').length > 2)
    errors.push(invalid(`${field}.apiVersion`, version, `unexpected GroupVersion string: ${version}`));
  if (textAt(kind, 'kind') === '') errors.push(required(`${field}.kind`));
}

function checkMatchResources(errors: Errors, field: string, resources: JsonObject): void {
  checkOptionalEnum(errors, { field: `${field}.matchPolicy`, value: resources['matchPolicy'] }, [
    'Equivalent',
    'Exact',
  ]);
  checkLabelSelector(errors, `${field}.namespaceSelector`, objectAt(resources, 'namespaceSelector'));
  checkLabelSelector(errors, `${field}.objectSelector`, objectAt(resources, 'objectSelector'));
  for (const name of ['resourceRules', 'excludeResourceRules'])
    checkRules(errors, `${field}.${name}`, listAt(resources, name));
}

function checkVariables(errors: Errors, field: string, variables: readonly JsonObject[]): void {
  const names = new Set<string>();
  for (const [index, variable] of variables.entries()) {
    const at = `${field}[${index}]`;
    const name = textAt(variable, 'name');
    if (name === '') errors.push(required(`${at}.name`, 'name is not specified'));
    else if (!/^[_a-zA-Z][_a-zA-Z0-9]*$/.test(name))
      errors.push(invalid(`${at}.name`, name, 'must be a valid CEL identifier'));
    if (names.has(name)) errors.push(duplicate(`${at}.name`, name));
    names.add(name);
    if (textAt(variable, 'expression').trim() === '')
      errors.push(required(`${at}.expression`, 'expression is not specified'));
  }
}

const reasons = ['Forbidden', 'Invalid', 'RequestEntityTooLarge'];
const policyReasons = [...reasons, 'Unauthorized'];

function checkValidation(errors: Errors, field: string, validation: JsonObject): void {
  if (textAt(validation, 'expression').trim() === '')
    errors.push(required(`${field}.expression`, 'expression is not specified'));
  const message = textAt(validation, 'message');
  if (message !== '' && message.trim() === '')
    errors.push(invalid(`${field}.message`, message, 'message must be non-empty if specified'));
  else if (message.includes('\n'))
    errors.push(invalid(`${field}.message`, message, 'must not contain line breaks'));
  const reason = validation['reason'];
  if (typeof reason === 'string' && !policyReasons.includes(reason))
    errors.push(notSupported(`${field}.reason`, reason, reasons));
}

function checkAudit(
  errors: Errors,
  field: string,
  { audit, policy }: { audit: JsonObject; policy: string },
): void {
  const key = `${policy}/${textAt(audit, 'key')}`;
  pushInvalid(errors, { field: `${field}.key`, value: key }, qualifiedNameErrors(key));
  if (textAt(audit, 'valueExpression').trim() === '')
    errors.push(required(`${field}.valueExpression`, 'valueExpression is not specified'));
}

export function validateMutatingPolicy(policy: KubeObject): readonly FieldError[] {
  const errors: Errors = [];
  const spec = specOf(policy);
  checkCommon(errors, spec);
  const mutations = listAt(spec, 'mutations');
  if (mutations.length === 0)
    errors.push(required('spec.mutations', 'mutations must contain at least one item'));
  for (const [index, mutation] of mutations.entries())
    checkMutation(errors, `spec.mutations[${index}]`, mutation);
  checkEnum(errors, { field: 'spec.reinvocationPolicy', value: textAt(spec, 'reinvocationPolicy') }, [
    'IfNeeded',
    'Never',
  ]);
  return errors;
}

const patchForms: Readonly<Record<string, string>> = {
  ApplyConfiguration: 'applyConfiguration',
  JSONPatch: 'jsonPatch',
};

function checkMutation(errors: Errors, field: string, mutation: JsonObject): void {
  const type = textAt(mutation, 'patchType');
  checkEnum(errors, { field: `${field}.patchType`, value: type }, ['ApplyConfiguration', 'JSONPatch']);
  const form = Object.hasOwn(patchForms, type) ? patchForms[type] : undefined;
  if (form === undefined) return;
  const patch = objectAt(mutation, form);
  if (patch === undefined)
    errors.push(required(`${field}.${form}`, `must be specified when patchType is ${type}`));
  else if (textAt(patch, 'expression').trim() === '')
    errors.push(required(`${field}.${form}.expression`, 'expression is not specified'));
}

const validationActions = ['Audit', 'Deny', 'Warn'];

export function validatePolicyBinding(binding: KubeObject): readonly FieldError[] {
  const errors: Errors = [];
  const spec = specOf(binding);
  if (textAt(spec, 'policyName') === '') errors.push(required('spec.policyName'));
  const reference = objectAt(spec, 'paramRef');
  if (reference !== undefined) checkParamReference(errors, 'spec.paramRef', reference);
  const resources = objectAt(spec, 'matchResources');
  if (resources !== undefined) checkMatchResources(errors, 'spec.matchResources', resources);
  if (binding.kind === 'ValidatingAdmissionPolicyBinding')
    checkActions(errors, textsAt(spec, 'validationActions'));
  return errors;
}

function checkParamReference(errors: Errors, field: string, reference: JsonObject): void {
  const hasSelector = objectAt(reference, 'selector') !== undefined;
  if (textAt(reference, 'name') === '' && !hasSelector)
    errors.push(required(field, 'one of name or selector must be specified'));
  if (textAt(reference, 'name') !== '' && hasSelector)
    errors.push({
      type: 'FieldValueForbidden',
      field: `${field}.name`,
      message: 'Forbidden: name and selector are mutually exclusive',
    });
  checkLabelSelector(errors, `${field}.selector`, objectAt(reference, 'selector'));
  checkEnum(
    errors,
    { field: `${field}.parameterNotFoundAction`, value: textAt(reference, 'parameterNotFoundAction') },
    ['Allow', 'Deny'],
  );
}

function checkActions(errors: Errors, actions: readonly string[]): void {
  const field = 'spec.validationActions';
  const seen = new Set<string>();
  for (const [index, action] of actions.entries()) {
    if (!validationActions.includes(action))
      errors.push(notSupported(`${field}[${index}]`, action, validationActions));
    if (seen.has(action)) errors.push(duplicate(`${field}[${index}]`, action));
    seen.add(action);
  }
  if (seen.has('Deny') && seen.has('Warn'))
    errors.push(
      invalid(
        field,
        actions,
        'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)',
      ),
    );
  if (actions.length === 0) errors.push(required(field, 'at least one validation action is required'));
}
