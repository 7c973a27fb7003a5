import {
  type FieldRequirement,
  type FieldSelector,
  type KubeObject,
  matchesFields,
  matchesLabels,
  parseFieldSelector,
  parseLabelSelector,
  requiredField,
} from '@sheaf/api';
import { badRequest } from '@sheaf/base';
import type { Resource } from '../registry/resource.ts';

/** Which objects of a collection a request is about. */
export interface Selection {
  /** True if every object matches. */
  readonly isEverything: boolean;
  /** Set when only one name can match, so that nothing else need be looked at. */
  readonly name: string | undefined;
  matches(object: KubeObject): boolean;
}

export interface SelectionInput {
  readonly query: URLSearchParams;
  /** The name of the URL, for a watch on a single object. */
  readonly name: string;
}

/** @throws StatusError 400 for selectors that cannot be read or name fields that this kind does not offer */
export function readSelection(resource: Resource, { query, name }: SelectionInput): Selection {
  const labels = parseLabelSelector(query.get('labelSelector') ?? '');
  const asked = parseFieldSelector(query.get('fieldSelector') ?? '');
  const fields: FieldSelector =
    name === '' ? asked : [...asked, { field: 'metadata.name', operator: '=', value: name }];
  for (const requirement of fields) checkField(resource, requirement);
  return {
    isEverything: labels.length === 0 && fields.length === 0,
    name: requiredField(fields, 'metadata.name'),
    matches(object) {
      return matchesLabels(labels, object.metadata.labels) && matchesFields(fields, reader(resource, object));
    },
  };
}

function checkField(resource: Resource, { field }: FieldRequirement): void {
  if (field === 'metadata.name' || field === 'metadata.namespace') return;
  if (resource.strategy.selectableFieldNames.has(field)) return;
  const isPlain = resource.isBuiltin && resource.strategy.selectableFieldNames.size === 0;
  throw badRequest(
    isPlain
      ? `${JSON.stringify(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`
      : `field label not supported: ${field}`,
  );
}

function reader(resource: Resource, object: KubeObject): (field: string) => string {
  let own: Record<string, string> | undefined;
  return (field) => {
    if (field === 'metadata.name') return object.metadata.name ?? '';
    if (field === 'metadata.namespace') return object.metadata.namespace ?? '';
    own ??= resource.strategy.selectableFields(object);
    return own[field] ?? '';
  };
}
