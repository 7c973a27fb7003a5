import type { ApiResponse } from './api-request.ts';
import type { RequestContext } from './request-context.ts';
import type { PathRequestInfo } from './request-info.ts';

export type PathContext = RequestContext<PathRequestInfo>;

/** Answers paths that are no resources: health, version, discovery, metrics. `undefined`: not this handler's path. */
export type PathHandler = (context: PathContext) => Promise<ApiResponse> | ApiResponse | undefined;
