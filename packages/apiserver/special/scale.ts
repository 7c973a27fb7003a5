import {
  asObject,
  formatLabelSelector,
  invalid,
  invalidObject,
  type KubeObject,
  labelMatcherOf,
  toApiVersion,
} from '@sheaf/api';
import {
  badRequest,
  type Clock,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type StatusError,
} from '@sheaf/base';
import type { DefinitionVersion } from '../custom-resource/index.ts';
import { asJsonObject, contentTypeOf, readApiBody, readPatchBody } from '../decoding/request-body.ts';
import { toScaleEntries } from '../managed-fields/scale-ownership.ts';
import { readWriteOptions } from '../options/write-options.ts';
import { headerOf, type ResourceContext } from '../pipeline/request-context.ts';
import { bytesResponse } from '../pipeline/responses.ts';
import type { SpecialHandler } from '../pipeline/special-handler.ts';
import type { Resource } from '../registry/resource.ts';
import { valueAt } from '../registry/shared-strategy.ts';
import { negotiate } from '../representation/negotiate.ts';
import { ServedObject } from '../representation/served-object.ts';
import { scaleColumns } from '../table/scale-columns.ts';
import { changeObject } from '../verbs/change-object.ts';
import { conflict, methodNotAllowed, modifiedDetail } from '../verbs/errors.ts';
import { getObject, type ReadParts } from '../verbs/get.ts';
import { checkName, requestedPlace } from '../verbs/incoming-object.ts';
import { patchValue } from '../verbs/patch.ts';
import type { WriteParts } from '../verbs/write-parts.ts';

/** Where a kind keeps what `autoscaling/v1 Scale` shows. Paths of field names. */
export interface ScalePaths {
  readonly specReplicas: readonly string[];
  readonly statusReplicas: readonly string[];
  /** A selector as text, or a LabelSelector. */
  readonly selector: readonly string[] | undefined;
}

export const workloadScalePaths: ScalePaths = {
  specReplicas: ['spec', 'replicas'],
  statusReplicas: ['status', 'replicas'],
  selector: ['spec', 'selector'],
};

/** The paths that a definition's version gives. */
export function customScalePaths(version: Pick<DefinitionVersion, 'scale'>): ScalePaths {
  const { specReplicasPath = '', statusReplicasPath = '', labelSelectorPath } = version.scale ?? {};
  return {
    specReplicas: fieldsOf(specReplicasPath),
    statusReplicas: fieldsOf(statusReplicasPath),
    selector: labelSelectorPath ? fieldsOf(labelSelectorPath) : undefined,
  };
}

/** Scale paths are plain field names joined by dots. */
function fieldsOf(path: string): string[] {
  return path.split('.').filter((name) => name !== '');
}

/** `/scale`: the number of replicas of any kind that has one, read and written in one form. */
export function scaleHandler(paths: ScalePaths, parts: WriteParts & ReadParts): SpecialHandler {
  return async (context, resource) => {
    switch (context.info.verb) {
      case 'get':
        return answer(context, resource, {
          scale: scaleOf((await getObject(context, resource, parts)).object, paths),
          clock: parts.clock,
        });
      case 'update':
      case 'patch':
        return answer(context, resource, {
          scale: await writeScale(context, resource, { paths, parts }),
          clock: parts.clock,
        });
      default:
        throw methodNotAllowed();
    }
  };
}

/** @throws nothing: what is missing counts as 0 or is left out */
export function scaleOf(object: KubeObject, paths: ScalePaths): JsonObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const replicas = valueAt(object, paths.specReplicas);
  const current = valueAt(object, paths.statusReplicas);
  const selector = paths.selector && valueAt(object, paths.selector);
  const status: JsonObject = { replicas: typeof current === 'number' ? current : 0 };
  const text = selector === undefined ? '' : scaleSelector(selector);
  if (text !== '') status['selector'] = text;
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: typeof replicas === 'number' ? { replicas } : {},
    status,
  };
}

function scaleSelector(selector: JsonValue): string {
  if (typeof selector === 'string') return selector;
  return isJsonObject(selector) ? formatLabelSelector(labelMatcherOf(selector)) : '';
}

interface ScaleWrite {
  readonly paths: ScalePaths;
  readonly parts: WriteParts & ReadParts;
}

async function writeScale(
  context: ResourceContext,
  resource: Resource,
  { paths, parts }: ScaleWrite,
): Promise<JsonObject> {
  const isPatch = context.info.verb === 'patch';
  const type = contentTypeOf(context.request);
  const optionsKind = isPatch ? 'PatchOptions' : 'UpdateOptions';
  const options = readWriteOptions(context.query, optionsKind, type === 'application/apply-patch+yaml');
  const body = isPatch ? await readPatchBody(context.request) : (await readApiBody(context.request)).value;
  const subresourceKind = resource.subresources.get('scale');
  const live = (await getObject(context, resource, parts)).object;
  const served = await changeObject(context, resource, {
    place: requestedPlace(context, resource),
    options,
    parts,
    optionsKind,
    subresource: 'scale',
    // Replicas that nobody has claimed stay so.
    isOwned: !hasOwner(resource, live, paths),
    ...(subresourceKind ? { subresourceKind } : {}),
    make(current) {
      const scale = scaleOf(current, paths);
      const next = isPatch ? patchScale(resource, { type, scale, body }) : asScale(body);
      return withReplicas(context, resource, { current, next, paths });
    },
  });
  return scaleOf(served.object, paths);
}

function patchScale(
  resource: Resource,
  { type, scale, body }: { type: string; scale: JsonObject; body: JsonValue },
): JsonObject {
  const isMergeLike =
    type === 'application/strategic-merge-patch+json' || type === 'application/apply-patch+yaml';
  const asType = isMergeLike ? 'application/merge-patch+json' : type;
  return asJsonObject(
    patchValue(resource, { type: asType, current: scale as unknown as KubeObject, patch: body }),
  );
}

function withReplicas(
  context: ResourceContext,
  resource: Resource,
  input: { current: KubeObject; next: JsonObject; paths: ScalePaths },
): KubeObject {
  const { current, next, paths } = input;
  const metadata = next['metadata'];
  if (!isJsonObject(metadata)) throw badRequest('a Scale needs metadata with the name of its object');
  checkName(context, next as unknown as KubeObject);
  const version = metadata['resourceVersion'];
  if (typeof version === 'string' && version !== '' && version !== current.metadata.resourceVersion) {
    throw conflict(resource, context.info.name, modifiedDetail);
  }
  const spec = isJsonObject(next['spec']) ? next['spec'] : {};
  const replicas = spec['replicas'] ?? 0;
  if (typeof replicas !== 'number' || !Number.isInteger(replicas))
    throw notWhole(replicas, context.info.verb);
  if (replicas < 0) throw negative(resource, { replicas, paths, name: context.info.name });
  setAt(current, paths.specReplicas, replicas);
  return current;
}

function notWhole(replicas: JsonValue, verb: string): StatusError {
  const found = typeof replicas === 'boolean' ? 'bool' : Array.isArray(replicas) ? 'array' : typeof replicas;
  const detail = `json: cannot unmarshal ${found} into Go struct field ScaleSpec.spec.replicas of type int32`;
  if (verb !== 'patch') return badRequest(`Scale in version "v1" cannot be handled as a Scale: ${detail}`);
  return invalidObject({ kind: '', group: '', name: '' }, [invalid('patch', replicas, detail)]);
}

/** Custom kinds say it of the field in which they keep the number. */
function negative(
  { isBuiltin, kind, group }: Resource,
  { replicas, paths, name }: { replicas: number; paths: ScalePaths; name: string },
): StatusError {
  if (isBuiltin)
    return invalidObject({ kind: 'Scale', group: 'autoscaling', name }, [
      invalid('spec.replicas', replicas, 'must be greater than or equal to 0'),
    ]);
  return invalidObject({ kind, group, name }, [
    invalid(`.${paths.specReplicas.join('.')}`, replicas, 'should be a non-negative integer'),
  ]);
}

/** @throws StatusError 400 for an object of another kind */
function asScale(body: JsonValue): JsonObject {
  const scale = asJsonObject(body);
  const { kind, apiVersion } = scale;
  if (kind === undefined || kind === '' || kind === 'Scale') return scale;
  throw badRequest(
    `${JSON.stringify(kind)} of ${JSON.stringify(apiVersion ?? '')} cannot be handled as a Scale of autoscaling/v1`,
  );
}

function hasOwner(resource: Resource, { metadata }: KubeObject, paths: ScalePaths): boolean {
  const path = paths.specReplicas.map((field): `f:${string}` => `f:${field}`);
  const apiVersion = toApiVersion(resource.group, resource.version);
  return toScaleEntries(metadata.managedFields, new Map([[apiVersion, path]])).length > 0;
}

function setAt(object: KubeObject, path: readonly string[], value: JsonValue): void {
  let target = object as unknown as JsonObject;
  for (const field of path.slice(0, -1)) {
    const inner = target[field];
    if (isJsonObject(inner)) target = inner;
    else {
      const made: JsonObject = {};
      target[field] = made;
      target = made;
    }
  }
  target[path.at(-1) as string] = value;
}

/** In any form that objects have; `kubectl get --subresource=scale` wants a table. */
function answer(
  context: ResourceContext,
  resource: Resource,
  { scale, clock }: { scale: JsonObject; clock: Clock },
): ReturnType<typeof bytesResponse> {
  const view: Resource = {
    ...resource,
    group: 'autoscaling',
    version: 'v1',
    kind: 'Scale',
    isBuiltin: true,
    columns: scaleColumns,
  };
  const form = negotiate(view, {
    accept: headerOf(context.request, 'accept'),
    userAgent: headerOf(context.request, 'user-agent'),
    query: context.query,
    clock,
  });
  return bytesResponse(200, form.contentType, form.one(ServedObject.fresh(view, asObject(scale))));
}
