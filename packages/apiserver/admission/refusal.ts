import type { StatusError } from '@sheaf/base';
import { forbiddenObject } from '../authorization/forbidden.ts';
import type { AdmissionRequest } from './plugin.ts';

/** The 403 of a plugin, about the object of the request. */
export function refusal(request: AdmissionRequest, detail: string): StatusError {
  return forbiddenObject({ ...request.resource, name: subjectName(request) }, detail);
}

/** What an object is called in a refusal, also when it has no name yet. */
export function subjectName(request: AdmissionRequest): string {
  const { name, generateName } = request.object?.metadata ?? {};
  return request.namePrefix || request.name || name || generateName || 'Unknown';
}

/** What a plugin looks at: a resource in any version, or one of its subresources. */
export interface Target {
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
}

export function isFor({ resource, subresource }: AdmissionRequest, target: Target): boolean {
  return (
    resource.resource === target.resource &&
    resource.group === target.group &&
    subresource === (target.subresource ?? '')
  );
}
