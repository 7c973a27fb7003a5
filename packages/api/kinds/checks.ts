import { type JsonValue, jsonEqual } from '@sheaf/base';
import { type FieldError, invalid, notSupported, required } from '../meta/field-error.ts';

/** A check adds what it finds to the list of its caller: one list per object, no copies on the way. */
export type Errors = FieldError[];

export const immutableDetail = 'field is immutable';
export const notNegativeDetail = 'must be greater than or equal to 0';

/** A field that keeps the value it was created with. */
export function immutableField(
  field: string,
  next: JsonValue | undefined,
  old: JsonValue | undefined,
): FieldError[] {
  return jsonEqual(next, old) ? [] : [invalid(field, next ?? null, immutableDetail)];
}

export interface Value<T> {
  readonly field: string;
  readonly value: T;
}

/** Each message as an `Invalid value` of the field. */
export function pushInvalid(
  errors: Errors,
  { field, value }: Value<JsonValue>,
  messages: readonly string[],
): void {
  for (const message of messages) errors.push(invalid(field, value, message));
}

export function checkNotNegative(errors: Errors, field: string, value: JsonValue | undefined): void {
  if (typeof value === 'number' && value < 0) errors.push(invalid(field, value, notNegativeDetail));
}

/** One of a fixed set; `required` where it is empty. */
export function checkEnum(errors: Errors, { field, value }: Value<string>, allowed: readonly string[]): void {
  if (value === '') errors.push(required(field));
  else if (!allowed.includes(value)) errors.push(notSupported(field, value, allowed));
}

/** One of a fixed set, where anything is given. */
export function checkOptionalEnum(
  errors: Errors,
  { field, value }: Value<JsonValue | undefined>,
  allowed: readonly string[],
): void {
  if (value === undefined || (typeof value === 'string' && allowed.includes(value))) return;
  errors.push(notSupported(field, value, allowed));
}
