import type { JsonObject } from '@sheaf/base';
import { forbiddenField, invalid, required } from '../meta/field-error.ts';
import { labelValueErrors, qualifiedNameErrors } from '../meta/names.ts';
import type { Errors } from './checks.ts';
import { fieldsAt, listAt, mapAt, textAt, textsAt } from './fields.ts';

/** Labels that are data: node selectors, selectors, templates. */
export function checkLabels(errors: Errors, field: string, labels: Readonly<Record<string, string>>): void {
  for (const key of Object.keys(labels)) {
    const value = labels[key] ?? '';
    for (const detail of qualifiedNameErrors(key)) errors.push(invalid(field, key, detail));
    for (const detail of labelValueErrors(value)) errors.push(invalid(field, value, detail));
  }
}

/** A `metav1.LabelSelector`; its absence is the caller's matter. */
export function checkLabelSelector(errors: Errors, field: string, selector: JsonObject | undefined): void {
  if (selector === undefined) return;
  checkLabels(errors, `${field}.matchLabels`, mapAt(selector, 'matchLabels'));
  for (const [index, expression] of listAt(selector, 'matchExpressions').entries())
    checkExpression(errors, `${field}.matchExpressions[${index}]`, expression);
}

export const valuesNeeded = "must be specified when `operator` is 'In' or 'NotIn'";
export const valuesForbidden = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";

function checkExpression(errors: Errors, field: string, expression: JsonObject): void {
  const values = textsAt(expression, 'values');
  const operator = textAt(expression, 'operator');
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length === 0) errors.push(required(`${field}.values`, valuesNeeded));
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (values.length > 0) errors.push(forbiddenField(`${field}.values`, valuesForbidden));
  } else {
    errors.push(invalid(`${field}.operator`, operator, 'not a valid selector operator'));
  }
  const key = textAt(expression, 'key');
  for (const detail of qualifiedNameErrors(key)) errors.push(invalid(`${field}.key`, key, detail));
  for (const [index, value] of values.entries())
    for (const detail of labelValueErrors(value))
      errors.push(invalid(`${field}.values[${index}]`, value, detail));
}

export function isEmptySelector(selector: JsonObject): boolean {
  return (
    Object.keys(fieldsAt(selector, 'matchLabels')).length === 0 &&
    listAt(selector, 'matchExpressions').length === 0
  );
}
