import { type JsonObject, type JsonValue } from '@sheaf/base';
import {
  duplicate,
  type FieldError,
  forbiddenField,
  invalid,
  notSupported,
  required,
} from '../../meta/field-error.ts';
import { dns1123SubdomainErrors, qualifiedNameErrors } from '../../meta/names.ts';
import { asJson, type KubeObject } from '../../meta/object.ts';
import {
  checkEnum,
  checkNotNegative,
  checkOptionalEnum,
  type Errors,
  immutableField,
  notNegativeDetail,
  pushInvalid,
} from '../checks.ts';
import { fieldsAt, listAt, mapAt, objectAt, specOf, textAt, textsAt } from '../fields.ts';
import { checkLabelSelector } from '../label-selector-checks.ts';

export function validateStorageClass(storageClass: KubeObject): readonly FieldError[] {
  const errors: Errors = [];
  const fields = asJson(storageClass);
  const provisioner = textAt(fields, 'provisioner');
  if (provisioner === '') errors.push(required('provisioner'));
  else
    pushInvalid(
      errors,
      { field: 'provisioner', value: provisioner.toLowerCase() },
      qualifiedNameErrors(provisioner.toLowerCase()),
    );
  for (const key of Object.keys(mapAt(fields, 'parameters')))
    if (key === '') errors.push(invalid('parameters', key, 'field can not be empty.'));
  checkOptionalEnum(errors, { field: 'reclaimPolicy', value: fields['reclaimPolicy'] }, ['Delete', 'Retain']);
  checkEnum(errors, { field: 'volumeBindingMode', value: textAt(fields, 'volumeBindingMode') }, [
    'Immediate',
    'WaitForFirstConsumer',
  ]);
  for (const [index, term] of listAt(fields, 'allowedTopologies').entries())
    checkTopology(
      errors,
      `allowedTopologies[${index}].matchLabelExpressions`,
      listAt(term, 'matchLabelExpressions'),
    );
  return errors;
}

function checkTopology(errors: Errors, field: string, expressions: readonly JsonObject[]): void {
  for (const [index, expression] of expressions.entries()) {
    const at = `${field}[${index}]`;
    if (textsAt(expression, 'values').length === 0) errors.push(required(`${at}.values`));
    const key = textAt(expression, 'key');
    pushInvalid(errors, { field: `${at}.key`, value: key }, qualifiedNameErrors(key));
  }
}

/** What volumes were made with is part of them; only expansion and topologies may change. */
export function validateStorageClassUpdate(next: KubeObject, old: KubeObject): readonly FieldError[] {
  const errors: Errors = [...validateStorageClass(next)];
  const [given, kept] = [asJson(next), asJson(old)];
  for (const name of ['parameters', 'provisioner', 'reclaimPolicy'])
    errors.push(...immutableField(name, given[name], kept[name]));
  errors.push(...immutableField('volumeBindingMode', given['volumeBindingMode'], kept['volumeBindingMode']));
  return errors;
}

export function validateCsiDriver(driver: KubeObject): readonly FieldError[] {
  const errors: Errors = [];
  const spec = specOf(driver);
  for (const name of ['attachRequired', 'podInfoOnMount', 'storageCapacity'])
    if (spec[name] === undefined) errors.push(required(`spec.${name}`));
  checkOptionalEnum(errors, { field: 'spec.fsGroupPolicy', value: spec['fsGroupPolicy'] }, [
    'File',
    'None',
    'ReadWriteOnceWithFSType',
  ]);
  for (const mode of textsAt(spec, 'volumeLifecycleModes'))
    if (mode !== 'Persistent' && mode !== 'Ephemeral')
      errors.push(notSupported('spec.volumeLifecycleModes', mode, ['Persistent', 'Ephemeral']));
  return errors;
}

export function validateCsiDriverUpdate(next: KubeObject, old: KubeObject): readonly FieldError[] {
  const [spec, kept] = [specOf(next), specOf(old)];
  return [
    ...validateCsiDriver(next),
    ...immutableField('spec.attachedRequired', spec['attachRequired'], kept['attachRequired']),
    ...immutableField(
      'spec.volumeLifecycleModes',
      spec['volumeLifecycleModes'],
      kept['volumeLifecycleModes'],
    ),
  ];
}

export function validateCsiNode(node: KubeObject): readonly FieldError[] {
  const errors: Errors = [];
  const names = new Set<string>();
  for (const [index, driver] of listAt(specOf(node), 'drivers').entries()) {
    const at = `spec.drivers[${index}]`;
    const name = textAt(driver, 'name');
    if (name === '') errors.push(required(`${at}.name`));
    else
      pushInvalid(errors, { field: `${at}.name`, value: name }, dns1123SubdomainErrors(name.toLowerCase()));
    if (textAt(driver, 'nodeID') === '') errors.push(required(`${at}.nodeID`));
    checkNotNegative(errors, `${at}.allocatable.count`, fieldsAt(driver, 'allocatable')['count']);
    if (names.has(name)) errors.push(duplicate(`${at}.name`, name));
    names.add(name);
  }
  return errors;
}

export function validateVolumeAttachment(attachment: KubeObject): readonly FieldError[] {
  const errors: Errors = [];
  const spec = specOf(attachment);
  const attacher = textAt(spec, 'attacher');
  if (attacher === '') errors.push(required('spec.attacher'));
  else
    pushInvalid(
      errors,
      { field: 'spec.attacher', value: attacher },
      dns1123SubdomainErrors(attacher.toLowerCase()),
    );
  const source = fieldsAt(spec, 'source');
  const [inline, name] = [objectAt(source, 'inlineVolumeSpec'), source['persistentVolumeName']];
  if (inline === undefined && name === undefined)
    errors.push(
      required('spec.source', 'must specify exactly one of inlineVolumeSpec and persistentVolumeName'),
    );
  if (inline !== undefined && name !== undefined)
    errors.push(
      forbiddenField('spec.source', 'must specify exactly one of inlineVolumeSpec and persistentVolumeName'),
    );
  const node = textAt(spec, 'nodeName');
  pushInvalid(errors, { field: 'spec.nodeName', value: node }, dns1123SubdomainErrors(node));
  return errors;
}

export function validateCapacity(capacity: KubeObject): readonly FieldError[] {
  const errors: Errors = [];
  const fields = asJson(capacity);
  const storageClass = textAt(fields, 'storageClassName');
  pushInvalid(
    errors,
    { field: 'storageClassName', value: storageClass },
    dns1123SubdomainErrors(storageClass),
  );
  for (const name of ['capacity', 'maximumVolumeSize']) {
    const amount = textAt(fields, name);
    if (amount.startsWith('-')) errors.push(invalid(name, amount, notNegativeDetail));
  }
  checkLabelSelector(errors, 'nodeTopology', objectAt(fields, 'nodeTopology'));
  return errors;
}

export function validateAttributesClass(attributes: KubeObject): readonly FieldError[] {
  const errors: Errors = [];
  const fields = asJson(attributes);
  const driver = textAt(fields, 'driverName');
  if (driver === '') errors.push(required('driverName'));
  else
    pushInvalid(errors, { field: 'driverName', value: driver }, dns1123SubdomainErrors(driver.toLowerCase()));
  if (Object.keys(mapAt(fields, 'parameters')).length === 0)
    errors.push(required('parameters', 'must contain at least one key/value pair'));
  return errors;
}

/** Rules of creation, and fields that stay as they were made. */
export function staying(
  validate: (object: KubeObject) => readonly FieldError[],
  ...names: readonly string[]
): (next: KubeObject, old: KubeObject) => readonly FieldError[] {
  return (next, old) => [
    ...validate(next),
    ...names.flatMap((name) =>
      immutableField(name, next[name] as JsonValue | undefined, old[name] as JsonValue | undefined),
    ),
  ];
}
