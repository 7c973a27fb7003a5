import {
  compareQuantities,
  type JsonObject,
  parseQuantity,
  quantityAsInteger,
  quantitySign,
} from '@sheaf/base';
import { type FieldError, forbiddenField, invalid, required } from '../../meta/field-error.ts';
import { qualifiedNameErrors } from '../../meta/names.ts';
import { type Errors, notNegativeDetail } from '../checks.ts';
import { mapAt } from '../fields.ts';

const standard = new Set(['cpu', 'memory', 'ephemeral-storage']);
const defaultDomain = 'kubernetes.io/';

export function isHugePages(name: string): boolean {
  return name.startsWith('hugepages-');
}

/** Resources of nodes that Kubernetes itself knows. */
function isNative(name: string): boolean {
  return !name.includes('/') || name.includes(defaultDomain);
}

function isExtended(name: string): boolean {
  return (
    !isNative(name) && !name.startsWith('requests.') && qualifiedNameErrors(`requests.${name}`).length === 0
  );
}

const allStandard = new Set([
  ...standard,
  'storage',
  'requests.cpu',
  'requests.memory',
  'requests.ephemeral-storage',
  'limits.cpu',
  'limits.memory',
  'limits.ephemeral-storage',
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'requests.storage',
  'services.nodeports',
  'services.loadbalancers',
]);

export function checkResourceName(errors: Errors, field: string, name: string): void {
  const found = qualifiedNameErrors(name);
  for (const detail of found) errors.push(invalid(field, name, detail));
  if (found.length > 0 || name.includes('/')) return;
  if (!allStandard.has(name) && !isHugePages(name) && !name.startsWith('requests.hugepages-'))
    errors.push(invalid(field, name, 'must be a standard resource type or fully qualified'));
}

function checkContainerResourceName(errors: Errors, field: string, name: string): void {
  checkResourceName(errors, field, name);
  if (!name.includes('/')) {
    if (!standard.has(name) && !isHugePages(name))
      errors.push(invalid(field, name, 'must be a standard resource for containers'));
  } else if (!isNative(name) && !isExtended(name)) {
    errors.push(invalid(field, name, "doesn't follow extended resource name standard"));
  }
}

const countedNames = new Set([
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
]);

/** An amount as the resource wants it: not negative, and whole for what is counted. */
export function checkAmount(errors: Errors, field: string, [name, amount]: readonly [string, string]): void {
  const quantity = parseQuantity(amount);
  if (quantitySign(quantity) < 0) errors.push(invalid(field, amount, notNegativeDetail));
  if ((countedNames.has(name) || isExtended(name)) && quantityAsInteger(quantity) === undefined)
    errors.push(invalid(field, amount, 'must be an integer'));
}

/** `resources` of a container. Other names are refused as names of its resources. */
export function checkContainerResources(errors: Errors, field: string, resources: JsonObject): void {
  const [limits, requests] = [mapAt(resources, 'limits'), mapAt(resources, 'requests')];
  const seen = { hasCompute: false, hasHugePages: false };
  for (const [name, amount] of Object.entries(limits)) {
    checkEntry(errors, `${field}.limits[${name}]`, [name, amount]);
    note(name, seen);
  }
  for (const [name, amount] of Object.entries(requests)) {
    checkEntry(errors, `${field}.requests[${name}]`, [name, amount]);
    pushDefined(errors, requestError(field, [name, amount], limits));
    note(name, seen);
  }
  if (!seen.hasCompute && seen.hasHugePages)
    errors.push(forbiddenField(field, 'HugePages require cpu or memory'));
}

function note(name: string, seen: { hasCompute: boolean; hasHugePages: boolean }): void {
  if (name === 'cpu' || name === 'memory') seen.hasCompute = true;
  if (isHugePages(name)) seen.hasHugePages = true;
}

function checkEntry(errors: Errors, field: string, entry: readonly [string, string]): void {
  checkContainerResourceName(errors, field, entry[0]);
  checkAmount(errors, field, entry);
  const page = isHugePages(entry[0]) ? hugePageSize(entry[0]) : undefined;
  const amount = quantityAsInteger(parseQuantity(entry[1]));
  if (page !== undefined && amount !== undefined && amount % page !== 0n)
    errors.push(invalid(field, entry[1], `must be an integer multiple of page size`));
}

function hugePageSize(name: string): bigint | undefined {
  const text = name.slice('hugepages-'.length);
  const size = /^\d+[KMGT]i$/.test(text) ? quantityAsInteger(parseQuantity(text)) : undefined;
  return size === 0n ? undefined : size;
}

function requestError(
  field: string,
  [name, amount]: readonly [string, string],
  limits: Readonly<Record<string, string>>,
): FieldError | undefined {
  const limit = Object.hasOwn(limits, name) ? limits[name] : undefined;
  const isShared = isNative(name) && !isHugePages(name);
  if (limit === undefined)
    return isShared
      ? undefined
      : required(`${field}.limits`, 'Limit must be set for non overcommitable resources');
  const order = compareQuantities(parseQuantity(amount), parseQuantity(limit));
  if (order !== 0 && !isShared)
    return invalid(`${field}.requests`, amount, `must be equal to ${name} limit of ${limit}`);
  if (order > 0)
    return invalid(`${field}.requests`, amount, `must be less than or equal to ${name} limit of ${limit}`);
  return undefined;
}

function pushDefined(errors: Errors, error: FieldError | undefined): void {
  if (error !== undefined) errors.push(error);
}
