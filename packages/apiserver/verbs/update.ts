import type { KubeObject } from '@sheaf/api';
import { type JsonObject, jsonClone } from '@sheaf/base';
import { readObjectBody } from '../decoding/request-body.ts';
import { readWriteOptions, type WriteOptions } from '../options/write-options.ts';
import type { ResourceContext } from '../pipeline/request-context.ts';
import type { Resource } from '../registry/resource.ts';
import type { ServedObject } from '../representation/served-object.ts';
import { changeObject } from './change-object.ts';
import { createConformed, storeOf } from './create.ts';
import { checkName, conformIncoming, placeInNamespace, requestedPlace } from './incoming-object.ts';
import type { WriteParts } from './write-parts.ts';

export interface WriteResult {
  readonly served: ServedObject;
  readonly isCreated: boolean;
}

/** PUT on a name or its status. */
export async function updateObject(
  context: ResourceContext,
  resource: Resource,
  parts: WriteParts,
): Promise<WriteResult> {
  const options = readWriteOptions(context.query, 'UpdateOptions');
  const { json, duplicateFields } = await readObjectBody(context.request, resource);
  const object = conformIncoming(context, resource, {
    json,
    fieldValidation: options.fieldValidation,
    duplicateFields,
  });
  checkName(context, object);
  placeInNamespace(context, resource, object);
  const place = requestedPlace(context, resource);
  const { subresource } = context.info;
  if (mayCreate(resource, subresource) && !storeOf(resource).get(place)) {
    return { served: await createFromUpdate(context, resource, { object, options, parts }), isCreated: true };
  }
  const served = await changeObject(context, resource, {
    place,
    options,
    parts,
    optionsKind: 'UpdateOptions',
    subresource,
    make: () => jsonClone(object as unknown as JsonObject) as unknown as KubeObject,
  });
  return { served, isCreated: false };
}

function mayCreate(resource: Resource, subresource: string): boolean {
  return subresource === '' && resource.strategy.allowsCreateOnUpdate;
}

function createFromUpdate(
  context: ResourceContext,
  resource: Resource,
  input: { object: KubeObject; options: WriteOptions; parts: WriteParts },
): Promise<ServedObject> {
  // A version of an object that is gone says nothing of the new one.
  delete input.object.metadata.resourceVersion;
  return createConformed(context, resource, input);
}
