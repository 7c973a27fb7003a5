import type { AccessQuestion, ApiCall, RequestBody } from '@sheaf/api';
import { badRequest, isJsonObject, type JsonObject, type StatusError } from '@sheaf/base';
import type { User } from '../authentication/user.ts';
import type { Authorizer, ResourceAttributes } from '../authorization/attributes.ts';
import { forbidden } from '../authorization/forbidden.ts';
import { bodyLimit, bodyTooLarge } from '../http/body-reader.ts';
import type { ApiRequest } from '../pipeline/api-request.ts';
import { headerOf, type RequestContext } from '../pipeline/request-context.ts';
import { readParts } from './multipart.ts';

export interface CallOptions {
  readonly authorizer: Authorizer;
  readonly bodyLimitBytes?: number | undefined;
  /** Told of each question about what the user may do. */
  readonly onQuestion?: () => void;
}

/** A request in the words of features. */
export function apiCall(context: RequestContext, options: CallOptions): ApiCall {
  const { request, query, user } = context;
  const { authorizer, bodyLimitBytes = bodyLimit, onQuestion } = options;
  return {
    method: request.method,
    path: request.path,
    query,
    headers: request.headers,
    user,
    body: requestBody(request, bodyLimitBytes),
    get signal() {
      return request.signal;
    },
    isUpgrade: request.upgrade !== undefined,
    warn: (text) => context.warnings.add(text),
    annotate: (key, value) => context.annotate(key, value),
    async may(question) {
      onQuestion?.();
      return (await refusalOf(authorizer, user, question)) === undefined;
    },
    async authorize(question) {
      onQuestion?.();
      const refused = await refusalOf(authorizer, user, question);
      context.annotate('authorization.k8s.io/decision', refused ? 'forbid' : 'allow');
      if (refused) throw refused;
    },
  };
}

/** The 403 that a question ends with; `undefined`: the user may. */
export async function refusalOf(
  authorizer: Authorizer,
  user: User,
  question: AccessQuestion,
): Promise<StatusError | undefined> {
  const attributes: ResourceAttributes = {
    isResource: true,
    user,
    version: '*',
    subresource: '',
    namespace: '',
    name: '',
    ...question,
  };
  const { decision, reason } = await authorizer.authorize(attributes);
  return decision === 'allow' ? undefined : forbidden(attributes, reason);
}

function requestBody(request: ApiRequest, limitBytes: number): RequestBody {
  async function bytes(): Promise<Uint8Array> {
    const read = await request.readBody(limitBytes);
    if (read.length > limitBytes) throw bodyTooLarge(limitBytes);
    return read;
  }
  const stream = (): AsyncIterable<Uint8Array> => request.openBody?.(limitBytes) ?? wholeBody(bytes);
  return {
    bytes,
    json: async () => jsonObject(await bytes()),
    stream,
    parts: () => readParts(headerOf(request, 'content-type') ?? '', stream()),
  };
}

/** What is in memory already, as a stream. */
async function* wholeBody(read: () => Promise<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield await read();
}

function jsonObject(bytes: Uint8Array): JsonObject | undefined {
  if (bytes.length === 0) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    throw badRequest('the request body is not JSON; send a JSON object, or nothing', error);
  }
  if (isJsonObject(value)) return value;
  throw badRequest('the request body is JSON but not an object; send a JSON object, or nothing');
}
