import { toGroupResource } from '@sheaf/api';
import { StatusError } from '@sheaf/base';
import type { Resource } from '../registry/resource.ts';

/** The errors of § Status conventions that name a resource: `widgets.example.com "x" …`. */
function subject(resource: Pick<Resource, 'group' | 'plural'>, name: string): string {
  return `${toGroupResource(resource.group, resource.plural)} ${JSON.stringify(name)}`;
}

function details(
  resource: Pick<Resource, 'group' | 'plural'>,
  name: string,
): { name: string; group?: string; kind: string } {
  return { name, ...(resource.group ? { group: resource.group } : {}), kind: resource.plural };
}

export function notFound(resource: Pick<Resource, 'group' | 'plural'>, name: string): StatusError {
  return new StatusError({
    reason: 'NotFound',
    message: `${subject(resource, name)} not found`,
    details: details(resource, name),
  });
}

export function alreadyExists(resource: Resource, name: string, isBeingDeleted: boolean): StatusError {
  const prefix = isBeingDeleted ? 'object is being deleted: ' : '';
  return new StatusError({
    reason: 'AlreadyExists',
    message: `${prefix}${subject(resource, name)} already exists`,
    details: details(resource, name),
  });
}

export function conflict(
  resource: Pick<Resource, 'group' | 'plural'>,
  name: string,
  detail: string,
): StatusError {
  return new StatusError({
    reason: 'Conflict',
    message: `Operation cannot be fulfilled on ${subject(resource, name)}: ${detail}`,
    details: details(resource, name),
  });
}

/** A deletion was meant for another object: upstream names the kind here, not the resource. */
export function preconditionFailed(resource: Resource, name: string, detail: string): StatusError {
  return conflict({ group: resource.group, plural: resource.kind }, name, detail);
}

export const modifiedDetail =
  'the object has been modified; please apply your changes to the latest version and try again';

export function methodNotAllowed(): StatusError {
  return new StatusError({
    reason: 'MethodNotAllowed',
    message: 'the server does not allow this method on the requested resource',
    details: {},
  });
}

export function cannotBeWatched({ group, plural }: Pick<Resource, 'group' | 'plural'>): StatusError {
  return new StatusError({
    reason: 'MethodNotAllowed',
    message: `watch is not supported on resources of kind ${JSON.stringify(toGroupResource(group, plural))}`,
    details: { ...(group ? { group } : {}), kind: plural },
  });
}

export function unknownResource(): StatusError {
  return new StatusError({
    reason: 'NotFound',
    message: 'the server could not find the requested resource',
    details: {},
  });
}

/** The revision asked for has not happened, also after waiting. */
export function resourceVersionTooLarge(wanted: number, current: number): StatusError {
  return new StatusError({
    reason: 'Timeout',
    message: `Timeout: Too large resource version: ${wanted}, current: ${current}`,
    details: {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    },
  });
}

export function expired(message: string): StatusError {
  return new StatusError({ reason: 'Expired', message });
}
