import { asJson, type KubeObject } from '@sheaf/api';
import { isJsonObject, type JsonObject, type JsonValue } from '@sheaf/base';
import { asJsonObject, contentTypeOf, readApiBody, readPatchBody } from '../decoding/request-body.ts';
import { readWriteOptions, type WriteOptions } from '../options/write-options.ts';
import type { ResourceContext } from '../pipeline/request-context.ts';
import { type SpecialHandler, specialKey } from '../pipeline/special-handler.ts';
import type { Resource } from '../registry/resource.ts';
import { changeObject } from '../verbs/change-object.ts';
import { methodNotAllowed } from '../verbs/errors.ts';
import { getObject, type ReadParts } from '../verbs/get.ts';
import { checkName, conformIncoming, placeInNamespace, requestedPlace } from '../verbs/incoming-object.ts';
import { patchValue } from '../verbs/patch.ts';
import { timestamp, type WriteParts } from '../verbs/write-parts.ts';
import { answerWith } from './posted-object.ts';

export type PartialParts = WriteParts & ReadParts;

/** Takes from what the client sent the part that the endpoint may change. `current` is a copy to be changed and returned. */
type Take = (current: KubeObject, sent: KubeObject, now: string) => KubeObject;

/** Subresources by which one part of an object is read and written as the whole object. */
export function partialUpdateHandlers(parts: PartialParts): ReadonlyMap<string, SpecialHandler> {
  return new Map([
    [specialKey('', 'namespaces', 'finalize'), partialUpdate(parts, takeFinalizers)],
    [
      specialKey('certificates.k8s.io', 'certificatesigningrequests', 'approval'),
      partialUpdate(parts, takeApproval),
    ],
    [specialKey('', 'pods', 'ephemeralcontainers'), partialUpdate(parts, takeEphemeralContainers)],
    [specialKey('', 'pods', 'resize'), partialUpdate(parts, takeResources)],
  ]);
}

function partialUpdate(parts: PartialParts, take: Take): SpecialHandler {
  return async (context, resource) => {
    switch (context.info.verb) {
      case 'get':
        return answerWith(context, 200, (await getObject(context, resource, parts)).object);
      case 'update':
      case 'patch':
        return answerWith(context, 200, await write(context, resource, { parts, take }));
      default:
        throw methodNotAllowed();
    }
  };
}

async function write(
  context: ResourceContext,
  resource: Resource,
  { parts, take }: { parts: PartialParts; take: Take },
): Promise<KubeObject> {
  const isPatch = context.info.verb === 'patch';
  const type = contentTypeOf(context.request);
  const options = readWriteOptions(
    context.query,
    isPatch ? 'PatchOptions' : 'UpdateOptions',
    type === 'application/apply-patch+yaml',
  );
  const body = isPatch ? await readPatchBody(context.request) : (await readApiBody(context.request)).value;
  const served = await changeObject(context, resource, {
    place: requestedPlace(context, resource),
    options,
    parts,
    optionsKind: isPatch ? 'PatchOptions' : 'UpdateOptions',
    subresource: context.info.subresource,
    make(current) {
      const sent = isPatch ? patchValue(resource, { type, current, patch: body }) : body;
      const object = conformSent(context, resource, { sent, options });
      const next = take(current, object, timestamp(parts.clock));
      if (object.metadata.resourceVersion) next.metadata.resourceVersion = object.metadata.resourceVersion;
      return next;
    },
  });
  return served.object;
}

function conformSent(
  context: ResourceContext,
  resource: Resource,
  { sent, options }: { sent: JsonValue; options: WriteOptions },
): KubeObject {
  const object = conformIncoming(context, resource, {
    json: asJsonObject(sent),
    fieldValidation: options.fieldValidation,
    duplicateFields: [],
  });
  checkName(context, object);
  placeInNamespace(context, resource, object);
  return object;
}

function specOf(object: KubeObject): JsonObject {
  const json = asJson(object);
  const spec = isJsonObject(json['spec']) ? json['spec'] : {};
  json['spec'] = spec;
  return spec;
}

/** What holds a namespace until its contents are gone is a field of its spec. */
function takeFinalizers(current: KubeObject, sent: KubeObject): KubeObject {
  const finalizers = specOf(sent)['finalizers'];
  if (Array.isArray(finalizers) && finalizers.length > 0) specOf(current)['finalizers'] = finalizers;
  else delete specOf(current)['finalizers'];
  return current;
}

function takeApproval(current: KubeObject, sent: KubeObject, now: string): KubeObject {
  const conditions = conditionsOf(sent).map((condition) => ({
    ...condition,
    lastUpdateTime: condition['lastUpdateTime'] ?? now,
    lastTransitionTime: condition['lastTransitionTime'] ?? now,
  }));
  const status = isJsonObject(current['status']) ? current['status'] : {};
  current['status'] = { ...status, conditions };
  return current;
}

function conditionsOf(object: KubeObject): JsonObject[] {
  const status = object['status'];
  const conditions = isJsonObject(status) ? status['conditions'] : undefined;
  return Array.isArray(conditions) ? conditions.filter((item) => isJsonObject(item)) : [];
}

function takeEphemeralContainers(current: KubeObject, sent: KubeObject): KubeObject {
  const containers = specOf(sent)['ephemeralContainers'];
  if (Array.isArray(containers)) specOf(current)['ephemeralContainers'] = containers;
  return current;
}

/** Of each container the resources and what happens when they change. */
function takeResources(current: KubeObject, sent: KubeObject): KubeObject {
  for (const list of ['containers', 'initContainers']) {
    const wanted = containersOf(sent, list);
    for (const container of containersOf(current, list)) {
      const found = wanted.find((item) => item['name'] === container['name']);
      if (found?.['resources'] !== undefined) container['resources'] = found['resources'];
    }
  }
  return current;
}

function containersOf(pod: KubeObject, field: string): JsonObject[] {
  const containers = specOf(pod)[field];
  return Array.isArray(containers) ? containers.filter((item) => isJsonObject(item)) : [];
}
