import type { User } from '../authentication/user.ts';
import type { ApiRequest } from './api-request.ts';
import type { RequestInfo, ResourceRequestInfo } from './request-info.ts';
import type { Warnings } from './warnings.ts';

/** One request after authentication, as handlers see it. */
export interface RequestContext<Info extends RequestInfo = RequestInfo> {
  readonly request: ApiRequest;
  readonly info: Info;
  readonly query: URLSearchParams;
  readonly user: User;
  readonly warnings: Warnings;
  /** Adds `key: value` to the audit event of this request. */
  annotate(key: string, value: string): void;
}

export type ResourceContext = RequestContext<ResourceRequestInfo>;

/** One value of a header that may come several times. */
export function headerOf(request: ApiRequest, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value.join(',') : value;
}
