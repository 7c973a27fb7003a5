import type { JsonObject } from '@sheaf/base';
import { type FieldError, invalid, notSupported, required } from '../../meta/field-error.ts';
import { dns1123SubdomainErrors, pathSegmentErrors } from '../../meta/names.ts';
import { asJson, type KubeObject } from '../../meta/object.ts';
import { type Errors, immutableField, pushInvalid } from '../checks.ts';
import { fieldsAt, listAt, objectAt, textAt, textsAt } from '../fields.ts';
import { checkLabelSelector } from '../label-selector-checks.ts';
import { rbacGroup } from './defaults.ts';

export function validateRole(role: KubeObject): readonly FieldError[] {
  return ruleErrors(role, true);
}

export function validateClusterRole(role: KubeObject): readonly FieldError[] {
  const errors = ruleErrors(role, false);
  const aggregation = objectAt(asJson(role), 'aggregationRule');
  if (aggregation === undefined) return errors;
  const selectors = listAt(aggregation, 'clusterRoleSelectors');
  const field = 'aggregationRule.clusterRoleSelectors';
  if (selectors.length === 0)
    errors.push(required(field, 'at least one clusterRoleSelector required if aggregationRule is non-nil'));
  for (const [index, selector] of selectors.entries()) {
    const before = errors.length;
    checkLabelSelector(errors, `${field}[${index}]`, selector);
    if (errors.length > before) errors.push(invalid(`${field}[${index}]`, null, 'invalid label selector.'));
  }
  return errors;
}

function ruleErrors(role: KubeObject, isNamespaced: boolean): Errors {
  const errors: Errors = [];
  for (const [index, rule] of listAt(asJson(role), 'rules').entries())
    checkRule(errors, `rules[${index}]`, { rule, isNamespaced });
  return errors;
}

function checkRule(
  errors: Errors,
  field: string,
  { rule, isNamespaced }: { rule: JsonObject; isNamespaced: boolean },
): void {
  if (textsAt(rule, 'verbs').length === 0)
    errors.push(required(`${field}.verbs`, 'verbs must contain at least one value'));
  const paths = textsAt(rule, 'nonResourceURLs');
  const [groups, resources] = [textsAt(rule, 'apiGroups'), textsAt(rule, 'resources')];
  if (paths.length > 0) {
    const at = `${field}.nonResourceURLs`;
    if (isNamespaced) errors.push(invalid(at, paths, 'namespaced rules cannot apply to non-resource URLs'));
    if (groups.length > 0 || resources.length > 0 || textsAt(rule, 'resourceNames').length > 0)
      errors.push(invalid(at, paths, 'rules cannot apply to both regular resources and non-resource URLs'));
    return;
  }
  if (groups.length === 0)
    errors.push(required(`${field}.apiGroups`, 'resource rules must supply at least one api group'));
  if (resources.length === 0)
    errors.push(required(`${field}.resources`, 'resource rules must supply at least one resource'));
}

interface BindingScope {
  readonly isNamespaced: boolean;
  readonly roleKinds: readonly string[];
}

const inNamespace: BindingScope = { isNamespaced: true, roleKinds: ['Role', 'ClusterRole'] };
const inCluster: BindingScope = { isNamespaced: false, roleKinds: ['ClusterRole'] };

export function validateRoleBinding(binding: KubeObject): readonly FieldError[] {
  return bindingErrors(binding, inNamespace);
}

export function validateClusterRoleBinding(binding: KubeObject): readonly FieldError[] {
  return bindingErrors(binding, inCluster);
}

function bindingErrors(binding: KubeObject, scope: BindingScope): Errors {
  const errors: Errors = [];
  const fields = asJson(binding);
  const reference = fieldsAt(fields, 'roleRef');
  const [group, kind, name] = [
    textAt(reference, 'apiGroup'),
    textAt(reference, 'kind'),
    textAt(reference, 'name'),
  ];
  if (group !== rbacGroup) errors.push(notSupported('roleRef.apiGroup', group, [rbacGroup]));
  if (!scope.roleKinds.includes(kind)) errors.push(notSupported('roleRef.kind', kind, scope.roleKinds));
  if (name === '') errors.push(required('roleRef.name'));
  else pushInvalid(errors, { field: 'roleRef.name', value: name }, pathSegmentErrors(name));
  for (const [index, subject] of listAt(fields, 'subjects').entries())
    checkSubject(errors, `subjects[${index}]`, { subject, scope });
  return errors;
}

function checkSubject(
  errors: Errors,
  field: string,
  { subject, scope }: { subject: JsonObject; scope: BindingScope },
): void {
  const [kind, name, group] = [textAt(subject, 'kind'), textAt(subject, 'name'), textAt(subject, 'apiGroup')];
  if (name === '') errors.push(required(`${field}.name`));
  if (kind === 'ServiceAccount') {
    if (name !== '')
      pushInvalid(errors, { field: `${field}.name`, value: name }, dns1123SubdomainErrors(name));
    if (group !== '') errors.push(notSupported(`${field}.apiGroup`, group, ['']));
    if (!scope.isNamespaced && textAt(subject, 'namespace') === '')
      errors.push(required(`${field}.namespace`));
  } else if (kind === 'User' || kind === 'Group') {
    if (group !== rbacGroup) errors.push(notSupported(`${field}.apiGroup`, group, [rbacGroup]));
  } else {
    errors.push(notSupported(`${field}.kind`, kind, ['ServiceAccount', 'User', 'Group']));
  }
}

/** What a binding grants is what it was made to grant. */
export function roleRefStays(
  validate: (binding: KubeObject) => readonly FieldError[],
): (next: KubeObject, old: KubeObject) => readonly FieldError[] {
  return (next, old) => {
    const [given, kept] = [fieldsAt(asJson(next), 'roleRef'), fieldsAt(asJson(old), 'roleRef')];
    const errors = immutableField('roleRef', given, kept);
    const shown = { APIGroup: given['apiGroup'] ?? '', Kind: given['kind'] ?? '', Name: given['name'] ?? '' };
    const worded = errors.length > 0 ? [invalid('roleRef', shown, 'cannot change roleRef')] : [];
    return [...validate(next), ...worded];
  };
}
