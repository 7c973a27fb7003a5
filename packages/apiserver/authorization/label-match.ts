import { isJsonObject } from '@sheaf/base';
import { stringsOf } from './policy-rule.ts';

/**
 * Whether labels match a `metav1.LabelSelector` as objects carry it. An empty selector matches everything, an absent or
 * malformed one nothing.
 */
export function matchesLabelSelector(selector: unknown, labels: Readonly<Record<string, string>>): boolean {
  if (!isJsonObject(selector)) return false;
  return (
    matchesLabels(selector['matchLabels'], labels) && matchesExpressions(selector['matchExpressions'], labels)
  );
}

function matchesLabels(wanted: unknown, labels: Readonly<Record<string, string>>): boolean {
  if (wanted === undefined || wanted === null) return true;
  if (!isJsonObject(wanted)) return false;
  return Object.entries(wanted).every(([key, value]) => labelOf(labels, key) === value);
}

function matchesExpressions(expressions: unknown, labels: Readonly<Record<string, string>>): boolean {
  if (expressions === undefined || expressions === null) return true;
  return (
    Array.isArray(expressions) && expressions.every((expression) => matchesExpression(expression, labels))
  );
}

function matchesExpression(expression: unknown, labels: Readonly<Record<string, string>>): boolean {
  if (!isJsonObject(expression) || typeof expression['key'] !== 'string') return false;
  const value = labelOf(labels, expression['key']);
  const values = stringsOf(expression['values']);
  switch (expression['operator']) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    default:
      return false;
  }
}

function labelOf(labels: Readonly<Record<string, string>>, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}
