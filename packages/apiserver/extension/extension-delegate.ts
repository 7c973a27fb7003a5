import type { ExtensionEndpoint } from '@sheaf/api';
import type { Authorizer } from '../authorization/attributes.ts';
import type { ApiResponse } from '../pipeline/api-request.ts';
import type { RequestContext, ResourceContext } from '../pipeline/request-context.ts';
import { upgradeRequired } from '../upgrade/protocols.ts';
import { methodNotAllowed, unknownResource } from '../verbs/errors.ts';
import { toResponse } from './answer-response.ts';
import { apiCall } from './api-call.ts';
import { admitConnection, type ConnectionParts } from './connection-admission.ts';

interface DelegateParts extends ConnectionParts {
  readonly authorizer: Authorizer;
}

/** Answers requests for extension groups, which are authorized already. What is registered beside them is left to others. */
export function extensionDelegate(
  parts: DelegateParts,
): (context: RequestContext) => Promise<ApiResponse> | undefined {
  const { registry } = parts;
  const { extensions } = registry;
  return (context) => {
    if (!isAboutResource(context)) return undefined;
    const { info } = context;
    const endpoint = extensions.find(info);
    if (endpoint) return answer(context, endpoint, parts);
    if (!extensions.hasVersion(info.group, info.version)) return undefined;
    if (registry.find(info.group, info.version, info.resource)) return undefined;
    throw unknownResource();
  };
}

function isAboutResource(context: RequestContext): context is ResourceContext {
  return context.info.isResource;
}

async function answer(
  context: ResourceContext,
  endpoint: ExtensionEndpoint,
  parts: DelegateParts,
): Promise<ApiResponse> {
  const { info, request } = context;
  const { authorizer } = parts;
  checkRequest(context, endpoint);
  await admitConnection(context, endpoint, parts);
  const call = apiCall(context, { authorizer, bodyLimitBytes: endpoint.bodyLimitBytes });
  const { verb, group, version, namespace, resource, name } = info;
  const isInner = endpoint.subresource?.includes('/') ?? false;
  if (isInner)
    await call.authorize({ verb, group, resource, subresource: endpoint.subresource ?? '', namespace, name });
  const rest = isInner ? [] : info.rest.split('/').slice(1);
  const answered = await endpoint.handle({ ...call, version, verb, namespace, name, rest });
  return toResponse(request, answered);
}

/** @throws StatusError 404, 405, 400 */
function checkRequest(context: ResourceContext, endpoint: ExtensionEndpoint): void {
  const { info, request } = context;
  checkTarget(context, endpoint);
  if (!endpoint.verbs.includes(info.verb) || request.method === 'HEAD') throw methodNotAllowed();
  if (endpoint.isStream && request.upgrade?.via !== 'websocket') throw upgradeRequired(undefined);
}

/** Objects of namespaces are only there, and a subresource is one of an object. */
function checkTarget({ info }: ResourceContext, endpoint: ExtensionEndpoint): void {
  const { isNamespaced = true } = endpoint;
  if (isNamespaced !== (info.namespace !== '')) throw unknownResource();
}
