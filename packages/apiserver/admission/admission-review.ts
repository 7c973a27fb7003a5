import { asJson, type GroupVersionKind, type GroupVersionResource, type KubeObject } from '@sheaf/api';
import type { JsonObject, JsonValue } from '@sheaf/base';
import type { User } from '../authentication/user.ts';
import type { AdmissionRequest } from './plugin.ts';
import { isNamespaceRequest } from './scope-selectors.ts';

/** A request in the version that a webhook or a policy wants to see. */
export interface Invocation {
  readonly resource: GroupVersionResource;
  readonly kind: GroupVersionKind;
  readonly object: KubeObject | undefined;
  readonly oldObject: KubeObject | undefined;
}

/** The `request` of an AdmissionReview without its uid and its objects: what expressions see as `request`. */
export function reviewFields(
  request: AdmissionRequest,
  { kind, resource }: Pick<Invocation, 'kind' | 'resource'>,
): JsonObject {
  const { subresource, name } = request;
  const namespace = isNamespaceRequest(request) ? name : request.namespace;
  return {
    kind: { ...kind },
    resource: { ...resource },
    ...(subresource && { subResource: subresource }),
    requestKind: { ...request.kind },
    requestResource: { ...request.resource },
    ...(subresource && { requestSubResource: subresource }),
    ...(name && { name }),
    ...(namespace && { namespace }),
    operation: request.operation,
    userInfo: userInfo(request.user),
    dryRun: request.dryRun,
    options: request.options,
  };
}

function userInfo({ name, uid, groups, extra }: User): JsonObject {
  return {
    username: name,
    ...(uid && { uid }),
    groups: [...groups],
    ...(extra && { extra: extra as unknown as JsonObject }),
  };
}

/** The text of an AdmissionReview but for its uid, which `reviewText` puts in. */
export function reviewBody(request: AdmissionRequest, invocation: Invocation): string {
  return JSON.stringify({
    ...reviewFields(request, invocation),
    object: jsonOf(invocation.object),
    oldObject: jsonOf(invocation.oldObject),
  });
}

function jsonOf(object: KubeObject | undefined): JsonValue {
  return object ? asJson(object) : null;
}

/** Objects are written as text once, however many webhooks are sent them. */
export function reviewText(body: string, version: string, uid: string): string {
  return `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/${version}","request":{"uid":"${uid}",${body.slice(1)}}`;
}
