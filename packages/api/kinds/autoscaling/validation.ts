import { type JsonObject, parseQuantity } from '@sheaf/base';
import { type FieldError, forbiddenField, invalid, notSupported, required } from '../../meta/field-error.ts';
import { pathSegmentErrors } from '../../meta/names.ts';
import type { KubeObject } from '../../meta/object.ts';
import { checkOptionalEnum, type Errors, pushInvalid } from '../checks.ts';
import { fieldsAt, listAt, numberAt, objectAt, specOf, textAt } from '../fields.ts';
import { checkLabelSelector } from '../label-selector-checks.ts';

export function validateAutoscaler(autoscaler: KubeObject): readonly FieldError[] {
  const errors: Errors = [];
  const spec = specOf(autoscaler);
  const [least, most] = [numberAt(spec, 'minReplicas'), numberAt(spec, 'maxReplicas') ?? 0];
  if (least !== undefined && least < 1)
    errors.push(invalid('spec.minReplicas', least, 'must be greater than or equal to 1'));
  if (most < 1) errors.push(required('spec.maxReplicas', 'must be set and greater than 0'));
  if (least !== undefined && most < least)
    errors.push(invalid('spec.maxReplicas', most, 'must be greater than or equal to `minReplicas`'));
  checkReference(errors, 'spec.scaleTargetRef', fieldsAt(spec, 'scaleTargetRef'));
  checkApiVersion(errors, 'spec.scaleTargetRef.apiVersion', fieldsAt(spec, 'scaleTargetRef'));
  checkMetrics(errors, listAt(spec, 'metrics'), least);
  const behavior = objectAt(spec, 'behavior');
  if (behavior !== undefined)
    for (const name of ['scaleUp', 'scaleDown']) {
      const rules = objectAt(behavior, name);
      if (rules !== undefined) checkScaling(errors, `spec.behavior.${name}`, rules);
    }
  return errors;
}

function checkReference(errors: Errors, field: string, reference: JsonObject): void {
  for (const name of ['kind', 'name']) {
    const text = textAt(reference, name);
    if (text === '') errors.push(required(`${field}.${name}`));
    else pushInvalid(errors, { field: `${field}.${name}`, value: text }, pathSegmentErrors(text));
  }
}

const groupless = new Set(['ReplicationController']);

function checkApiVersion(errors: Errors, field: string, reference: JsonObject): void {
  const text = textAt(reference, 'apiVersion');
  const slashes = text.split('/').length - 1;
  if (slashes > 1) errors.push(invalid(field, text, `unexpected GroupVersion string: ${text}`));
  else if (slashes === 0 && !groupless.has(textAt(reference, 'kind')))
    errors.push(invalid(field, text, 'apiVersion must specify API group'));
}

function checkMetrics(errors: Errors, metrics: readonly JsonObject[], least: number | undefined): void {
  let scalesToZero = false;
  for (const [index, metric] of metrics.entries()) {
    checkMetric(errors, `spec.metrics[${index}]`, metric);
    if (metric['type'] === 'Object' || metric['type'] === 'External') scalesToZero = true;
  }
  if (least === 0 && !scalesToZero)
    errors.push(
      forbiddenField(
        'spec.metrics',
        'must specify at least one Object or External metric to support scaling to zero replicas',
      ),
    );
}

const metricTypes = ['ContainerResource', 'External', 'Object', 'Pods', 'Resource'];
const sources: Readonly<Record<string, string>> = {
  ContainerResource: 'containerResource',
  External: 'external',
  Object: 'object',
  Pods: 'pods',
  Resource: 'resource',
};

function checkMetric(errors: Errors, field: string, metric: JsonObject): void {
  const type = textAt(metric, 'type');
  if (type === '') errors.push(required(`${field}.type`, 'must specify a metric source type'));
  const expected = Object.hasOwn(sources, type) ? sources[type] : undefined;
  if (expected === undefined) {
    // Upstream notices it twice.
    const error = notSupported(`${field}.type`, type, metricTypes);
    errors.push(error, error);
    return;
  }
  for (const name of ['object', 'pods', 'resource', 'containerResource', 'external']) {
    const source = objectAt(metric, name);
    if (source === undefined) continue;
    if (name === expected) checks[name]?.(errors, `${field}.${name}`, source);
  }
  if (objectAt(metric, expected) === undefined)
    errors.push(required(`${field}.${expected}`, 'must populate information for the given metric source'));
}

type SourceCheck = (errors: Errors, field: string, source: JsonObject) => void;

const checks: Readonly<Record<string, SourceCheck>> = {
  object(errors, field, source) {
    checkReference(errors, `${field}.describedObject`, fieldsAt(source, 'describedObject'));
    checkIdentity(errors, `${field}.metric`, fieldsAt(source, 'metric'));
    const target = fieldsAt(source, 'target');
    checkTarget(errors, `${field}.target`, target);
    if (target['value'] === undefined && target['averageValue'] === undefined)
      errors.push(required(`${field}.target.averageValue`, 'must set either a target value or averageValue'));
  },
  external(errors, field, source) {
    checkIdentity(errors, `${field}.metric`, fieldsAt(source, 'metric'));
    const target = fieldsAt(source, 'target');
    checkTarget(errors, `${field}.target`, target);
    if (target['value'] === undefined && target['averageValue'] === undefined)
      errors.push(
        required(
          `${field}.target.averageValue`,
          'must set either a target value for metric or a per-pod target',
        ),
      );
    if (target['value'] !== undefined && target['averageValue'] !== undefined)
      errors.push(
        forbiddenField(
          `${field}.target.value`,
          'may not set both a target value for metric and a per-pod target',
        ),
      );
  },
  pods(errors, field, source) {
    checkIdentity(errors, `${field}.metric`, fieldsAt(source, 'metric'));
    const target = fieldsAt(source, 'target');
    checkTarget(errors, `${field}.target`, target);
    if (!isPositive(target, 'averageValue'))
      errors.push(required(`${field}.target.averageValue`, 'must specify a positive target averageValue'));
  },
  resource: checkResource,
  containerResource(errors, field, source) {
    if (textAt(source, 'container') === '')
      errors.push(required(`${field}.container`, 'must specify a container'));
    checkResource(errors, field, source);
  },
};

function checkResource(errors: Errors, field: string, source: JsonObject): void {
  if (textAt(source, 'name') === '') errors.push(required(`${field}.name`, 'must specify a resource name'));
  const target = fieldsAt(source, 'target');
  checkTarget(errors, `${field}.target`, target);
  const [share, amount] = [target['averageUtilization'], target['averageValue']];
  if (share === undefined && amount === undefined)
    errors.push(
      required(
        `${field}.target.averageUtilization`,
        'must set either a target raw value or a target utilization',
      ),
    );
  if (share !== undefined && amount !== undefined)
    errors.push(
      forbiddenField(
        `${field}.target.averageValue`,
        'may not set both a target raw value and a target utilization',
      ),
    );
}

function checkIdentity(errors: Errors, field: string, metric: JsonObject): void {
  const name = textAt(metric, 'name');
  if (name === '') errors.push(required(`${field}.name`, 'must specify a metric name'));
  else pushInvalid(errors, { field: `${field}.name`, value: name }, pathSegmentErrors(name));
  checkLabelSelector(errors, `${field}.selector`, objectAt(metric, 'selector'));
}

function isPositive(target: JsonObject, name: string): boolean {
  const text = target[name];
  return typeof text === 'string' && parseQuantity(text).unscaled > 0n;
}

function checkTarget(errors: Errors, field: string, target: JsonObject): void {
  const type = textAt(target, 'type');
  if (type === '') errors.push(required(`${field}.type`, 'must specify a metric target type'));
  if (!['Utilization', 'Value', 'AverageValue'].includes(type))
    errors.push(invalid(`${field}.type`, type, 'must be either Utilization, Value, or AverageValue'));
  for (const name of ['value', 'averageValue']) {
    const amount = target[name];
    if (amount !== undefined && !isPositive(target, name))
      errors.push(invalid(`${field}.${name}`, amount, 'must be positive'));
  }
  const share = numberAt(target, 'averageUtilization');
  if (share !== undefined && share < 1)
    errors.push(invalid(`${field}.averageUtilization`, share, 'must be greater than 0'));
}

function checkScaling(errors: Errors, field: string, rules: JsonObject): void {
  const window = numberAt(rules, 'stabilizationWindowSeconds') ?? 0;
  const windowField = `${field}.stabilizationWindowSeconds`;
  if (window < 0) errors.push(invalid(windowField, window, 'must be greater than or equal to zero'));
  if (window > 3600) errors.push(invalid(windowField, window, 'must be less than or equal to 3600'));
  checkOptionalEnum(errors, { field: `${field}.selectPolicy`, value: rules['selectPolicy'] }, [
    'Disabled',
    'Max',
    'Min',
  ]);
  const policies = listAt(rules, 'policies');
  if (policies.length === 0) errors.push(required(`${field}.policies`, 'must specify at least one Policy'));
  for (const [index, policy] of policies.entries())
    checkPolicy(errors, `${field}.policies[${index}]`, policy);
}

function checkPolicy(errors: Errors, field: string, policy: JsonObject): void {
  checkOptionalEnum(errors, { field: `${field}.type`, value: policy['type'] }, ['Percent', 'Pods']);
  const [value, seconds] = [numberAt(policy, 'value') ?? 0, numberAt(policy, 'periodSeconds') ?? 0];
  if (value <= 0) errors.push(invalid(`${field}.value`, value, 'must be greater than zero'));
  if (seconds <= 0) errors.push(invalid(`${field}.periodSeconds`, seconds, 'must be greater than zero'));
  if (seconds > 1800)
    errors.push(invalid(`${field}.periodSeconds`, seconds, 'must be less than or equal to 1800'));
}
