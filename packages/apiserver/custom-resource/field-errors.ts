import type { FieldError } from '@sheaf/api';
import type { JsonValue } from '@sheaf/base';
import { goQuote, showValue } from './go-text.ts';

/** `Invalid value: VALUE: detail`. */
export function invalidValue(field: string, value: JsonValue | undefined, detail: string): FieldError {
  return { type: 'FieldValueInvalid', field, message: `Invalid value: ${showValue(value)}: ${detail}` };
}

/** `Unsupported value: VALUE: supported values: …`. */
export function unsupportedValue(
  field: string,
  value: JsonValue | undefined,
  supported: readonly string[],
): FieldError {
  const list = supported.map(goQuote).join(', ');
  return {
    type: 'FieldValueNotSupported',
    field,
    message: `Unsupported value: ${showValue(value)}: supported values: ${list}`,
  };
}

/** `Duplicate value: VALUE`. */
export function duplicateValue(field: string, value: JsonValue | undefined): FieldError {
  return { type: 'FieldValueDuplicate', field, message: `Duplicate value: ${showValue(value)}` };
}
