import {
  asJson,
  asObject,
  conform,
  findGoKind,
  type GroupVersionKind,
  type KubeObject,
  toApiVersion,
} from '@sheaf/api';
import { badRequest, internalError, type JsonObject } from '@sheaf/base';
import { asJsonObject, readApiBody } from '../decoding/request-body.ts';
import type { ApiResponse } from '../pipeline/api-request.ts';
import { headerOf, type ResourceContext } from '../pipeline/request-context.ts';
import { bytesResponse } from '../pipeline/responses.ts';
import { negotiateFormat } from '../representation/negotiate.ts';

/** The body of a create that is a question, not an object to keep. @throws StatusError 400 */
export async function readPosted(context: ResourceContext, kind: GroupVersionKind): Promise<KubeObject> {
  const { value } = await readApiBody(context.request);
  return conformPosted(asJsonObject(value), kind);
}

/** @throws StatusError 400 for another kind or wrong types */
export function conformPosted(json: JsonObject, gvk: GroupVersionKind): KubeObject {
  const apiVersion = toApiVersion(gvk.group, gvk.version);
  const given = { kind: json['kind'] || gvk.kind, apiVersion: json['apiVersion'] || apiVersion };
  if (given.kind !== gvk.kind || given.apiVersion !== apiVersion) {
    throw badRequest(
      `a ${gvk.kind} of ${apiVersion} is expected here, not a ${JSON.stringify(given.kind)} of ${JSON.stringify(given.apiVersion)}`,
    );
  }
  const struct = findGoKind(gvk);
  if (!struct) throw internalError(`no type is known of ${gvk.kind}`);
  return asObject(conform({ ...json, ...given }, struct, gvk).value);
}

/** Answers with an object in the format that the client wants. */
export function answerWith(
  context: ResourceContext,
  status: number,
  object: KubeObject | JsonObject,
): ApiResponse {
  const { request, query } = context;
  const format = negotiateFormat(
    { accept: headerOf(request, 'accept'), userAgent: headerOf(request, 'user-agent'), query },
    true,
  );
  return bytesResponse(status, format.contentType, format.encode(asJson(object as KubeObject)));
}

/** What bindings and evictions answer: a Status of success with code 201. */
export const createdStatus: JsonObject = {
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Success',
  code: 201,
};
