import { formatLabelSelector, type LabelSelector, labelMatcherOf } from '@sheaf/api';
import { StatusError } from '@sheaf/base';

type Labels = Readonly<Record<string, string>> | null | undefined;

/** `a=1,b=2`, or `<none>`. */
export function labelsCell(labels: Labels): string {
  const pairs = Object.entries(labels ?? {}).map(([key, value]) => `${key}=${value}`);
  return pairs.length === 0 ? '<none>' : pairs.sort().join(',');
}

/** A selector in its query form, `<none>` if it is empty, `invalid` if it breaks the rules. */
export function selectorCell(selector: LabelSelector | null | undefined, invalid = '<error>'): string {
  return selectorText(selector, invalid) || '<none>';
}

/** The same, with nothing for an empty selector. */
export function selectorText(selector: LabelSelector | null | undefined, invalid: string): string {
  try {
    return formatLabelSelector(labelMatcherOf(selector));
  } catch (error) {
    if (error instanceof StatusError) return invalid;
    throw error;
  }
}

/** A selector as the admission policies' tables show it. */
export function selectorDump(selector: LabelSelector): string {
  const labels = Object.entries(selector.matchLabels ?? {})
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}: ${value},`)
    .join('');
  const expressions = (selector.matchExpressions ?? [])
    .map(
      ({ key, operator, values }) =>
        `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${(values ?? []).join(' ')}],},`,
    )
    .join('');
  return `&LabelSelector{MatchLabels:map[string]string{${labels}},MatchExpressions:[]LabelSelectorRequirement{${expressions}},}`;
}
