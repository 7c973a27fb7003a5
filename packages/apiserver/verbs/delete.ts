import { asJson, asObject, type KubeObject } from '@sheaf/api';
import { type Clock, DisposableStore, type JsonObject, jsonClone, type StatusDetails } from '@sheaf/base';
import { asJsonObject, readApiBody } from '../decoding/request-body.ts';
import { type DeleteOptions, readDeleteOptions, toDeleteOptionsObject } from '../options/delete-options.ts';
import type { ResourceContext } from '../pipeline/request-context.ts';
import type { Resource } from '../registry/resource.ts';
import { ServedObject, serveEntry } from '../representation/served-object.ts';
import type { Entry } from '../storage/entry.ts';
import type { Attempt, Place } from '../storage/resource-store.ts';
import { storeOf } from './create.ts';
import { planDeletion } from './deletion.ts';
import { notFound, preconditionFailed } from './errors.ts';
import { requestedPlace } from './incoming-object.ts';
import { admissionRequest, timestamp, type WriteParts } from './write-parts.ts';

/** The object is gone (a Status), or stays until its finalizers or its grace period are done (the object). */
export type DeleteResult =
  | { readonly gone: StatusDetails; readonly last: ServedObject }
  | { readonly pending: ServedObject };

/** DELETE on a name. */
export async function deleteObject(
  context: ResourceContext,
  resource: Resource,
  parts: WriteParts,
): Promise<DeleteResult> {
  const options = readDeleteOptions(await readOptionsBody(context), context.query);
  return deleteAt(context, resource, { place: requestedPlace(context, resource), options, parts });
}

export async function readOptionsBody(context: ResourceContext): Promise<JsonObject | undefined> {
  const bytes = await context.request.readBody();
  if (bytes.length === 0) return undefined;
  return asJsonObject((await readApiBody(context.request)).value);
}

export interface DeleteInput {
  readonly place: Place;
  readonly options: DeleteOptions;
  readonly parts: WriteParts;
}

/** @throws StatusError 404, 409 (preconditions), 403 and whatever admission refuses with */
export async function deleteAt(
  context: ResourceContext,
  resource: Resource,
  input: DeleteInput,
): Promise<DeleteResult> {
  const { options, parts, place } = input;
  const { orphaningWarning } = resource.strategy;
  if (orphaningWarning && options.propagation === undefined) context.warnings.add(orphaningWarning);
  let rehearsed: Entry | undefined;
  let details: StatusDetails = {};
  let isRemoval = false;
  const result = await storeOf(resource).change(place, async (entry) => {
    const current = (await serveEntry(resource, entry)).object;
    checkDeletionPreconditions(resource, current, options);
    await admit(context, resource, { ...input, current });
    const attempt = await attemptDeletion(resource, entry, { options, parts });
    isRemoval = 'remove' in attempt;
    details = detailsOf(resource, current);
    if (!options.dryRun) return attempt;
    rehearsed = entry;
    return { keep: true };
  });
  if (!result) throw notFound(resource, place.name);
  const served = await serveEntry(resource, rehearsed ?? result.entry);
  if (!isRemoval) return { pending: served };
  if (!isPod(resource)) return { gone: details, last: served };
  return { gone: details, last: ServedObject.fresh(resource, removedPod(served.object, parts.clock)) };
}

async function attemptDeletion(
  resource: Resource,
  entry: Entry,
  { options, parts }: { options: DeleteOptions; parts: WriteParts },
): Promise<Attempt> {
  const { object } = await serveEntry(resource, entry);
  const copy = deletableCopy(resource, object);
  const step = planDeletion(copy, {
    propagation: options.propagation,
    defaultPropagation: resource.strategy.defaultPropagation,
    gracePeriodSeconds: options.gracePeriodSeconds,
    isPod: isPod(resource),
    tellsHaste: tellsHaste(resource),
    now: timestamp(parts.clock),
    nowMs: parts.clock.now(),
    before: object.metadata,
    isHeld: resource.strategy.isHeld?.(copy) ?? false,
  });
  switch (step.action) {
    case 'remove':
      return { remove: true };
    case 'keep':
      return { keep: true };
    case 'mark':
      return { write: await resource.strategy.toStorage(step.object) };
  }
}

/** Pods alone have a time of grace. */
export function isPod(resource: Resource): boolean {
  return resource.isBuiltin && resource.kind === 'Pod';
}

/** Virtual machines shut down in their own time; a grace of 0 is seen by those who run them only if no other delete sets it. */
export function tellsHaste(resource: Resource): boolean {
  return !resource.isBuiltin && resource.group === 'kubevirt.io';
}

/** A pod that is removed at once is shown as being deleted without grace. */
export function removedPod(pod: KubeObject, clock: Clock): KubeObject {
  const { generation, deletionTimestamp } = pod.metadata;
  const metadata = { ...pod.metadata, deletionGracePeriodSeconds: 0 };
  if (deletionTimestamp === undefined) {
    metadata.deletionTimestamp = timestamp(clock);
    if (generation !== undefined) metadata.generation = generation + 1;
  }
  return { ...pod, metadata };
}

/** Only the fields of the metadata are changed, unless the kind has something to prepare. */
export function deletableCopy(resource: Resource, object: KubeObject): KubeObject {
  if (!resource.strategy.prepareForDelete) return { ...object, metadata: { ...object.metadata } };
  const copy = asObject(jsonClone(asJson(object)));
  resource.strategy.prepareForDelete(copy);
  return copy;
}

async function admit(
  context: ResourceContext,
  resource: Resource,
  input: DeleteInput & { current: KubeObject },
): Promise<void> {
  const { options, parts, current } = input;
  // Nothing is reserved for a deletion.
  const lifetime = new DisposableStore();
  const request = admissionRequest(context, resource, {
    operation: 'DELETE',
    object: undefined,
    oldObject: current,
    options: toDeleteOptionsObject(options),
    dryRun: options.dryRun,
    name: input.place.name,
    lifetime,
  });
  await parts.admission.mutate(request);
  await parts.admission.validate(request);
  lifetime.dispose();
}

/** @throws StatusError 409 if another object is there than was meant */
export function checkDeletionPreconditions(
  resource: Resource,
  current: KubeObject,
  { preconditions }: Pick<DeleteOptions, 'preconditions'>,
): void {
  const { uid, resourceVersion, name = '' } = current.metadata;
  if (preconditions.uid !== undefined && preconditions.uid !== uid) {
    throw preconditionFailed(
      resource,
      name,
      `the UID in the precondition (${preconditions.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
    );
  }
  if (preconditions.resourceVersion !== undefined && preconditions.resourceVersion !== resourceVersion) {
    throw preconditionFailed(
      resource,
      name,
      `the ResourceVersion in the precondition (${preconditions.resourceVersion}) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`,
    );
  }
}

function detailsOf(resource: Resource, object: KubeObject): StatusDetails {
  const { name = '', uid = '' } = object.metadata;
  return { name, ...(resource.group ? { group: resource.group } : {}), kind: resource.plural, uid };
}
