import { asObject, type KubeObject } from '@sheaf/api';
import type { ResourceContext } from '../pipeline/request-context.ts';
import { headerOf } from '../pipeline/request-context.ts';
import { bytesResponse } from '../pipeline/responses.ts';
import { type SpecialHandler, specialKey } from '../pipeline/special-handler.ts';
import type { Resource } from '../registry/resource.ts';
import { negotiate } from '../representation/negotiate.ts';
import { ServedObject } from '../representation/served-object.ts';
import { cannotBeWatched, methodNotAllowed, notFound } from '../verbs/errors.ts';
import type { ReadParts } from '../verbs/get.ts';

const deprecation = 'v1 ComponentStatus is deprecated in v1.19+';

/** The parts of a control plane as old clients ask for them. Here they are one process: it answers, so they are well. */
const components = ['controller-manager', 'etcd-0'];

export function componentStatusHandlers(parts: ReadParts): ReadonlyMap<string, SpecialHandler> {
  return new Map([
    [
      specialKey('', 'componentstatuses'),
      (context, resource) => Promise.resolve(answer(context, resource, parts)),
    ],
  ]);
}

function answer(
  context: ResourceContext,
  resource: Resource,
  parts: ReadParts,
): ReturnType<typeof bytesResponse> {
  const { verb, name } = context.info;
  if (verb !== 'get' && verb !== 'list' && verb !== 'watch') throw methodNotAllowed();
  context.warnings.add(deprecation);
  const form = negotiate(resource, {
    accept: headerOf(context.request, 'accept'),
    userAgent: headerOf(context.request, 'user-agent'),
    query: context.query,
    clock: parts.clock,
  });
  if (verb === 'watch') throw cannotBeWatched(resource);
  if (verb === 'list') {
    const items = components.map((item) => ServedObject.fresh(resource, statusOf(item)));
    return bytesResponse(
      200,
      form.contentType,
      form.list(items, { resourceVersion: String(parts.keyspace.revision) }),
    );
  }
  if (!components.includes(name)) throw notFound(resource, name);
  return bytesResponse(200, form.contentType, form.one(ServedObject.fresh(resource, statusOf(name))));
}

function statusOf(name: string): KubeObject {
  return asObject({
    kind: 'ComponentStatus',
    apiVersion: 'v1',
    metadata: { name, creationTimestamp: null },
    conditions: [{ type: 'Healthy', status: 'True', message: 'ok' }],
  });
}
