import type { FieldError } from '@sheaf/api';
import { isJsonObject, type JsonObject, type JsonValue } from '@sheaf/base';
import { showValue } from './go-text.ts';
import {
  dns1123LabelFaults,
  labelValueFaults,
  pathSegmentFaults,
  qualifiedNameFaults,
} from './name-syntax.ts';

const maxAnnotationBytes = 256 * 1024;

/** Checks the metadata of an embedded resource, whose kind's own rules are unknown. */
export function validateEmbeddedMeta(metadata: JsonObject, path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  addTexts(errors, {
    field: `${path}.generateName`,
    value: metadata['generateName'],
    rule: pathSegmentFaults,
  });
  addTexts(errors, { field: `${path}.name`, value: metadata['name'], rule: pathSegmentFaults });
  addTexts(errors, { field: `${path}.namespace`, value: metadata['namespace'], rule: dns1123LabelFaults });
  if (typeof metadata['generation'] === 'number' && metadata['generation'] < 0) {
    errors.push({
      type: 'FieldValueInvalid',
      field: `${path}.generation`,
      message: `Invalid value: ${metadata['generation']}: must be greater than or equal to 0`,
    });
  }
  errors.push(...validateLabels(metadata['labels'], `${path}.labels`));
  errors.push(...validateAnnotations(metadata['annotations'], `${path}.annotations`));
  for (const owner of list(metadata['ownerReferences'])) addOwner(errors, owner, `${path}.ownerReferences`);
  for (const finalizer of list(metadata['finalizers'])) {
    addTexts(errors, { field: `${path}.finalizers`, value: finalizer, rule: qualifiedNameFaults });
  }
  return errors;
}

function list(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

interface TextField {
  readonly field: string;
  readonly value: JsonValue | undefined;
  readonly rule: (text: string) => readonly string[];
}

function addTexts(errors: FieldError[], { field, value, rule }: TextField): void {
  if (typeof value !== 'string') return;
  for (const detail of rule(value)) {
    errors.push({
      type: 'FieldValueInvalid',
      field,
      message: `Invalid value: ${showValue(value)}: ${detail}`,
    });
  }
}

/** Label keys and values; every error is booked on the map. */
export function validateLabels(labels: JsonValue | undefined, field: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (!isJsonObject(labels)) return errors;
  for (const key of Object.keys(labels)) {
    addTexts(errors, { field, value: key, rule: qualifiedNameFaults });
    addTexts(errors, { field, value: labels[key], rule: labelValueFaults });
  }
  return errors;
}

/** Annotation keys, whose case does not matter, and the total size. */
export function validateAnnotations(
  annotations: JsonValue | undefined,
  field: string,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (!isJsonObject(annotations)) return errors;
  let bytes = 0;
  for (const key of Object.keys(annotations)) {
    addTexts(errors, { field, value: key, rule: (text) => qualifiedNameFaults(text.toLowerCase()) });
    const value = annotations[key];
    bytes += Buffer.byteLength(key) + (typeof value === 'string' ? Buffer.byteLength(value) : 0);
  }
  if (bytes > maxAnnotationBytes) {
    const message = `Too long: may not be more than ${maxAnnotationBytes} bytes`;
    errors.push({ type: 'FieldValueTooLong', field, message });
  }
  return errors;
}

function addOwner(errors: FieldError[], owner: JsonValue, field: string): void {
  if (!isJsonObject(owner)) return;
  const apiVersion = typeof owner['apiVersion'] === 'string' ? owner['apiVersion'] : '';
  if (apiVersion.slice(apiVersion.indexOf('/') + 1) === '') {
    addEmpty(errors, `${field}.apiVersion`, 'version must not be empty');
  }
  for (const name of ['kind', 'name', 'uid']) {
    if ((owner[name] ?? '') === '') addEmpty(errors, `${field}.${name}`, 'must not be empty');
  }
}

function addEmpty(errors: FieldError[], field: string, detail: string): void {
  errors.push({ type: 'FieldValueInvalid', field, message: `Invalid value: "": ${detail}` });
}
