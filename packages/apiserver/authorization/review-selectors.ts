import { parseFieldSelector } from '@sheaf/api/meta/field-selectors';
import { type LabelRequirement, labelMatcherOf, parseLabelSelector } from '@sheaf/api/meta/selectors';
import type { JsonObject } from '@sheaf/base';
import type { SelectorRequirement } from './attributes.ts';
import { objectsAt, textAt } from './object-field.ts';
import { stringsOf } from './policy-rule.ts';

/**
 * A selector of an access review. What cannot be read is left out, which only makes the question broader; `isBroken`
 * says so in the answer.
 */
export interface ReviewSelector {
  readonly requirements: readonly SelectorRequirement[] | undefined;
  readonly isBroken: boolean;
}

const none: ReviewSelector = { requirements: undefined, isBroken: false };

/** `spec.resourceAttributes.fieldSelector`: `rawSelector` or `requirements`, with one value each. */
export function readFieldSelector(selector: JsonObject | undefined): ReviewSelector {
  if (!selector) return none;
  const raw = textAt(selector, 'rawSelector');
  if (raw !== '') {
    return attempt(() =>
      parseFieldSelector(raw).map(({ field, operator, value }) =>
        toRequirement(field, operator === '=' ? 'In' : 'NotIn', [value]),
      ),
    );
  }
  return collect(objectsAt(selector, 'requirements'), (item) => {
    const values = stringsOf(item['values']);
    const operator = item['operator'];
    const isReadable = values.length === 1 && (operator === 'In' || operator === 'NotIn');
    return isReadable ? toRequirement(textAt(item, 'key'), operator, values) : undefined;
  });
}

/** `spec.resourceAttributes.labelSelector`. */
export function readLabelSelector(selector: JsonObject | undefined): ReviewSelector {
  if (!selector) return none;
  const raw = textAt(selector, 'rawSelector');
  if (raw !== '') return attempt(() => parseLabelSelector(raw).flatMap(fromLabelRequirement));
  return collect(objectsAt(selector, 'requirements'), readLabelRequirement);
}

function readLabelRequirement(item: JsonObject): SelectorRequirement | undefined {
  const values = [...stringsOf(item['values'])];
  const requirement = { key: textAt(item, 'key'), operator: textAt(item, 'operator'), values };
  try {
    return labelMatcherOf({ matchExpressions: [requirement] })?.flatMap(fromLabelRequirement)[0];
  } catch {
    // Told in the answer, as a selector that was partly ignored.
    return undefined;
  }
}

function fromLabelRequirement({ key, operator, values }: LabelRequirement): SelectorRequirement[] {
  switch (operator) {
    case '=':
    case '==':
    case 'in':
      return [toRequirement(key, 'In', values)];
    case '!=':
    case 'notin':
      return [toRequirement(key, 'NotIn', values)];
    case 'exists':
      return [toRequirement(key, 'Exists', [])];
    case '!':
      return [toRequirement(key, 'DoesNotExist', [])];
    case 'gt':
    case 'lt':
      return [];
  }
}

function toRequirement(
  key: string,
  operator: SelectorRequirement['operator'],
  values: readonly string[],
): SelectorRequirement {
  return { key, operator, values };
}

function attempt(read: () => SelectorRequirement[]): ReviewSelector {
  try {
    return { requirements: read(), isBroken: false };
  } catch {
    // Told in the answer, as a selector that was ignored.
    return { requirements: undefined, isBroken: true };
  }
}

function collect(
  items: readonly JsonObject[],
  read: (item: JsonObject) => SelectorRequirement | undefined,
): ReviewSelector {
  const requirements = items.map(read).filter((item) => item !== undefined);
  return {
    requirements: requirements.length > 0 ? requirements : undefined,
    isBroken: requirements.length < items.length,
  };
}
