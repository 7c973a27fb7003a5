import { badRequest } from '@sheaf/base';
import { parseRequirements, requirementFault } from './label-selector-parser.ts';

export type LabelOperator = '=' | '==' | '!=' | 'in' | 'notin' | 'exists' | '!' | 'gt' | 'lt';

export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  /** Sorted, without repetitions when parsed from text. */
  readonly values: readonly string[];
}

/** All requirements must hold; null is the selector that matches nothing. */
export type LabelMatcher = readonly LabelRequirement[] | null;

/** `metav1.LabelSelector` */
export interface LabelSelector {
  matchLabels?: Record<string, string>;
  matchExpressions?: LabelSelectorRequirement[];
}

export interface LabelSelectorRequirement {
  key: string;
  operator: string;
  values?: string[];
}

type Labels = Readonly<Record<string, string>> | undefined;

/** Reads the query form, e.g. `app=web,tier in (a,b),!old`. Throws 400 BadRequest, worded as upstream. */
export function parseLabelSelector(text: string): readonly LabelRequirement[] {
  return parseRequirements(text);
}

const expressionOperators: Readonly<Record<string, LabelOperator>> = {
  In: 'in',
  NotIn: 'notin',
  Exists: 'exists',
  DoesNotExist: '!',
};

/**
 * The object form. No selector matches nothing, an empty one everything. Throws 400 BadRequest with upstream's text for
 * a selector that breaks the rules.
 */
export function labelMatcherOf(selector: LabelSelector | null | undefined): LabelMatcher {
  if (selector === null || selector === undefined) return null;
  const labels = Object.entries(selector.matchLabels ?? {});
  const requirements = [
    ...labels.map(([key, value]) => valid({ key, operator: '=', values: [value] })),
    ...(selector.matchExpressions ?? []).map(fromExpression),
  ];
  return requirements.sort((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key)));
}

function fromExpression({ key, operator, values }: LabelSelectorRequirement): LabelRequirement {
  const known = Object.hasOwn(expressionOperators, operator) ? expressionOperators[operator] : undefined;
  if (known === undefined)
    throw badRequest(`${JSON.stringify(operator)} is not a valid label selector operator`);
  return valid({ key, operator: known, values: values ?? [] });
}

function valid(requirement: LabelRequirement): LabelRequirement {
  const fault = requirementFault(requirement);
  if (fault !== '') throw badRequest(fault);
  return requirement;
}

export function matchesLabels(matcher: LabelMatcher, labels: Labels): boolean {
  if (matcher === null) return false;
  for (const requirement of matcher) if (!holds(requirement, labels)) return false;
  return true;
}

function holds(requirement: LabelRequirement, labels: Labels): boolean {
  const { key, operator, values } = requirement;
  // Own fields alone: `constructor` is a valid label.
  const value = labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined;
  if (value === undefined) return operator === '!=' || operator === 'notin' || operator === '!';
  return holdsFor(operator, values, value);
}

function holdsFor(operator: LabelOperator, values: readonly string[], value: string): boolean {
  switch (operator) {
    case '=':
    case '==':
    case 'in':
      return values.includes(value);
    case '!=':
    case 'notin':
      return !values.includes(value);
    case 'gt':
    case 'lt':
      return compares(operator, value, values[0]);
    default:
      return operator === 'exists';
  }
}

function compares(operator: 'gt' | 'lt', value: string, limit: string | undefined): boolean {
  const integer = /^[+-]?\d{1,18}$/;
  if (limit === undefined || !integer.test(value)) return false;
  const [a, b] = [BigInt(value.replace('+', '')), BigInt(limit.replace('+', ''))];
  return operator === 'gt' ? a > b : a < b;
}

/** The query form; empty for a selector of everything. */
export function formatLabelSelector(matcher: LabelMatcher): string {
  return (matcher ?? []).map(formatRequirement).join(',');
}

const symbols: Readonly<Partial<Record<LabelOperator, string>>> = {
  '=': '=',
  '==': '==',
  '!=': '!=',
  gt: '>',
  lt: '<',
};

function formatRequirement({ key, operator, values }: LabelRequirement): string {
  if (operator === 'exists') return key;
  if (operator === '!') return `!${key}`;
  const list = values.length > 1 ? [...values].sort().join(',') : (values[0] ?? '');
  const symbol = symbols[operator];
  return symbol === undefined ? `${key} ${operator} (${list})` : `${key}${symbol}${list}`;
}

/** The one value a label must have by this selector; undefined where it is free or may have several. */
export function requiredLabel(matcher: LabelMatcher, key: string): string | undefined {
  const requirement = matcher?.find((candidate) => candidate.key === key);
  if (requirement === undefined || !['=', '==', 'in'].includes(requirement.operator)) return undefined;
  return requirement.values.length === 1 ? requirement.values[0] : undefined;
}
