import type { Route } from '@sheaf/api';
import { internalError, StatusError } from '@sheaf/base';
import type { Authorizer } from '../authorization/attributes.ts';
import type { ApiResponse } from '../pipeline/api-request.ts';
import type { ApiServerParts } from '../pipeline/api-server.ts';
import { asStatusError } from '../pipeline/failure.ts';
import type { RequestContext } from '../pipeline/request-context.ts';
import { toResponse } from './answer-response.ts';
import { apiCall } from './api-call.ts';
import { type RouteMatch, RouteTable } from './route-table.ts';

/** What answers a request that is for a route; the server does not authorize it by its path then. */
type RouteFinder = NonNullable<ApiServerParts['findRoute']>;

export function routeFinder(routes: readonly Route[], authorizer: Authorizer): RouteFinder {
  const table = new RouteTable(routes);
  return (context) => {
    const { info, request, query } = context;
    if (info.isResource) return undefined;
    const match = table.find(request.method, request.path, query.get('action'));
    if (!match) return undefined;
    return {
      isLongRunning: match.route.isLongRunning ?? false,
      hasOwnTokens: match.route.access === 'own-token',
      answer: () => answered(context, match, authorizer),
    };
  };
}

async function answered(
  context: RequestContext,
  match: RouteMatch,
  authorizer: Authorizer,
): Promise<ApiResponse> {
  const { route } = match;
  try {
    return await handled(context, match, authorizer);
  } catch (thrown) {
    const error = asStatusError(thrown);
    // What is the server's own fault is told to its log.
    if (!route.failure || error.code >= 500) throw error;
    return toResponse(context.request, route.failure(error));
  }
}

async function handled(
  context: RequestContext,
  { route, parameters }: RouteMatch,
  authorizer: Authorizer,
): Promise<ApiResponse> {
  const { request, user } = context;
  if (needsUser(route) && !user.groups.includes('system:authenticated')) throw unauthorized();
  if (route.isLongRunning) request.liftDeadline?.();
  let hasAsked = false;
  const call = apiCall(context, {
    authorizer,
    bodyLimitBytes: route.bodyLimitBytes,
    onQuestion: () => {
      hasAsked = true;
    },
  });
  const answer = await route.handle({ ...call, parameters });
  if (route.access !== 'authorized' || hasAsked) return toResponse(request, answer);
  if ('stream' in answer) answer.stream.dispose();
  throw internalError(
    `${route.method} ${route.path} has answered without asking what the user may do; it must call authorize, or say that every user may have it`,
  );
}

function needsUser({ access }: Route): boolean {
  return access === 'authorized' || access === 'authenticated';
}

function unauthorized(): StatusError {
  return new StatusError({ reason: 'Unauthorized', message: 'Unauthorized' });
}
