import type { ValidationRule } from '@sheaf/api';
import { required } from '@sheaf/api';
import { invalidValue, unsupportedValue } from './field-errors.ts';
import { readText } from './json-reader.ts';
import type { KeywordState } from './schema-keywords.ts';
import type { SchemaNode } from './schema-node.ts';
import { findSchemaAt } from './schema-path.ts';

const reasons = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];
const lineBreak = /[\n\r]/;

/** What can be said of `x-kubernetes-validations` without compiling the rules. */
export function validateRuleTexts(node: SchemaNode, state: KeywordState): void {
  node.rules.forEach((rule, index) => {
    const field = `${state.path}.x-kubernetes-validations[${index}]`;
    validateMessage(rule, field, state);
    validateReason(rule, field, state);
    validateFieldPath(node, rule, { ...state, path: field });
  });
}

function validateMessage(rule: ValidationRule, field: string, { errors }: KeywordState): void {
  const text = rule.rule.trim();
  const given = readText(rule.message);
  const message = given.trim();
  if (text === '') {
    errors.push(required(`${field}.rule`, 'rule is not specified'));
  } else if (given !== '' && message === '') {
    errors.push(invalidValue(`${field}.message`, given, 'must be non-empty if specified'));
  } else if (lineBreak.test(message)) {
    errors.push(invalidValue(`${field}.message`, given, 'must not contain line breaks'));
  } else if (lineBreak.test(text) && message === '') {
    const detail = 'message must be specified if rule contains line breaks';
    errors.push(required(`${field}.message`, detail));
  }
}

function validateReason(rule: ValidationRule, field: string, { errors }: KeywordState): void {
  const expression = readText(rule.messageExpression);
  if (expression !== '' && expression.trim() === '') {
    const detail = 'messageExpression must be non-empty if specified';
    errors.push(required(`${field}.messageExpression`, detail));
  }
  if (rule.reason !== undefined && !reasons.includes(rule.reason)) {
    errors.push(unsupportedValue(`${field}.reason`, rule.reason, reasons));
  }
}

function validateFieldPath(node: SchemaNode, rule: ValidationRule, { path, errors }: KeywordState): void {
  const given = readText(rule.fieldPath);
  const field = `${path}.fieldPath`;
  if (given === '') return;
  if (given.trim() === '') errors.push(invalidValue(field, given, 'must be non-empty if specified'));
  if (lineBreak.test(given)) errors.push(invalidValue(field, given, 'must not contain line breaks'));
  const found = findSchemaAt(node, given, { allowsBrackets: true });
  if ('fault' in found) errors.push(invalidValue(field, given, 'must be a valid path'));
}
