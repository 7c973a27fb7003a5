import { toGroupResource } from '@sheaf/api';
import { StatusError } from '@sheaf/base';
import type { AuthorizationAttributes } from './attributes.ts';

/** What a user without rights reads. Resources name the verb, the group and where; paths name the path. */
export function forbiddenText(attributes: AuthorizationAttributes): string {
  const user = JSON.stringify(attributes.user.name);
  if (!attributes.isResource)
    return `User ${user} cannot ${attributes.verb} path ${JSON.stringify(attributes.path)}`;
  const { verb, group, namespace, subresource } = attributes;
  const resource = subresource === '' ? attributes.resource : `${attributes.resource}/${subresource}`;
  const scope = namespace === '' ? 'at the cluster scope' : `in the namespace ${JSON.stringify(namespace)}`;
  return `User ${user} cannot ${verb} resource ${JSON.stringify(resource)} in API group ${JSON.stringify(group)} ${scope}`;
}

/** The 403 of a refused request. `reason` is the authorizers'; it may be empty. */
export function forbidden(attributes: AuthorizationAttributes, reason: string): StatusError {
  const text = escapeMarkup(forbiddenText(attributes));
  const detail = reason === '' ? text : `${text}: ${reason}`;
  if (!attributes.isResource) return forbiddenObject({ group: '', resource: '', name: '' }, detail);
  return forbiddenObject(attributes, detail);
}

/** A 403 about an object (or a collection, with an empty name), worded as the API server words it. */
export function forbiddenObject(
  subject: { readonly group: string; readonly resource: string; readonly name: string },
  detail: string,
): StatusError {
  return new StatusError({
    reason: 'Forbidden',
    message: forbiddenMessage(subject, detail),
    details: {
      ...(subject.name && { name: subject.name }),
      ...(subject.group && { group: subject.group }),
      ...(subject.resource && { kind: subject.resource }),
    },
  });
}

function forbiddenMessage(
  subject: { readonly group: string; readonly resource: string; readonly name: string },
  detail: string,
): string {
  if (subject.resource === '') return `forbidden: ${detail}`;
  const resource = toGroupResource(subject.group, subject.resource);
  const name = subject.name === '' ? '' : ` ${JSON.stringify(subject.name)}`;
  return `${resource}${name} is forbidden: ${detail}`;
}

/** Browsers may show the text as a page: nothing in it may look like markup. */
function escapeMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
