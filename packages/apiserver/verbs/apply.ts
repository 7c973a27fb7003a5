import { asJson, asObject, type KubeObject } from '@sheaf/api';
import { badRequest, isJsonObject, type JsonObject, jsonClone, StatusError } from '@sheaf/base';
import { readPatchBody } from '../decoding/request-body.ts';
import { readWriteOptions, type WriteOptions } from '../options/write-options.ts';
import type { ResourceContext } from '../pipeline/request-context.ts';
import type { Resource } from '../registry/resource.ts';
import type { ServedObject } from '../representation/served-object.ts';
import { changeObject } from './change-object.ts';
import { createConformed, storeOf } from './create.ts';
import { conflict, notFound } from './errors.ts';
import { checkName, conformIncoming, placeInNamespace, requestedPlace } from './incoming-object.ts';
import { applyOwned } from './ownership.ts';
import type { WriteResult } from './update.ts';
import type { WriteParts } from './write-parts.ts';

/** Server-side apply: PATCH with `application/apply-patch+yaml`. Creates what is missing. */
export async function applyObject(
  context: ResourceContext,
  resource: Resource,
  parts: WriteParts,
): Promise<WriteResult> {
  const options = readWriteOptions(context.query, 'PatchOptions', true);
  const applied = await readApplied(context);
  checkName(context, asObject(applied));
  const place = requestedPlace(context, resource);
  for (;;) {
    if (storeOf(resource).get(place))
      return {
        served: await applyToExisting(context, resource, { applied, options, parts }),
        isCreated: false,
      };
    try {
      return { served: await applyAsNew(context, resource, { applied, options, parts }), isCreated: true };
    } catch (error) {
      // Someone created it meanwhile: then it is a change.
      if (!StatusError.is(error, 'AlreadyExists') || !storeOf(resource).get(place)) throw error;
    }
  }
}

interface ApplyInput {
  readonly applied: JsonObject;
  readonly options: WriteOptions;
  readonly parts: WriteParts;
}

async function readApplied(context: ResourceContext): Promise<JsonObject> {
  const value = await readPatchBody(context.request);
  if (isJsonObject(value)) return { ...value, metadata: value['metadata'] ?? {} };
  const type = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
  throw badRequest(
    `error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${type} into Go value of type map[string]interface {}`,
  );
}

function applyToExisting(
  context: ResourceContext,
  resource: Resource,
  input: ApplyInput,
): Promise<ServedObject> {
  return changeObject(context, resource, {
    place: requestedPlace(context, resource),
    options: input.options,
    parts: input.parts,
    optionsKind: 'PatchOptions',
    subresource: context.info.subresource,
    isOwned: true,
    make: (current) => merge(context, resource, { ...input, live: current }),
  });
}

function applyAsNew(context: ResourceContext, resource: Resource, input: ApplyInput): Promise<ServedObject> {
  const { subresource, name } = context.info;
  if (subresource !== '') throw notFound(resource, name);
  const object = merge(context, resource, { ...input, live: undefined });
  if (object.metadata.uid)
    throw conflict(
      resource,
      name,
      `uid mismatch: the provided object specified uid ${object.metadata.uid}, and no existing object was found`,
    );
  // A version says nothing of what is not there.
  delete object.metadata.resourceVersion;
  return createConformed(context, resource, {
    object,
    options: input.options,
    parts: input.parts,
    isOwned: true,
  });
}

/** The live object with the configuration laid over it, conformed, and its fields booked. */
function merge(
  context: ResourceContext,
  resource: Resource,
  input: ApplyInput & { live: KubeObject | undefined },
): KubeObject {
  const { applied, options, parts } = input;
  const ownership = {
    resource,
    manager: options.fieldManager ?? '',
    subresource: context.info.subresource,
    clock: parts.clock,
  };
  const merged = applyOwned(ownership, input.live, {
    applied: asObject(applied),
    force: options.force ?? false,
  });
  const object = conformIncoming(context, resource, {
    json: jsonClone(asJson(merged)),
    fieldValidation: options.fieldValidation,
    duplicateFields: [],
  });
  checkName(context, object);
  placeInNamespace(context, resource, object);
  return object;
}
