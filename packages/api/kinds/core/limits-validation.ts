import { compareQuantities, type JsonObject, parseQuantity } from '@sheaf/base';
import { duplicate, type FieldError, forbiddenField, invalid, required } from '../../meta/field-error.ts';
import { qualifiedNameErrors } from '../../meta/names.ts';
import type { KubeObject } from '../../meta/object.ts';
import { type Errors, immutableField, pushInvalid } from '../checks.ts';
import { fieldsAt, listAt, mapAt, objectAt, specOf, textAt, textsAt } from '../fields.ts';
import { checkAmount, checkResourceName } from './container-resource-checks.ts';

type Amounts = Readonly<Record<string, string>>;
const limitTypes = new Set(['Pod', 'Container', 'PersistentVolumeClaim']);

export function validateLimitRange(limitRange: KubeObject): readonly FieldError[] {
  const errors: Errors = [];
  const seen = new Set<string>();
  for (const [index, limit] of listAt(specOf(limitRange), 'limits').entries()) {
    const at = `spec.limits[${index}]`;
    const type = textAt(limit, 'type');
    checkLimitType(errors, `${at}.type`, type);
    if (seen.has(type)) errors.push(duplicate(`${at}.type`, type));
    seen.add(type);
    checkLimit(errors, at, limit);
  }
  return errors;
}

function checkLimitType(errors: Errors, field: string, type: string): void {
  pushInvalid(errors, { field: field, value: type }, qualifiedNameErrors(type));
  if (!type.includes('/') && !limitTypes.has(type))
    errors.push(invalid(field, type, 'must be a standard limit type or fully qualified'));
}

function checkLimit(errors: Errors, field: string, limit: JsonObject): void {
  if (limit['type'] === 'Pod') {
    for (const name of ['default', 'defaultRequest'])
      if (Object.keys(fieldsAt(limit, name)).length > 0)
        errors.push(forbiddenField(`${field}.${name}`, "may not be specified when `type` is 'Pod'"));
  }
  if (limit['type'] === 'PersistentVolumeClaim' && !hasStorage(limit))
    errors.push(
      required(
        `${field}.limits`,
        'either minimum or maximum storage value is required, but neither was provided',
      ),
    );
  const names = new Set(
    ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio'].flatMap((name) =>
      Object.keys(fieldsAt(limit, name)),
    ),
  );
  for (const name of names) checkBounds(errors, field, { limit, name });
}

function hasStorage(limit: JsonObject): boolean {
  return mapAt(limit, 'min')['storage'] !== undefined || mapAt(limit, 'max')['storage'] !== undefined;
}

/** Pairs of which the first must not be greater than the second; where it is reported, and of which amount. */
const orders: readonly (readonly [
  low: string,
  high: string,
  field: string,
  words: (low: string, high: string) => string,
])[] = [
  ['min', 'max', 'min', (low, high) => `min value ${low} is greater than max value ${high}`],
  [
    'min',
    'defaultRequest',
    'defaultRequest',
    (low, high) => `min value ${low} is greater than default request value ${high}`,
  ],
  [
    'defaultRequest',
    'max',
    'defaultRequest',
    (low, high) => `default request value ${low} is greater than max value ${high}`,
  ],
  [
    'defaultRequest',
    'default',
    'defaultRequest',
    (low, high) => `default request value ${low} is greater than default limit value ${high}`,
  ],
  ['min', 'default', 'default', (low, high) => `min value ${low} is greater than default value ${high}`],
  ['default', 'max', 'default', (low, high) => `default value ${low} is greater than max value ${high}`],
];

/** Upstream shows the upper bound in two of the messages about defaults. */
const showsOther = new Set(['min>default', 'default>max']);

function checkBounds(
  errors: Errors,
  field: string,
  { limit, name }: { limit: JsonObject; name: string },
): void {
  for (const [low, high, place, words] of orders) {
    const [a, b] = [mapAt(limit, low)[name], mapAt(limit, high)[name]];
    if (a === undefined || b === undefined || compareQuantities(parseQuantity(a), parseQuantity(b)) <= 0)
      continue;
    const own = mapAt(limit, place)[name] ?? '';
    const shown = showsOther.has(`${low}>${high}`) ? (place === low ? b : a) : own;
    errors.push(invalid(`${field}.${place}[${name}]`, shown, words(a, b)));
  }
  const ratio = mapAt(limit, 'maxLimitRequestRatio')[name];
  if (ratio !== undefined && compareQuantities(parseQuantity(ratio), parseQuantity('1')) < 0)
    errors.push(invalid(`${field}.maxLimitRequestRatio[${name}]`, ratio, `ratio ${ratio} is less than 1`));
}

const scopes = new Set([
  'Terminating',
  'NotTerminating',
  'BestEffort',
  'NotBestEffort',
  'PriorityClass',
  'CrossNamespacePodAffinity',
  'VolumeAttributesClass',
]);
const opposites = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
] as const;

const quotaNames = new Set([
  'cpu',
  'memory',
  'ephemeral-storage',
  'requests.cpu',
  'requests.memory',
  'requests.storage',
  'requests.ephemeral-storage',
  'limits.cpu',
  'limits.memory',
  'limits.ephemeral-storage',
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'persistentvolumeclaims',
  'configmaps',
  'services.nodeports',
  'services.loadbalancers',
]);

export function validateResourceQuota(quota: KubeObject): readonly FieldError[] {
  const errors: Errors = [];
  const spec = specOf(quota);
  const hard = mapAt(spec, 'hard');
  for (const [name, amount] of Object.entries(hard)) {
    const at = `spec.hard[${name}]`;
    checkResourceName(errors, at, name);
    if (!name.includes('/') && !isQuotaName(name))
      errors.push(invalid(at, name, 'must be a standard resource for quota'));
    checkAmount(errors, at, [name, amount]);
  }
  checkScopes(errors, textsAt(spec, 'scopes'), hard);
  checkScopeSelector(errors, spec, hard);
  return errors;
}

function isQuotaName(name: string): boolean {
  return quotaNames.has(name) || /^(requests\.)?hugepages-/.test(name);
}

const podNames = /^(pods|((requests|limits)\.)?(cpu|memory))$/;
const claimNames = /^(persistentvolumeclaims|requests\.storage)$/;

/** Names that quotas do not know of themselves, such as `count/pods`, go with every scope. */
function fitsScope(name: string, scope: string): boolean {
  if (!isQuotaName(name) || !scopes.has(scope)) return true;
  if (scope === 'BestEffort') return name === 'pods';
  return (scope === 'VolumeAttributesClass' ? claimNames : podNames).test(name);
}

function checkScopes(errors: Errors, given: readonly string[], hard: Amounts): void {
  for (const scope of given) {
    if (!scopes.has(scope)) errors.push(invalid('spec.scopes', given, 'unsupported scope'));
    for (const name of Object.keys(hard))
      if (!fitsScope(name, scope))
        errors.push(invalid('spec.scopes', given, 'unsupported scope applied to resource'));
  }
  if (areOpposites(given)) errors.push(invalid('spec.scopes', given, 'conflicting scopes'));
}

function areOpposites(given: readonly string[]): boolean {
  return opposites.some(([a, b]) => given.includes(a) && given.includes(b));
}

function checkScopeSelector(errors: Errors, spec: JsonObject, hard: Amounts): void {
  const selector = objectAt(spec, 'scopeSelector');
  if (selector === undefined) return;
  const field = 'spec.scopeSelector.matchExpressions';
  const expressions = listAt(selector, 'matchExpressions');
  for (const expression of expressions) {
    const scope = textAt(expression, 'scopeName');
    if (!scopes.has(scope)) errors.push(invalid(`${field}.scopeName`, scope, 'unsupported scope'));
    for (const name of Object.keys(hard))
      if (!fitsScope(name, scope))
        errors.push(invalid(field, shownSelector(expressions), 'unsupported scope applied to resource'));
    checkOperator(errors, expression, field);
  }
  if (areOpposites(expressions.map((expression) => textAt(expression, 'scopeName'))))
    errors.push(invalid(field, spec['scopes'] ?? null, 'conflicting scopes'));
}

/** As upstream shows it: by the names of its own fields. */
function shownSelector(expressions: readonly JsonObject[]): JsonObject {
  return {
    MatchExpressions: expressions.map((expression) => ({
      ScopeName: textAt(expression, 'scopeName'),
      Operator: textAt(expression, 'operator'),
      Values: expression['values'] ?? null,
    })),
  };
}

const plainScopes = /^(Not)?(BestEffort|Terminating)$|^CrossNamespacePodAffinity$/;

function checkOperator(errors: Errors, expression: JsonObject, field: string): void {
  const operator = textAt(expression, 'operator');
  const values = textsAt(expression, 'values');
  if (plainScopes.test(textAt(expression, 'scopeName')) && operator !== 'Exists')
    errors.push(
      invalid(
        `${field}.operator`,
        operator,
        "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity",
      ),
    );
  switch (operator) {
    case 'In':
    case 'NotIn':
      if (values.length > 0) return;
      errors.push(
        required(
          `${field}.values`,
          "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
        ),
      );
      return;
    case 'Exists':
    case 'DoesNotExist':
      if (values.length === 0) return;
      errors.push(
        invalid(
          `${field}.values`,
          values,
          "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector",
        ),
      );
      return;
    default:
      errors.push(invalid(`${field}.operator`, operator, 'not a valid selector operator'));
  }
}

export function validateResourceQuotaUpdate(next: KubeObject, old: KubeObject): readonly FieldError[] {
  const [spec, kept] = [specOf(next), specOf(old)];
  return [
    ...validateResourceQuota(next),
    ...immutableField('spec.scopes', spec['scopes'] ?? [], kept['scopes'] ?? []),
  ];
}
