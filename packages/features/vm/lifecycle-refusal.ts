import { badRequest, StatusError } from '@sheaf/base';

/** What a request is about, as messages call it. */
export type Subject = 'virtualmachine' | 'virtualmachineinstance';

export interface Refused {
  readonly isAccepted: false;
  readonly error: StatusError;
}

const group = 'kubevirt.io';

/** 409: not in the state that it is in. KubeVirt's own words come first, for clients that look for them. */
export function conflict(subject: Subject, name: string, text: string): Refused {
  const message = `Operation cannot be fulfilled on ${subject}.${group} ${JSON.stringify(name)}: ${text}`;
  const details = { name, group, kind: subject };
  return { isAccepted: false, error: new StatusError({ reason: 'Conflict', message, details }) };
}

/** 403: never with this object. */
export function forbidden(subject: Subject, name: string, text: string): Refused {
  const message = `${subject}.${group} ${JSON.stringify(name)} is forbidden: ${text}`;
  const details = { name, group, kind: subject };
  return { isAccepted: false, error: new StatusError({ reason: 'Forbidden', message, details }) };
}

/** 400: the request itself makes no sense. */
export function malformed(text: string): Refused {
  return { isAccepted: false, error: badRequest(text) };
}
