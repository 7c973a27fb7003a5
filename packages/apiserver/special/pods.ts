import type { KubeObject } from '@sheaf/api';
import { chosenContainer, type Pod, readLogQuery } from '@sheaf/api/workload/index';
import { internalError, isJsonObject, type JsonObject, StatusError } from '@sheaf/base';
import { readWriteOptions } from '../options/write-options.ts';
import { type SpecialHandler, specialKey } from '../pipeline/special-handler.ts';
import type { Resource } from '../registry/resource.ts';
import type { ResourceRegistry } from '../registry/resource-registry.ts';
import { changeObject } from '../verbs/change-object.ts';
import { methodNotAllowed } from '../verbs/errors.ts';
import { getObject, type ReadParts } from '../verbs/get.ts';
import { requestedPlace } from '../verbs/incoming-object.ts';
import { timestamp, type WriteParts } from '../verbs/write-parts.ts';
import { bindPod, boundNode } from './pod-binding.ts';
import { answerWith, createdStatus, readPosted } from './posted-object.ts';

export interface PodParts extends WriteParts, ReadParts {
  readonly registry: ResourceRegistry;
}

/** Subresources of pods that need a running container, where nothing runs them, and those that place a pod on a node. */
export function podHandlers(parts: PodParts): ReadonlyMap<string, SpecialHandler> {
  return new Map([
    [specialKey('', 'pods', 'log'), logHandler(parts)],
    [specialKey('', 'pods', 'exec'), streamHandler(parts)],
    [specialKey('', 'pods', 'attach'), streamHandler(parts)],
    [specialKey('', 'pods', 'portforward'), streamHandler(parts)],
    [specialKey('', 'pods', 'binding'), bindingHandler(parts)],
    [specialKey('', 'bindings'), bindingHandler(parts)],
  ]);
}

function specOf(pod: KubeObject): JsonObject {
  return isJsonObject(pod['spec']) ? pod['spec'] : {};
}

/** A pod without a node has written nothing yet. */
function logHandler(parts: PodParts): SpecialHandler {
  return async (context, resource) => {
    if (context.info.verb !== 'get') throw methodNotAllowed();
    const pod = (await getObject(context, resource, parts)).object;
    readLogQuery(context.query, context.info.name);
    chosenContainer(pod as Pod, context.query.get('container') ?? '');
    if (!specOf(pod)['nodeName'])
      return { status: 204, headers: {}, body: { kind: 'bytes', chunks: [new Uint8Array()] } };
    throw unreachable(pod, 'logs cannot be read');
  };
}

/** exec, attach and port-forward: there is no host to connect to. */
function streamHandler(parts: PodParts): SpecialHandler {
  return async (context, resource) => {
    const pod = (await getObject(context, resource, parts)).object;
    if (specOf(pod)['nodeName']) throw unreachable(pod, 'its containers cannot be reached');
    const name = pod.metadata.name ?? '';
    throw new StatusError({ reason: 'BadRequest', message: `pod ${name} does not have a host assigned` });
  };
}

function unreachable(pod: KubeObject, what: string): StatusError {
  const node = JSON.stringify(specOf(pod)['nodeName']);
  return new StatusError({
    reason: 'ServiceUnavailable',
    message: `${what}: pod ${pod.metadata.name ?? ''} is on node ${node}, and nothing on this Sheaf runs pods; see the pod's conditions`,
    details: { retryAfterSeconds: 10 },
  });
}

/** POST of a Binding: gives the pod its node. */
function bindingHandler(parts: PodParts): SpecialHandler {
  return async (context, resource) => {
    if (context.info.verb !== 'create') throw methodNotAllowed();
    const options = readWriteOptions(context.query, 'CreateOptions');
    const binding = await readPosted(context, { group: '', version: 'v1', kind: 'Binding' });
    const node = boundNode(binding);
    const pods = resource.kind === 'Binding' ? podsOf(parts.registry) : resource;
    const name = context.info.name || (binding.metadata.name ?? '');
    await changeObject(context, pods, {
      place: { ...requestedPlace(context, pods), name },
      options,
      parts,
      optionsKind: 'UpdateOptions',
      subresource: 'binding',
      make: (pod) =>
        bindPod(pod, { node, now: timestamp(parts.clock), annotations: binding.metadata.annotations }),
    });
    return answerWith(context, 201, createdStatus);
  };
}

/** The resource that bindings and evictions are about. */
export function podsOf(registry: ResourceRegistry): Resource {
  const pods = registry.find('', 'v1', 'pods');
  if (!pods) throw internalError('pods are not served');
  return pods;
}
