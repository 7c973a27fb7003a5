import {
  type FieldError,
  invalid,
  type JsonSchema,
  notSupported,
  required,
  type ValidationRule,
} from '@sheaf/api';
import { normalizeFieldPath } from './field-path.ts';

const reasons = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];
const lineBreak = /[\r\n]/;

/** What is wrong with the parts of a rule, before it is compiled. */
export function checkRuleFields(rule: ValidationRule, schema: JsonSchema, path: string): FieldError[] {
  return [
    ...checkRuleAndMessage(rule, path),
    ...checkReason(rule, path),
    ...checkFieldPath(rule, schema, path),
  ];
}

function checkRuleAndMessage(rule: ValidationRule, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const source = rule.rule.trim();
  const given = rule.message ?? '';
  const message = given.trim();
  if (source === '') errors.push(required(`${path}.rule`, 'rule is not specified'));
  else if (given !== '' && message === '')
    errors.push(invalid(`${path}.message`, given, 'must be non-empty if specified'));
  else if (lineBreak.test(message))
    errors.push(invalid(`${path}.message`, given, 'must not contain line breaks'));
  else if (lineBreak.test(source) && message === '')
    errors.push(required(`${path}.message`, 'message must be specified if rule contains line breaks'));
  if (rule.messageExpression && rule.messageExpression.trim() === '')
    errors.push(required(`${path}.messageExpression`, 'messageExpression must be non-empty if specified'));
  return errors;
}

function checkReason({ reason }: ValidationRule, path: string): FieldError[] {
  return reason === undefined || reasons.includes(reason)
    ? []
    : [notSupported(`${path}.reason`, reason, reasons)];
}

function checkFieldPath({ fieldPath }: ValidationRule, schema: JsonSchema, path: string): FieldError[] {
  if (!fieldPath) return [];
  const errors: FieldError[] = [];
  if (fieldPath.trim() === '')
    errors.push(invalid(`${path}.fieldPath`, fieldPath, 'must be non-empty if specified'));
  if (lineBreak.test(fieldPath))
    errors.push(invalid(`${path}.fieldPath`, fieldPath, 'must not contain line breaks'));
  if (normalizeFieldPath(fieldPath, schema) === undefined)
    errors.push(invalid(`${path}.fieldPath`, fieldPath, 'must be a valid path'));
  return errors;
}
