import type { JsonObject } from '@sheaf/base';
import type { FieldError } from '../../meta/field-error.ts';
import { invalid, required } from '../../meta/field-error.ts';
import { qualifiedNameErrors } from '../../meta/names.ts';
import { asJson, type KubeObject } from '../../meta/object.ts';
import { type Errors, pushInvalid } from '../checks.ts';
import { fieldsAt, textAt } from '../fields.ts';
import type { KindRules } from '../kind-rules.ts';
import { eventConversion } from './event-conversion.ts';

export const eventRules: KindRules = {
  validateCreate: involvedErrors,
  allowsCreateOnUpdate: true,
  selectableFields: eventFields,
};

const objectFields = [
  'kind',
  'namespace',
  'name',
  'uid',
  'apiVersion',
  'resourceVersion',
  'fieldPath',
] as const;

function eventFields(event: KubeObject): Record<string, string> {
  const fields = asJson(event);
  const object = fieldsAt(fields, 'involvedObject');
  const source = fieldsAt(fields, 'source');
  const selectable: Record<string, string> = {};
  for (const name of objectFields) selectable[`involvedObject.${name}`] = textAt(object, name);
  selectable['reason'] = textAt(fields, 'reason');
  selectable['reportingComponent'] = textAt(fields, 'reportingComponent');
  selectable['source'] = textAt(source, 'component') || textAt(fields, 'reportingComponent');
  selectable['type'] = textAt(fields, 'type');
  return selectable;
}

function involvedErrors(event: KubeObject): readonly FieldError[] {
  const namespace = textAt(fieldsAt(asJson(event), 'involvedObject'), 'namespace');
  const own = event.metadata.namespace ?? '';
  const isRight = namespace === own || (namespace === '' && (own === 'default' || own === 'kube-system'));
  return isRight ? [] : [invalid('involvedObject.namespace', namespace, 'does not match event.namespace')];
}

/** The stricter rules of events.k8s.io, whose errors speak of the kept shape. */
export const newerEventRules: KindRules = {
  allowsCreateOnUpdate: true,
  validateCreate(event) {
    const kept = eventConversion.toStorage({ ...event, metadata: event.metadata });
    return [...involvedErrors(kept), ...newerErrors(kept)];
  },
  selectableFields: (event) => eventFields(eventConversion.toStorage({ ...event, metadata: event.metadata })),
};

const limits: readonly (readonly [field: string, most: number])[] = [
  ['reportingInstance', 128],
  ['action', 128],
  ['reason', 128],
];

function newerErrors(event: KubeObject): readonly FieldError[] {
  const errors: Errors = [];
  const fields = asJson(event);
  if (!fields['eventTime']) errors.push(required('eventTime'));
  else checkReporter(errors, fields);
  const type = textAt(fields, 'type');
  if (type !== 'Normal' && type !== 'Warning') errors.push(invalid('type', '', `has invalid value: ${type}`));
  if (textAt(fields, 'message').length > 1024)
    errors.push(invalid('message', '', 'can have at most 1024 characters'));
  return errors;
}

function checkReporter(errors: Errors, fields: JsonObject): void {
  const controller = textAt(fields, 'reportingComponent');
  if (controller === '') errors.push(required('reportingController'));
  pushInvalid(errors, { field: 'reportingController', value: controller }, qualifiedNameErrors(controller));
  for (const [name, most] of limits) {
    const text = textAt(fields, name);
    if (text === '') errors.push(required(name));
    else if (text.length > most) errors.push(invalid(name, '', `can have at most ${most} characters`));
  }
}
