import type { JsonObject } from '@sheaf/base';
import { invalid, notSupported, required } from '../../meta/field-error.ts';
import { checkOptionalEnum, type Errors } from '../checks.ts';
import { textsAt } from '../fields.ts';

const operations = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];

/** Which requests a webhook or policy is asked about. */
export function checkRules(errors: Errors, field: string, rules: readonly JsonObject[]): void {
  for (const [index, rule] of rules.entries()) checkRule(errors, `${field}[${index}]`, rule);
}

function checkRule(errors: Errors, field: string, rule: JsonObject): void {
  const given = textsAt(rule, 'operations');
  if (given.length === 0) errors.push(required(`${field}.operations`));
  if (given.length > 1 && given.includes('*'))
    errors.push(
      invalid(`${field}.operations`, given, "if '*' is present, must not specify other operations"),
    );
  for (const [index, operation] of given.entries())
    if (!operations.includes(operation))
      errors.push(notSupported(`${field}.operations[${index}]`, operation, operations));
  checkAlone(errors, `${field}.apiGroups`, [textsAt(rule, 'apiGroups'), 'API groups']);
  const versions = textsAt(rule, 'apiVersions');
  checkAlone(errors, `${field}.apiVersions`, [versions, 'API versions']);
  for (const [index, version] of versions.entries())
    if (version === '') errors.push(required(`${field}.apiVersions[${index}]`));
  checkResources(errors, `${field}.resources`, textsAt(rule, 'resources'));
  checkOptionalEnum(errors, { field: `${field}.scope`, value: rule['scope'] }, [
    '*',
    'Cluster',
    'Namespaced',
  ]);
}

function checkAlone(
  errors: Errors,
  field: string,
  [given, what]: readonly [readonly string[], string],
): void {
  if (given.length === 0) errors.push(required(field));
  if (given.length > 1 && given.includes('*'))
    errors.push(invalid(field, given, `if '*' is present, must not specify other ${what}`));
}

function checkResources(errors: Errors, field: string, given: readonly string[]): void {
  if (given.length === 0) errors.push(required(field));
  for (const [index, resource] of given.entries())
    checkResource(errors, `${field}[${index}]`, { resource, given });
  if (given.length > 1 && given.includes('*/*'))
    errors.push(invalid(field, given, "if '*/*' is present, must not specify other resources"));
  const plain = given.filter((resource) => !resource.includes('/'));
  if (plain.length > 1 && plain.includes('*'))
    errors.push(
      invalid(field, given, "if '*' is present, must not specify other resources without subresources"),
    );
}

function checkResource(
  errors: Errors,
  field: string,
  { resource, given }: { resource: string; given: readonly string[] },
): void {
  if (resource === '') return void errors.push(required(field));
  if (resource === '*/*' || !resource.includes('/')) return;
  const [base, sub] = resource.split('/');
  if (base !== '*' && sub !== '*' && given.includes(`${base}/*`))
    errors.push(invalid(field, resource, `if '${base}/*' is present, must not specify ${resource}`));
  if (base !== '*' && given.includes(`*/${sub}`))
    errors.push(invalid(field, resource, `if '*/${sub}' is present, must not specify ${resource}`));
}
