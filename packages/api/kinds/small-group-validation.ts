import type { JsonObject } from '@sheaf/base';
import { type FieldError, forbiddenField, invalid, required } from '../meta/field-error.ts';
import { dns1123LabelErrors, portNumberErrors } from '../meta/names.ts';
import { asJson, type KubeObject } from '../meta/object.ts';
import { checkAtMostAll, checkCountOrPercent } from './apps/int-or-percent.ts';
import { checkNotNegative, checkOptionalEnum, type Errors, immutableField, pushInvalid } from './checks.ts';
import { checkOverhead } from './core/pod-spec-checks.ts';
import { checkTolerations } from './core/scheduling-checks.ts';
import { fieldsAt, listAt, mapAt, numberAt, objectAt, specOf, textAt } from './fields.ts';
import { checkLabelSelector, checkLabels } from './label-selector-checks.ts';

export function validateDisruptionBudget(budget: KubeObject): readonly FieldError[] {
  const errors: Errors = [];
  const spec = specOf(budget);
  const { minAvailable, maxUnavailable } = spec;
  if (minAvailable !== undefined && maxUnavailable !== undefined) {
    const shown = {
      MinAvailable: minAvailable,
      Selector: spec['selector'] ?? null,
      MaxUnavailable: maxUnavailable,
      UnhealthyPodEvictionPolicy: spec['unhealthyPodEvictionPolicy'] ?? null,
    };
    errors.push(invalid('spec', shown, 'minAvailable and maxUnavailable cannot be both set'));
  }
  for (const [name, value] of [
    ['minAvailable', minAvailable],
    ['maxUnavailable', maxUnavailable],
  ] as const) {
    checkCountOrPercent(errors, `spec.${name}`, value);
    checkAtMostAll(errors, `spec.${name}`, value);
  }
  checkLabelSelector(errors, 'spec.selector', objectAt(spec, 'selector'));
  checkOptionalEnum(
    errors,
    { field: 'spec.unhealthyPodEvictionPolicy', value: spec['unhealthyPodEvictionPolicy'] },
    ['AlwaysAllow', 'IfHealthyBudget'],
  );
  return errors;
}

export function validateLease(lease: KubeObject): readonly FieldError[] {
  const errors: Errors = [];
  const spec = specOf(lease);
  const seconds = numberAt(spec, 'leaseDurationSeconds');
  if (seconds !== undefined && seconds <= 0)
    errors.push(invalid('spec.leaseDurationSeconds', seconds, 'must be greater than 0'));
  checkNotNegative(errors, 'spec.leaseTransitions', spec['leaseTransitions']);
  return errors;
}

export function validateRuntimeClass(runtimeClass: KubeObject): readonly FieldError[] {
  const errors: Errors = [];
  const fields = asJson(runtimeClass);
  const handler = textAt(fields, 'handler');
  if (handler === '') errors.push(required('handler'));
  else pushInvalid(errors, { field: 'handler', value: handler }, dns1123LabelErrors(handler));
  checkOverhead(errors, 'overhead', mapAt(fieldsAt(fields, 'overhead'), 'podFixed'));
  const scheduling = fieldsAt(fields, 'scheduling');
  checkLabels(errors, 'scheduling.nodeSelector', mapAt(scheduling, 'nodeSelector'));
  checkTolerations(errors, 'scheduling.tolerations', listAt(scheduling, 'tolerations'));
  return errors;
}

export function validateRuntimeClassUpdate(next: KubeObject, old: KubeObject): readonly FieldError[] {
  return [
    ...validateRuntimeClass(next),
    ...immutableField('handler', asJson(next)['handler'], asJson(old)['handler']),
  ];
}

const highestPriority = 1_000_000_000;
const systemClasses: Readonly<Record<string, number>> = {
  'system-cluster-critical': 2_000_000_000,
  'system-node-critical': 2_000_001_000,
};

export function validatePriorityClass(priorityClass: KubeObject): readonly FieldError[] {
  const errors: Errors = [];
  const fields = asJson(priorityClass);
  const { name = '' } = priorityClass.metadata;
  const value = numberAt(fields, 'value') ?? 0;
  if (name.startsWith('system-')) {
    if (systemClasses[name] !== value)
      errors.push(
        forbiddenField(
          'metadata.name',
          `priority class names with 'system-' prefix are reserved for system use only. error: ${systemClassFault(name)}`,
        ),
      );
  } else if (value > highestPriority) {
    errors.push(
      forbiddenField('value', `maximum allowed value of a user defined priority is ${highestPriority}`),
    );
  }
  checkOptionalEnum(errors, { field: 'preemptionPolicy', value: fields['preemptionPolicy'] }, [
    'PreemptLowerPriority',
    'Never',
  ]);
  return errors;
}

function systemClassFault(name: string): string {
  const value = systemClasses[name];
  return value === undefined
    ? `${name} is not a known system priority class`
    : `value of ${name} PriorityClass must be ${value}`;
}

export function validatePriorityClassUpdate(next: KubeObject, old: KubeObject): readonly FieldError[] {
  const [given, kept] = [asJson(next), asJson(old)];
  const errors: Errors = [];
  if ((given['value'] ?? 0) !== (kept['value'] ?? 0))
    errors.push(forbiddenField('value', 'may not be changed in an update.'));
  return [
    ...errors,
    ...immutableField('preemptionPolicy', given['preemptionPolicy'], kept['preemptionPolicy']),
  ];
}

export function validateApiService(service: KubeObject): readonly FieldError[] {
  const errors: Errors = [];
  const spec = specOf(service);
  const { name = '' } = service.metadata;
  const wanted = `${textAt(spec, 'version')}.${textAt(spec, 'group')}`;
  if (name !== wanted)
    errors.push(
      invalid('metadata.name', name, `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(wanted)}`),
    );
  if (textAt(spec, 'version') === '') errors.push(required('spec.version'));
  checkPriority(errors, 'spec.groupPriorityMinimum', [numberAt(spec, 'groupPriorityMinimum') ?? 0, 20_000]);
  checkPriority(errors, 'spec.versionPriority', [numberAt(spec, 'versionPriority') ?? 0, 1000]);
  checkApiBackend(errors, spec);
  return errors;
}

function checkPriority(errors: Errors, field: string, [value, most]: readonly [number, number]): void {
  if (value <= 0 || value > most)
    errors.push(invalid(field, value, `must be positive and less than ${most}`));
}

function checkApiBackend(errors: Errors, spec: JsonObject): void {
  const service = objectAt(spec, 'service');
  const isInsecure = spec['insecureSkipTLSVerify'] === true;
  if (service === undefined) {
    if (textAt(spec, 'caBundle') !== '')
      errors.push(invalid('spec.caBundle', '<redacted>', 'local APIServices may not have a caBundle'));
    if (isInsecure)
      errors.push(
        invalid('spec.insecureSkipTLSVerify', true, 'local APIServices may not have insecureSkipTLSVerify'),
      );
    return;
  }
  for (const name of ['namespace', 'name'])
    if (textAt(service, name) === '') errors.push(required(`spec.service.${name}`));
  const port = numberAt(service, 'port') ?? 443;
  for (const detail of portNumberErrors(port))
    errors.push(invalid('spec.service.port', port, `port is not valid: ${detail}`));
  if (isInsecure && textAt(spec, 'caBundle') !== '')
    errors.push(invalid('spec.insecureSkipTLSVerify', true, 'may not be true if caBundle is present'));
}
