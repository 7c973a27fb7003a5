import { type JsonValue, jsonEqual } from '@sheaf/base';
import { type FieldError, forbiddenField, invalid, tooLong } from '../../meta/field-error.ts';
import { configKeyErrors } from '../../meta/names.ts';
import { asJson, type KubeObject } from '../../meta/object.ts';
import { pushInvalid } from '../checks.ts';
import { isTrueAt, mapAt } from '../fields.ts';
import type { KindRules } from '../kind-rules.ts';
import { base64Size, bytesAt } from './data-size.ts';

const maxBytes = 1024 * 1024;

export const configMapRules: KindRules = {
  validateCreate,
  validateUpdate: (next, old) => [
    ...validateCreate(next),
    ...immutableErrors(next, old, ['data', 'binaryData']),
  ],
};

function validateCreate(configMap: KubeObject): FieldError[] {
  const fields = asJson(configMap);
  const [data, binary] = [mapAt(fields, 'data'), bytesAt(fields, 'binaryData')];
  const errors: FieldError[] = [];
  let total = 0;
  for (const [key, value] of Object.entries(data)) {
    pushInvalid(errors, { field: `data[${key}]`, value: key }, configKeyErrors(key));
    if (Object.hasOwn(binary, key)) {
      errors.push(invalid(`data[${key}]`, key, `duplicate of key present in binaryData`));
    }
    total += Buffer.byteLength(value);
  }
  for (const [key, value] of Object.entries(binary)) {
    pushInvalid(errors, { field: `binaryData[${key}]`, value: key }, configKeyErrors(key));
    total += base64Size(value);
  }
  // The whole object is at fault; it is told under the name that clients know for it.
  if (total > maxBytes) errors.push(tooLong('[]', maxBytes));
  return errors;
}

/** Once `immutable` is true, neither it nor the data change. */
export function immutableErrors(next: KubeObject, old: KubeObject, fields: readonly string[]): FieldError[] {
  if (!isTrueAt(asJson(old), 'immutable')) return [];
  const detail = 'field is immutable when `immutable` is set';
  const errors: FieldError[] = [];
  if (!isTrueAt(asJson(next), 'immutable')) errors.push(forbiddenField('immutable', detail));
  for (const field of fields) {
    const [a, b] = [next[field] as JsonValue | undefined, old[field] as JsonValue | undefined];
    if (!jsonEqual(a ?? {}, b ?? {})) errors.push(forbiddenField(field, detail));
  }
  return errors;
}
