import { type LabelOperator, parseFieldSelector, parseLabelSelector } from '@sheaf/api';
import type { AuthorizationAttributes, SelectorRequirement } from '../authorization/attributes.ts';
import type { RequestContext } from './request-context.ts';

const selectingVerbs = new Set(['list', 'watch', 'deletecollection']);

/** What the authorizers are asked about a request. */
export function attributesOf(context: RequestContext): AuthorizationAttributes {
  const { info, user } = context;
  if (!info.isResource) return { isResource: false, user, verb: info.verb, path: info.path };
  const { verb, group, version, resource, subresource, namespace, name } = info;
  const base = {
    isResource: true as const,
    user,
    verb,
    group,
    version,
    resource,
    subresource,
    namespace,
    name,
  };
  if (!selectingVerbs.has(verb)) return base;
  const fieldSelector = fieldRequirements(context.query.get('fieldSelector'));
  const labelSelector = labelRequirements(context.query.get('labelSelector'));
  return {
    ...base,
    name: name || nameSelectedBy(fieldSelector),
    ...(fieldSelector ? { fieldSelector } : {}),
    ...(labelSelector ? { labelSelector } : {}),
  };
}

/** A collection of one name is authorized with that name. */
function nameSelectedBy(requirements: readonly SelectorRequirement[] | undefined): string {
  const selected = requirements?.find((item) => item.key === 'metadata.name' && item.operator === 'In');
  return selected?.values[0] ?? '';
}

/** A selector that cannot be read selects nothing here; the handler refuses it later with its fault. */
function fieldRequirements(text: string | null): SelectorRequirement[] | undefined {
  if (!text) return undefined;
  const parsed = attempt(() => parseFieldSelector(text));
  return parsed?.map(({ field, operator, value }) => ({
    key: field,
    operator: operator === '!=' ? 'NotIn' : 'In',
    values: [value],
  }));
}

function labelRequirements(text: string | null): SelectorRequirement[] | undefined {
  if (!text) return undefined;
  const parsed = attempt(() => parseLabelSelector(text));
  return parsed?.flatMap(({ key, operator, values }) => {
    const known = labelOperators[operator];
    return known ? [{ key, operator: known, values }] : [];
  });
}

/** Comparisons of numbers have no word here: left out, the request counts as wider than it is. */
const labelOperators: Readonly<Partial<Record<LabelOperator, SelectorRequirement['operator']>>> = {
  '=': 'In',
  '==': 'In',
  in: 'In',
  '!=': 'NotIn',
  notin: 'NotIn',
  exists: 'Exists',
  '!': 'DoesNotExist',
};

function attempt<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch {
    return undefined;
  }
}
