import type { ExtensionAnswer, ExtensionEndpoint, ExtensionGroup, ExtensionRequest } from '@sheaf/api';
import { badRequest, isJsonObject, type JsonObject, StatusError, toError } from '@sheaf/base';
import type { ClientRequest, ClientResponse, InProcessUser } from '@sheaf/client';
import type { LeanTarget } from './lean-target.ts';

const verbs: Readonly<Record<string, string>> = {
  GET: 'get',
  PUT: 'update',
  POST: 'create',
  PATCH: 'patch',
  DELETE: 'delete',
};
const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** The endpoints that features add, by what requests ask for. */
export class LeanEndpoints {
  readonly #groups: readonly ExtensionGroup[];

  constructor(groups: readonly ExtensionGroup[]) {
    this.#groups = groups;
  }

  find({ group, version, plural, subresource }: LeanTarget): ExtensionEndpoint | undefined {
    for (const each of this.#groups) {
      if (each.group !== group || each.version !== version) continue;
      const isMeant = (endpoint: ExtensionEndpoint): boolean =>
        endpoint.resource === plural && (endpoint.subresource ?? '') === subresource;
      const found = each.endpoints.find(isMeant);
      if (found) return found;
    }
    return undefined;
  }
}

/** Everything is allowed: who uses a lean server is a member of system:masters. */
export async function callEndpoint(
  endpoint: ExtensionEndpoint,
  target: LeanTarget,
  { request, user }: { readonly request: ClientRequest; readonly user: InProcessUser },
): Promise<ClientResponse> {
  try {
    return responseOf(await endpoint.handle(extensionRequest(target, request, user)));
  } catch (thrown) {
    if (StatusError.is(thrown)) throw thrown;
    // As the API server tells of what nobody expects: a driver that has died.
    throw new StatusError({ reason: 'InternalError', message: toError(thrown).message, cause: thrown });
  }
}

function extensionRequest(
  { version, namespace, name, query }: LeanTarget,
  request: ClientRequest,
  user: InProcessUser,
): ExtensionRequest {
  return {
    version,
    verb: verbs[request.method] ?? '',
    namespace,
    name,
    rest: [],
    method: request.method,
    path: request.target,
    query,
    headers: request.headers,
    user,
    body: {
      bytes: () => Promise.resolve(encoder.encode(bodyText(request))),
      json: () => Promise.resolve(bodyObject(request)),
      stream: unread,
      parts: unread,
    },
    // One of its own: who listens to it goes with the request.
    signal: request.signal ?? new AbortController().signal,
    isUpgrade: false,
    warn: () => undefined,
    annotate: () => undefined,
    may: () => Promise.resolve(true),
    authorize: () => Promise.resolve(),
  };
}

function unread(): never {
  throw new Error('a lean server takes bodies as a whole; ask the API server for streams');
}

function bodyText({ body, value }: ClientRequest): string {
  return body ?? (value === undefined ? '' : JSON.stringify(value));
}

function bodyObject(request: ClientRequest): JsonObject | undefined {
  const value: unknown = request.value ?? (request.body ? JSON.parse(request.body) : undefined);
  if (value === undefined || isJsonObject(value)) return value;
  throw badRequest('the request body is JSON but not an object; send a JSON object, or nothing');
}

function responseOf(answer: ExtensionAnswer): ClientResponse {
  if (answer.kind !== 'plain') throw new Error('a lean server opens no streams; ask the API server');
  const { status, headers, body } = answer;
  const text = async (): Promise<string> =>
    decoder.decode(body instanceof Uint8Array ? body : Buffer.concat(await Array.fromAsync(body)));
  return { status, headers, text, lines: unread };
}
