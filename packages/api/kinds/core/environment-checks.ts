import { compareQuantities, type JsonObject, parseQuantity } from '@sheaf/base';
import { invalid, notSupported, required } from '../../meta/field-error.ts';
import {
  configKeyErrors,
  dns1123SubdomainErrors,
  qualifiedNameErrors,
  relaxedEnvironmentNameErrors,
} from '../../meta/names.ts';
import { type Errors, pushInvalid } from '../checks.ts';
import { listAt, objectAt, textAt } from '../fields.ts';

const fieldPaths = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
] as const;
/** Paths that exist, though not everywhere. */
const knownPaths = new Set<string>([
  ...fieldPaths,
  'metadata.annotations',
  'metadata.labels',
  'spec.restartPolicy',
  'spec.schedulerName',
  'status.phase',
  'status.nominatedNodeName',
]);
const containerResources = [
  'limits.cpu',
  'limits.ephemeral-storage',
  'limits.memory',
  'requests.cpu',
  'requests.ephemeral-storage',
  'requests.memory',
];

export function checkEnvironment(errors: Errors, field: string, container: JsonObject): void {
  for (const [index, variable] of listAt(container, 'env').entries()) {
    const at = `${field}.env[${index}]`;
    const name = textAt(variable, 'name');
    if (name === '') errors.push(required(`${at}.name`));
    else pushInvalid(errors, { field: `${at}.name`, value: name }, relaxedEnvironmentNameErrors(name));
    const source = objectAt(variable, 'valueFrom');
    if (source !== undefined) checkSource(errors, `${at}.valueFrom`, { variable, source });
  }
  checkEnvironmentFrom(errors, `${field}.envFrom`, listAt(container, 'envFrom'));
}

const sources: readonly (readonly [string, (errors: Errors, field: string, source: JsonObject) => void])[] = [
  [
    'fieldRef',
    (errors, field, source) => checkFieldReference(errors, field, { source, supported: fieldPaths }),
  ],
  ['resourceFieldRef', checkResourceReference],
  ['configMapKeyRef', checkKeyReference],
  ['secretKeyRef', checkKeyReference],
  ['fileKeyRef', () => undefined],
];

function checkSource(
  errors: Errors,
  field: string,
  { variable, source }: { variable: JsonObject; source: JsonObject },
): void {
  let count = 0;
  for (const [name, check] of sources) {
    const value = objectAt(source, name);
    if (value === undefined) continue;
    count++;
    check(errors, `${field}.${name}`, value);
  }
  const isBoth = textAt(variable, 'value') !== '';
  if (count === 0)
    errors.push(
      invalid(
        field,
        '',
        'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`',
      ),
    );
  else if (isBoth) errors.push(invalid(field, '', 'may not be specified when `value` is not empty'));
  else if (count > 1) errors.push(invalid(field, '', 'may not have more than one field specified at a time'));
}

/** A field of the pod; labels and annotations also by key, e.g. `metadata.labels['app']`. */
export function checkFieldReference(
  errors: Errors,
  field: string,
  { source, supported }: { source: JsonObject; supported: readonly string[] },
): void {
  const path = textAt(source, 'fieldPath');
  if (!textAt(source, 'apiVersion')) return void errors.push(required(`${field}.apiVersion`));
  if (path === '') return void errors.push(required(`${field}.fieldPath`));
  const subscript = /^(metadata\.(?:annotations|labels))\['(.*)'\]$/.exec(path);
  if (subscript !== null) {
    const key = subscript[2] ?? '';
    pushInvalid(errors, { field: field, value: key }, qualifiedNameErrors(key.toLowerCase()));
  } else if (!knownPaths.has(path)) {
    errors.push(
      invalid(`${field}.fieldPath`, path, `error converting fieldPath: field label not supported: ${path}`),
    );
  } else if (!supported.includes(path)) {
    errors.push(notSupported(`${field}.fieldPath`, path, supported));
  }
}

const divisors: readonly (readonly [pattern: RegExp, allowed: readonly string[], detail: string])[] = [
  [/\.cpu$/, ['1m', '1'], "only divisor's values 1m and 1 are supported with the cpu resource"],
  [
    /\.(memory)$/,
    ['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei'],
    "only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported with the memory resource",
  ],
  [
    /\.(ephemeral-storage)$/,
    ['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei'],
    "only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported with the local ephemeral storage resource",
  ],
];

export function checkResourceReference(errors: Errors, field: string, source: JsonObject): void {
  const resource = textAt(source, 'resource');
  if (resource === '') return void errors.push(required(`${field}.resource`));
  if (!containerResources.includes(resource) && !/^(limits|requests)\.hugepages-/.test(resource))
    return void errors.push(notSupported(`${field}.resource`, resource, containerResources));
  const divisor = parseQuantity(textAt(source, 'divisor') || '0');
  if (divisor.unscaled === 0n) return;
  for (const [pattern, allowed, detail] of divisors) {
    if (!pattern.test(resource)) continue;
    if (!allowed.some((text) => compareQuantities(parseQuantity(text), divisor) === 0))
      errors.push(invalid(`${field}.divisor`, resource, detail));
  }
}

function checkKeyReference(errors: Errors, field: string, source: JsonObject): void {
  const [name, key] = [textAt(source, 'name'), textAt(source, 'key')];
  pushInvalid(errors, { field: `${field}.name`, value: name }, dns1123SubdomainErrors(name));
  if (key === '') errors.push(required(`${field}.key`));
  else pushInvalid(errors, { field: `${field}.key`, value: key }, configKeyErrors(key));
}

function checkEnvironmentFrom(errors: Errors, field: string, list: readonly JsonObject[]): void {
  for (const [index, from] of list.entries()) {
    const prefix = textAt(from, 'prefix');
    if (prefix !== '')
      pushInvalid(
        errors,
        { field: `${field}[${index}].prefix`, value: prefix },
        relaxedEnvironmentNameErrors(prefix),
      );
    let count = 0;
    for (const name of ['configMapRef', 'secretRef']) {
      const source = objectAt(from, name);
      if (source === undefined) continue;
      count++;
      checkReferenceName(errors, `${field}[${index}].${name}.name`, textAt(source, 'name'));
    }
    if (count === 0) errors.push(invalid(field, '', 'must specify one of: `configMapRef` or `secretRef`'));
    else if (count > 1)
      errors.push(invalid(field, '', 'may not have more than one field specified at a time'));
  }
}

function checkReferenceName(errors: Errors, field: string, name: string): void {
  if (name === '') errors.push(required(field));
  else pushInvalid(errors, { field: field, value: name }, dns1123SubdomainErrors(name));
}
