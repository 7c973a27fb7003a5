import type { JsonObject } from '@sheaf/base';
import { type FieldError, forbiddenField, invalid, notSupported, required } from '../../meta/field-error.ts';
import type { KubeObject } from '../../meta/object.ts';
import type { Errors } from '../checks.ts';
import { isTrueAt, listAt, numberAt, objectAt, specOf, textAt, textsAt } from '../fields.ts';

export function validateFlowSchema(schema: KubeObject): readonly FieldError[] {
  const errors: Errors = [];
  const spec = specOf(schema);
  checkPrecedence(errors, schema);
  const method = objectAt(spec, 'distinguisherMethod');
  const methods = ['ByNamespace', 'ByUser'];
  if (method !== undefined && !methods.includes(textAt(method, 'type')))
    errors.push(notSupported('spec.distinguisherMethod.type', { Type: textAt(method, 'type') }, methods));
  if (textAt(objectAt(spec, 'priorityLevelConfiguration') ?? {}, 'name') === '')
    errors.push(required('spec.priorityLevelConfiguration.name', 'must reference a priority level'));
  for (const [index, rule] of listAt(spec, 'rules').entries())
    checkRule(errors, `spec.rules[${index}]`, rule);
  return errors;
}

function checkPrecedence(errors: Errors, schema: KubeObject): void {
  const precedence = numberAt(specOf(schema), 'matchingPrecedence') ?? 0;
  if (precedence <= 0)
    errors.push(invalid('spec.matchingPrecedence', precedence, 'must be a positive value'));
  if (precedence > 10_000)
    errors.push(invalid('spec.matchingPrecedence', precedence, 'must not be greater than 10000'));
  if (precedence === 1 && schema.metadata.name !== 'exempt')
    errors.push(
      invalid(
        'spec.matchingPrecedence',
        precedence,
        "only the schema named 'exempt' may have matchingPrecedence 1",
      ),
    );
}

function checkRule(errors: Errors, field: string, rule: JsonObject): void {
  const subjects = listAt(rule, 'subjects');
  if (subjects.length === 0)
    errors.push(required(`${field}.subjects`, 'subjects must contain at least one value'));
  for (const [index, subject] of subjects.entries())
    checkSubject(errors, `${field}.subjects[${index}]`, subject);
  const [resources, paths] = [listAt(rule, 'resourceRules'), listAt(rule, 'nonResourceRules')];
  if (resources.length === 0 && paths.length === 0)
    errors.push(required(field, 'at least one of resourceRules and nonResourceRules has to be non-empty'));
  for (const [index, one] of resources.entries())
    checkResources(errors, `${field}.resourceRules[${index}]`, one);
  for (const [index, one] of paths.entries()) checkPaths(errors, `${field}.nonResourceRules[${index}]`, one);
}

const subjectFields: Readonly<Record<string, string>> = {
  Group: 'group',
  ServiceAccount: 'serviceAccount',
  User: 'user',
};

function checkSubject(errors: Errors, field: string, subject: JsonObject): void {
  const kind = textAt(subject, 'kind');
  const name = Object.hasOwn(subjectFields, kind) ? subjectFields[kind] : undefined;
  if (name === undefined) {
    errors.push(notSupported(`${field}.kind`, kind, ['Group', 'ServiceAccount', 'User']));
    return;
  }
  const given = objectAt(subject, name);
  if (given === undefined)
    errors.push(required(`${field}.${name}`, `${name} is required when subject kind is '${kind}'`));
  else if (textAt(given, 'name') === '') errors.push(required(`${field}.${name}.name`));
  else if (name === 'serviceAccount' && textAt(given, 'namespace') === '')
    errors.push(required(`${field}.serviceAccount.namespace`, 'must specify namespace for service account'));
  for (const [other, otherName] of Object.entries(subjectFields))
    if (otherName !== name && objectAt(subject, otherName) !== undefined)
      errors.push(
        forbiddenField(
          `${field}.${otherName}`,
          `${otherName} is forbidden when subject kind is not '${other}'`,
        ),
      );
}

function checkSome(
  errors: Errors,
  field: string,
  [list, detail]: readonly [readonly string[], string],
): void {
  if (list.length === 0) errors.push(required(field, detail));
}

function checkAlone(errors: Errors, field: string, list: readonly string[]): void {
  if (list.length > 1 && list.includes('*'))
    errors.push(invalid(field, list, "if '*' is present, must not specify other values"));
}

function checkResources(errors: Errors, field: string, rule: JsonObject): void {
  const namespaces = textsAt(rule, 'namespaces');
  checkSome(errors, `${field}.verbs`, [textsAt(rule, 'verbs'), 'verbs must contain at least one value']);
  checkSome(errors, `${field}.apiGroups`, [
    textsAt(rule, 'apiGroups'),
    'resource rules must supply at least one api group',
  ]);
  checkSome(errors, `${field}.resources`, [
    textsAt(rule, 'resources'),
    'resource rules must supply at least one resource',
  ]);
  if (!isTrueAt(rule, 'clusterScope'))
    checkSome(errors, `${field}.namespaces`, [
      namespaces,
      'resource rules that are not cluster scoped must supply at least one namespace',
    ]);
  for (const name of ['verbs', 'apiGroups', 'resources', 'namespaces'])
    checkAlone(errors, `${field}.${name}`, textsAt(rule, name));
}

function checkPaths(errors: Errors, field: string, rule: JsonObject): void {
  checkSome(errors, `${field}.verbs`, [textsAt(rule, 'verbs'), 'verbs must contain at least one value']);
  const paths = textsAt(rule, 'nonResourceURLs');
  checkSome(errors, `${field}.nonResourceURLs`, [paths, 'nonResourceURLs must contain at least one value']);
  checkAlone(errors, `${field}.verbs`, textsAt(rule, 'verbs'));
  checkAlone(errors, `${field}.nonResourceURLs`, paths);
}

export function validatePriorityLevel(level: KubeObject): readonly FieldError[] {
  const errors: Errors = [];
  const spec = specOf(level);
  const type = textAt(spec, 'type');
  const limited = objectAt(spec, 'limited');
  if (type !== 'Exempt' && type !== 'Limited') {
    errors.push(notSupported('spec.type', type, ['Exempt', 'Limited']));
    return errors;
  }
  if ((type === 'Exempt') !== (level.metadata.name === 'exempt'))
    errors.push(invalid('spec.type', type, "must be 'Exempt' if and only if `name` is 'exempt'"));
  if (type === 'Exempt') {
    if (limited !== undefined)
      errors.push(forbiddenField('spec.limited', 'must be nil if the type is not Limited'));
  } else if (limited === undefined) {
    errors.push(required('spec.limited', 'must not be empty when type is Limited'));
  } else {
    checkLimited(errors, 'spec.limited', limited);
  }
  return errors;
}

function checkLimited(errors: Errors, field: string, limited: JsonObject): void {
  const shares = numberAt(limited, 'nominalConcurrencyShares') ?? 0;
  if (shares < 0)
    errors.push(invalid(`${field}.nominalConcurrencyShares`, shares, 'must be a non-negative integer'));
  checkResponse(errors, `${field}.limitResponse`, objectAt(limited, 'limitResponse') ?? {});
  const percent = numberAt(limited, 'lendablePercent') ?? 0;
  if (percent < 0 || percent > 100)
    errors.push(invalid(`${field}.lendablePercent`, percent, 'must be between 0 and 100, inclusive'));
  const borrowing = numberAt(limited, 'borrowingLimitPercent') ?? 0;
  if (borrowing < 0)
    errors.push(
      invalid(`${field}.borrowingLimitPercent`, borrowing, 'if specified, must be a non-negative integer'),
    );
}

function checkResponse(errors: Errors, field: string, response: JsonObject): void {
  const type = textAt(response, 'type');
  const queuing = objectAt(response, 'queuing');
  if (type === 'Reject') {
    if (queuing !== undefined)
      errors.push(
        forbiddenField(`${field}.queuing`, 'must be nil if limited.limitResponse.type is not Limited'),
      );
  } else if (type === 'Queue') {
    if (queuing === undefined)
      errors.push(required(`${field}.queuing`, 'must not be empty if limited.limitResponse.type is Limited'));
    else checkQueuing(errors, `${field}.queuing`, queuing);
  } else {
    errors.push(notSupported(`${field}.type`, type, ['Queue', 'Reject']));
  }
}

function checkQueuing(errors: Errors, field: string, queuing: JsonObject): void {
  const [queues, hand] = [numberAt(queuing, 'queues') ?? 0, numberAt(queuing, 'handSize') ?? 0];
  const limit = numberAt(queuing, 'queueLengthLimit') ?? 0;
  if (limit <= 0) errors.push(invalid(`${field}.queueLengthLimit`, limit, 'must be positive'));
  if (queues <= 0) errors.push(invalid(`${field}.queues`, queues, 'must be positive'));
  else if (queues > 10_000_000)
    errors.push(invalid(`${field}.queues`, queues, 'must not be greater than 10000000'));
  if (hand <= 0) errors.push(invalid(`${field}.handSize`, hand, 'must be positive'));
  else if (hand > queues)
    errors.push(invalid(`${field}.handSize`, hand, `should not be greater than queues (${queues})`));
}
