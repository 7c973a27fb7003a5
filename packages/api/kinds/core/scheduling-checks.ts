import type { JsonObject } from '@sheaf/base';
import { duplicate, forbiddenField, invalid, notSupported, required } from '../../meta/field-error.ts';
import { dns1123LabelErrors, labelValueErrors, qualifiedNameErrors } from '../../meta/names.ts';
import { type Errors, pushInvalid } from '../checks.ts';
import { listAt, objectAt, textAt, textsAt } from '../fields.ts';
import { checkLabelSelector, valuesForbidden, valuesNeeded } from '../label-selector-checks.ts';

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

export function checkTolerations(errors: Errors, field: string, tolerations: readonly JsonObject[]): void {
  for (const [index, toleration] of tolerations.entries())
    checkToleration(errors, `${field}[${index}]`, toleration);
}

function checkToleration(errors: Errors, field: string, toleration: JsonObject): void {
  const [key, operator] = [textAt(toleration, 'key'), textAt(toleration, 'operator')];
  const [value, effect] = [textAt(toleration, 'value'), textAt(toleration, 'effect')];
  if (key !== '') pushInvalid(errors, { field: `${field}.key`, value: key }, qualifiedNameErrors(key));
  if (key === '' && operator !== 'Exists')
    errors.push(
      invalid(
        `${field}.operator`,
        operator,
        'operator must be Exists when `key` is empty, which means "match all values and all keys"',
      ),
    );
  if (toleration['tolerationSeconds'] !== undefined && effect !== 'NoExecute')
    errors.push(
      invalid(`${field}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"),
    );
  checkTolerated(errors, field, { operator, value });
  if (effect !== '' && !effects.includes(effect))
    errors.push(notSupported(`${field}.effect`, effect, effects));
}

function checkTolerated(
  errors: Errors,
  field: string,
  { operator, value }: { operator: string; value: string },
): void {
  if (operator === 'Equal' || operator === '') {
    pushInvalid(errors, { field: `${field}.operator`, value: value }, labelValueErrors(value));
  } else if (operator === 'Exists') {
    if (value !== '')
      errors.push(invalid(`${field}.operator`, value, "value must be empty when `operator` is 'Exists'"));
  } else {
    errors.push(notSupported(`${field}.operator`, operator, ['Equal', 'Exists']));
  }
}

export function checkNodeSelector(errors: Errors, field: string, selector: JsonObject): void {
  const terms = listAt(selector, 'nodeSelectorTerms');
  if (terms.length === 0)
    errors.push(required(`${field}.nodeSelectorTerms`, 'must have at least one node selector term'));
  for (const [index, term] of terms.entries())
    checkTerm(errors, `${field}.nodeSelectorTerms[${index}]`, term);
}

function checkTerm(errors: Errors, field: string, term: JsonObject): void {
  for (const [index, requirement] of listAt(term, 'matchExpressions').entries())
    checkRequirement(errors, `${field}.matchExpressions[${index}]`, requirement);
  for (const [index, requirement] of listAt(term, 'matchFields').entries())
    checkFieldRequirement(errors, `${field}.matchFields[${index}]`, requirement);
}

function checkRequirement(errors: Errors, field: string, requirement: JsonObject): void {
  const [key, operator] = [textAt(requirement, 'key'), textAt(requirement, 'operator')];
  const values = textsAt(requirement, 'values');
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length === 0) errors.push(required(`${field}.values`, valuesNeeded));
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (values.length > 0) errors.push(forbiddenField(`${field}.values`, valuesForbidden));
  } else if (operator === 'Gt' || operator === 'Lt') {
    if (values.length !== 1)
      errors.push(
        required(`${field}.values`, "must be specified single value when `operator` is 'Lt' or 'Gt'"),
      );
  } else {
    errors.push(invalid(`${field}.operator`, operator, 'not a valid selector operator'));
  }
  pushInvalid(errors, { field: `${field}.key`, value: key }, qualifiedNameErrors(key));
}

function checkFieldRequirement(errors: Errors, field: string, requirement: JsonObject): void {
  const [key, operator] = [textAt(requirement, 'key'), textAt(requirement, 'operator')];
  const values = textsAt(requirement, 'values');
  if (operator !== 'In' && operator !== 'NotIn')
    errors.push(invalid(`${field}.operator`, operator, 'not a valid selector operator'));
  else if (values.length !== 1)
    errors.push(
      required(
        `${field}.values`,
        "must be only one value when `operator` is 'In' or 'NotIn' for node field selector",
      ),
    );
  if (key !== 'metadata.name') errors.push(invalid(`${field}.key`, key, 'not a valid field selector key'));
}

const mandatory = 'requiredDuringSchedulingIgnoredDuringExecution';
const preferred = 'preferredDuringSchedulingIgnoredDuringExecution';

export function checkAffinity(errors: Errors, field: string, affinity: JsonObject): void {
  const node = objectAt(affinity, 'nodeAffinity');
  if (node !== undefined) checkNodeAffinity(errors, `${field}.nodeAffinity`, node);
  for (const name of ['podAffinity', 'podAntiAffinity']) {
    const pod = objectAt(affinity, name);
    if (pod !== undefined) checkPodAffinity(errors, `${field}.${name}`, pod);
  }
}

function checkNodeAffinity(errors: Errors, field: string, affinity: JsonObject): void {
  const selector = objectAt(affinity, mandatory);
  if (selector !== undefined) checkNodeSelector(errors, `${field}.${mandatory}`, selector);
  for (const [index, term] of listAt(affinity, preferred).entries()) {
    checkWeight(errors, `${field}.${preferred}[${index}].weight`, term);
    checkTerm(errors, `${field}.${preferred}[${index}].preference`, objectAt(term, 'preference') ?? {});
  }
}

function checkWeight(errors: Errors, field: string, term: JsonObject): void {
  const weight = Number(term['weight'] ?? 0);
  if (weight <= 0 || weight > 100) errors.push(invalid(field, weight, 'must be in the range 1-100'));
}

function checkPodAffinity(errors: Errors, field: string, affinity: JsonObject): void {
  for (const [index, term] of listAt(affinity, mandatory).entries())
    checkPodTerm(errors, `${field}.${mandatory}[${index}]`, term);
  for (const [index, weighted] of listAt(affinity, preferred).entries()) {
    const at = `${field}.${preferred}[${index}]`;
    checkWeight(errors, `${at}.weight`, weighted);
    checkPodTerm(errors, `${at}.podAffinityTerm`, objectAt(weighted, 'podAffinityTerm') ?? {});
  }
}

function checkPodTerm(errors: Errors, field: string, term: JsonObject): void {
  checkLabelSelector(errors, `${field}.labelSelector`, objectAt(term, 'labelSelector'));
  checkLabelSelector(errors, `${field}.namespaceSelector`, objectAt(term, 'namespaceSelector'));
  for (const name of textsAt(term, 'namespaces'))
    pushInvalid(errors, { field: `${field}.namespace`, value: name }, dns1123LabelErrors(name));
  const key = textAt(term, 'topologyKey');
  if (key === '') errors.push(required(`${field}.topologyKey`, 'can not be empty'));
  pushInvalid(errors, { field: `${field}.topologyKey`, value: key }, qualifiedNameErrors(key));
}

export function checkTopologySpread(errors: Errors, field: string, constraints: readonly JsonObject[]): void {
  const pairs = constraints.map(
    (item) => `{${textAt(item, 'topologyKey')}, ${textAt(item, 'whenUnsatisfiable')}}`,
  );
  for (const [index, constraint] of constraints.entries()) {
    const at = `${field}[${index}]`;
    checkSpread(errors, at, constraint);
    const pair = pairs[index] ?? '';
    if (pairs.indexOf(pair, index + 1) > index)
      errors.push(duplicate(`${at}.{topologyKey, whenUnsatisfiable}`, pair));
    const domains = constraint['minDomains'];
    if (typeof domains === 'number' && domains <= 0)
      errors.push(invalid(`${at}.minDomains`, domains, 'must be greater than zero'));
    checkLabelSelector(errors, `${at}.labelSelector`, objectAt(constraint, 'labelSelector'));
  }
}

function checkSpread(errors: Errors, field: string, constraint: JsonObject): void {
  const skew = Number(constraint['maxSkew'] ?? 0);
  if (skew <= 0) errors.push(invalid(`${field}.maxSkew`, skew, 'must be greater than zero'));
  if (textAt(constraint, 'topologyKey') === '')
    errors.push(required(`${field}.topologyKey`, 'can not be empty'));
  const when = textAt(constraint, 'whenUnsatisfiable');
  const choices = ['DoNotSchedule', 'ScheduleAnyway'];
  if (!choices.includes(when)) errors.push(notSupported(`${field}.whenUnsatisfiable`, when, choices));
}
