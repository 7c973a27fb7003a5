import { type JsonObject, jsonEqual, parseQuantity, quantitySign } from '@sheaf/base';
import { forbiddenField, invalid, notSupported, required } from '../../meta/field-error.ts';
import { dns1123SubdomainErrors } from '../../meta/names.ts';
import { checkOptionalEnum, type Errors, pushInvalid } from '../checks.ts';
import { fieldsAt, mapAt, objectAt, textAt, textsAt } from '../fields.ts';
import { checkLabelSelector } from '../label-selector-checks.ts';

const modes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];
export const volumeModes = ['Block', 'Filesystem'];

/** Each mode is known; the strictest stands alone. */
export function checkAccessModes(errors: Errors, field: string, given: readonly string[]): void {
  for (const mode of given) if (!modes.includes(mode)) errors.push(notSupported(field, mode, modes));
  if (given.includes('ReadWriteOncePod') && given.length > 1)
    errors.push(forbiddenField(field, 'may not use ReadWriteOncePod with other access modes'));
}

/** The spec of a claim, or of a template of one. */
export function checkClaimSpec(errors: Errors, field: string, spec: JsonObject): void {
  const given = textsAt(spec, 'accessModes');
  if (given.length === 0) errors.push(required(`${field}.accessModes`, 'at least 1 access mode is required'));
  checkLabelSelector(errors, `${field}.selector`, objectAt(spec, 'selector'));
  checkAccessModes(errors, `${field}.accessModes`, given);
  checkStorage(
    errors,
    `${field}.resources[storage]`,
    mapAt(fieldsAt(spec, 'resources'), 'requests')['storage'],
  );
  const storageClass = textAt(spec, 'storageClassName');
  if (storageClass !== '')
    pushInvalid(
      errors,
      { field: `${field}.storageClassName`, value: storageClass },
      dns1123SubdomainErrors(storageClass),
    );
  checkOptionalEnum(errors, { field: `${field}.volumeMode`, value: spec['volumeMode'] }, volumeModes);
  checkDataSources(errors, field, spec);
}

export function checkStorage(errors: Errors, field: string, amount: string | undefined): void {
  if (amount === undefined) errors.push(required(field));
  else if (quantitySign(parseQuantity(amount)) <= 0)
    errors.push(invalid(field, amount, 'must be greater than zero'));
}

function checkDataSources(errors: Errors, field: string, spec: JsonObject): void {
  const [source, reference] = [objectAt(spec, 'dataSource'), objectAt(spec, 'dataSourceRef')];
  if (source !== undefined) checkDataSource(errors, `${field}.dataSource`, source);
  if (reference === undefined) return;
  checkDataSource(errors, `${field}.dataSourceRef`, reference);
  if (textAt(reference, 'namespace') !== '') {
    if (source !== undefined)
      errors.push(
        invalid(field, 'dataSource', 'may not be specified when dataSourceRef.namespace is specified'),
      );
  } else if (source !== undefined && !jsonEqual(source, reference)) {
    errors.push(invalid(field, {}, 'must match dataSourceRef'));
  }
}

function checkDataSource(errors: Errors, field: string, source: JsonObject): void {
  const kind = textAt(source, 'kind');
  if (textAt(source, 'name') === '') errors.push(required(`${field}.name`));
  if (kind === '') errors.push(required(`${field}.kind`));
  const group = textAt(source, 'apiGroup');
  if (group === '') {
    if (kind !== 'PersistentVolumeClaim')
      errors.push(
        invalid(field, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup"),
      );
  } else {
    pushInvalid(errors, { field: `${field}.apiGroup`, value: group }, dns1123SubdomainErrors(group));
  }
}
