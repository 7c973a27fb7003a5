import type { JsonValue } from '@sheaf/base';
import { invalid } from '../../meta/field-error.ts';
import { type Errors, notNegativeDetail } from '../checks.ts';

const percentDetail =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";

/** A count, or a share such as `25%`. */
export function checkCountOrPercent(errors: Errors, field: string, value: JsonValue | undefined): void {
  if (typeof value === 'string') {
    if (!/^[0-9]+%$/.test(value)) errors.push(invalid(field, value, percentDetail));
  } else if (typeof value === 'number' && value < 0) {
    errors.push(invalid(field, value, notNegativeDetail));
  }
}

export function checkAtMostAll(errors: Errors, field: string, value: JsonValue | undefined): void {
  if (typeof value === 'string' && /^[0-9]+%$/.test(value) && Number(value.slice(0, -1)) > 100)
    errors.push(invalid(field, value, 'must not be greater than 100%'));
}

/** The number itself or that of the percent; 0 for other texts. */
export function amountOf(value: JsonValue | undefined): number {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && /^[0-9]+%$/.test(value) ? Number(value.slice(0, -1)) : 0;
}
