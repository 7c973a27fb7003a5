import type { KubeObject } from '@sheaf/api';
import { invalidObject } from '@sheaf/api';
import { DisposableStore, StatusError } from '@sheaf/base';
import { RevisionConflict } from '@sheaf/store';
import { readObjectBody } from '../decoding/request-body.ts';
import {
  managerName,
  readWriteOptions,
  toOptionsObject,
  type WriteOptions,
} from '../options/write-options.ts';
import { headerOf, type ResourceContext } from '../pipeline/request-context.ts';
import type { Resource } from '../registry/resource.ts';
import { ServedObject, serveEntry } from '../representation/served-object.ts';
import type { ResourceStore } from '../storage/resource-store.ts';
import { alreadyExists } from './errors.ts';
import { cannotBeHandled, conformIncoming, placeInNamespace } from './incoming-object.ts';
import { generateName, prepareNewMetadata } from './new-metadata.ts';
import { dropRepeatedOwners } from './owner-references.ts';
import { bookOwnership } from './ownership.ts';
import { metadataErrors } from './validate-metadata.ts';
import { admissionRequest, type WriteParts } from './write-parts.ts';

/** How many names are tried for one `generateName`. */
const generateAttempts = 8;

/** POST on a collection. */
export async function createObject(
  context: ResourceContext,
  resource: Resource,
  parts: WriteParts,
): Promise<ServedObject> {
  const options = readWriteOptions(context.query, 'CreateOptions');
  const { json, duplicateFields } = await readObjectBody(context.request, resource);
  const object = conformIncoming(context, resource, {
    json,
    fieldValidation: options.fieldValidation,
    duplicateFields,
  });
  placeInNamespace(context, resource, object);
  return createConformed(context, resource, { object, options, parts });
}

export interface NewObject {
  readonly object: KubeObject;
  readonly options: WriteOptions;
  readonly parts: WriteParts;
  /** Set when the fields are already booked, as server-side apply does. */
  readonly isOwned?: boolean;
}

/** The way of every new object, from whichever verb: defaults, admission, checks, commit. */
export async function createConformed(
  context: ResourceContext,
  resource: Resource,
  input: NewObject,
): Promise<ServedObject> {
  const { object, options, parts } = input;
  prepareNewMetadata(object, parts);
  dropRepeatedOwners(object, context.warnings);
  const generated = !object.metadata.name && object.metadata.generateName;
  if (generated) object.metadata.name = generateName(generated, parts.random);
  if (!input.isOwned) bookAsSent(context, resource, input);
  resource.strategy.prepareForCreate(object);
  resource.strategy.applyDefaults(object);
  const lifetime = new DisposableStore();
  try {
    const admitted = await admitNew(context, resource, { ...input, lifetime, generated });
    return await keepNew(resource, admitted, { options, parts, generated });
  } finally {
    lifetime.dispose();
  }
}

/** What the client has sent and its defaults are its own; what the kind or admission adds after that is nobody's. */
function bookAsSent(
  context: ResourceContext,
  resource: Resource,
  { object, options, parts }: NewObject,
): void {
  resource.strategy.applyDefaults(object);
  const manager = managerName(options, headerOf(context.request, 'user-agent'));
  bookOwnership({ resource, manager, subresource: '', clock: parts.clock }, undefined, object);
}

interface NewName {
  readonly options: WriteOptions;
  readonly parts: WriteParts;
  /** The `generateName` that the name was made of, if it was. */
  readonly generated: string | false | undefined;
}

async function keepNew(resource: Resource, admitted: KubeObject, input: NewName): Promise<ServedObject> {
  const { options, parts, generated } = input;
  for (let attempt = 1; ; attempt++) {
    try {
      return options.dryRun ? dryRunResult(resource, admitted) : await commitNew(resource, admitted);
    } catch (error) {
      if (!(error instanceof RevisionConflict)) throw error;
      if (!generated || attempt === generateAttempts) throw nameTaken(resource, admitted, Boolean(generated));
      admitted.metadata.name = generateName(generated, parts.random);
    }
  }
}

async function admitNew(
  context: ResourceContext,
  resource: Resource,
  input: NewObject & Pick<NewName, 'generated'> & { lifetime: DisposableStore },
): Promise<KubeObject> {
  const { options, parts, lifetime } = input;
  const { strategy } = resource;
  const request = admissionRequest(context, resource, {
    operation: 'CREATE',
    object: input.object,
    oldObject: undefined,
    options: toOptionsObject(options, 'CreateOptions'),
    dryRun: options.dryRun,
    lifetime,
  });
  const { uid = '', creationTimestamp = null } = input.object.metadata;
  // The same refusal has the same words, however often a controller asks.
  request.namePrefix = input.generated || undefined;
  await parts.admission.mutate(request);
  request.namePrefix = undefined;
  let object = request.object ?? input.object;
  if (object !== input.object) {
    // A webhook's patch may have brought what the kind does not know, or taken away what has a default.
    object = strategy.conform(object).object;
    strategy.applyDefaults(object);
    Object.assign(object.metadata, { uid, creationTimestamp });
    request.object = object;
  }
  parts.admission.allocate(request);
  checkNew(resource, object);
  for (const text of strategy.warnings(object, undefined)) context.warnings.add(text);
  await parts.admission.validate(request);
  return object;
}

/** @throws StatusError 422 for what a new object may not be */
export function checkNew(resource: Resource, object: KubeObject): void {
  const errors = [...metadataErrors(resource, object), ...resource.strategy.validateCreate(object)];
  if (errors.length === 0) return;
  throw invalidObject(
    { kind: resource.kind, group: resource.group, name: object.metadata.name ?? '' },
    errors,
  );
}

async function commitNew(resource: Resource, object: KubeObject): Promise<ServedObject> {
  const store = storeOf(resource);
  const kept = await resource.strategy.toStorage(object);
  const place = { namespace: object.metadata.namespace ?? '', name: object.metadata.name ?? '' };
  if (store.get(place)) throw new RevisionConflict(place.name, store.get(place)?.revision ?? 0);
  return serveEntry(resource, await store.create(place, kept));
}

function dryRunResult(resource: Resource, object: KubeObject): ServedObject {
  const place = { namespace: object.metadata.namespace ?? '', name: object.metadata.name ?? '' };
  const existing = storeOf(resource).get(place);
  if (existing) throw new RevisionConflict(place.name, existing.revision);
  return ServedObject.fresh(resource, object);
}

function nameTaken(resource: Resource, object: KubeObject, isGenerated: boolean): StatusError {
  const name = object.metadata.name ?? '';
  const existing = storeOf(resource).get({ namespace: object.metadata.namespace ?? '', name });
  const taken = alreadyExists(resource, name, existing?.object.metadata.deletionTimestamp !== undefined);
  if (!isGenerated) return taken;
  return new StatusError({
    reason: 'AlreadyExists',
    message: `${taken.message}, the server was not able to generate a unique name for the object`,
    details: { ...taken.details, retryAfterSeconds: 1 },
  });
}

/** @throws StatusError 400 for kinds that are only asked, never kept */
export function storeOf(resource: Resource): ResourceStore {
  if (!resource.store) throw cannotBeHandled(resource, 'objects of this kind are not kept');
  return resource.store;
}
