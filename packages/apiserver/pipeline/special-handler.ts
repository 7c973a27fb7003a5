import type { Resource } from '../registry/resource.ts';
import type { ApiResponse } from './api-request.ts';
import type { ResourceContext } from './request-context.ts';

/**
 * What answers a resource or subresource that is more than a kept object: reviews, tokens, evictions, bindings, pod
 * streams. Registered under `group/plural` or `group/plural/subresource`.
 */
export type SpecialHandler = (context: ResourceContext, resource: Resource) => Promise<ApiResponse>;

export type SpecialHandlers = ReadonlyMap<string, SpecialHandler>;

export function specialKey(group: string, plural: string, subresource = ''): string {
  return subresource === '' ? `${group}/${plural}` : `${group}/${plural}/${subresource}`;
}
