import type { JsonObject, StatusDetails, StatusError } from '@sheaf/base';
import type { Resource } from '../registry/resource.ts';
import type { ResourceRegistry } from '../registry/resource-registry.ts';
import { negotiate, negotiateFormat, watchable } from '../representation/negotiate.ts';
import type { Representation } from '../representation/representation.ts';
import type { ServedObject } from '../representation/served-object.ts';
import { createObject } from '../verbs/create.ts';
import { deleteObject } from '../verbs/delete.ts';
import { deleteCollection } from '../verbs/delete-collection.ts';
import { cannotBeWatched, methodNotAllowed, notFound, unknownResource } from '../verbs/errors.ts';
import { getObject, type ReadParts } from '../verbs/get.ts';
import { type ListResult, listObjects } from '../verbs/list.ts';
import { patchObject } from '../verbs/patch.ts';
import { updateObject, type WriteResult } from '../verbs/update.ts';
import { type WatchParts, watchObjects } from '../verbs/watch.ts';
import type { WriteParts } from '../verbs/write-parts.ts';
import type { ApiResponse } from './api-request.ts';
import { headerOf, type ResourceContext } from './request-context.ts';
import { bytesResponse, pageNotFound } from './responses.ts';
import { type SpecialHandlers, specialKey } from './special-handler.ts';

export interface ResourceHandlerParts extends WriteParts, ReadParts, WatchParts {
  readonly registry: ResourceRegistry;
  readonly special: SpecialHandlers;
  readonly random: WriteParts['random'];
}

/** Answers everything below `/api/v1/` and `/apis/GROUP/VERSION/` that is a registered resource. */
export class ResourceHandler {
  readonly #parts: ResourceHandlerParts;

  constructor(parts: ResourceHandlerParts) {
    this.#parts = parts;
  }

  async handle(context: ResourceContext): Promise<ApiResponse> {
    const { group, version, resource: plural, subresource } = context.info;
    const resource = this.#parts.registry.find(group, version, plural);
    if (!resource) {
      if (!this.#parts.registry.hasBuiltinGroup(group)) return pageNotFound();
      throw unknownResource();
    }
    if (!isInScope(context, resource)) return outOfScope(resource);
    if (resource.deprecationWarning) context.warnings.add(resource.deprecationWarning);
    if (resource.store && !resource.store.isLoaded) await resource.store.load();
    const special = this.#parts.special.get(specialKey(group, plural, subresource));
    if (special) return special(context, resource);
    if (subresource !== '') checkSubresource(context, resource);
    return this.#answer(context, resource);
  }

  async #answer(context: ResourceContext, resource: Resource): Promise<ApiResponse> {
    if (!isAllowed(context, resource)) throw notServed(context, resource);
    // What cannot be answered is refused before anything is done.
    const form = negotiate(resource, this.#negotiation(context));
    switch (context.info.verb) {
      case 'get':
        return one(form, await getObject(context, resource, this.#parts));
      case 'list':
        return list(form, await listObjects(context, resource, this.#parts));
      case 'watch':
        return this.#watch(context, resource, form);
      case 'create':
        return one(form, await createObject(context, resource, this.#parts), 201);
      case 'update':
        return written(form, await updateObject(context, resource, this.#parts));
      case 'patch':
        return written(form, await patchObject(context, resource, this.#parts));
      case 'delete':
        return this.#delete(context, resource, form);
      case 'deletecollection':
        return list(form, await deleteCollection(context, resource, this.#parts));
      default:
        throw methodNotAllowed();
    }
  }

  async #delete(context: ResourceContext, resource: Resource, form: Representation): Promise<ApiResponse> {
    const result = await deleteObject(context, resource, this.#parts);
    if ('pending' in result) return one(form, result.pending);
    if (resource.strategy.isShownWhenDeleted) return one(form, result.last);
    const format = negotiateFormat(this.#negotiation(context), true);
    return bytesResponse(200, format.contentType, format.encode(successStatus(result.gone)));
  }

  #watch(context: ResourceContext, resource: Resource, representation: Representation): ApiResponse {
    watchable(representation);
    const errorFormat = negotiateFormat(this.#negotiation(context), true);
    const body = watchObjects(context, resource, {
      parts: this.#parts,
      form: { representation, errorFormat },
    });
    return { status: 200, headers: { 'content-type': representation.watchContentType }, body };
  }

  #negotiation(context: ResourceContext): Parameters<typeof negotiate>[1] {
    return {
      accept: headerOf(context.request, 'accept'),
      userAgent: headerOf(context.request, 'user-agent'),
      query: context.query,
      clock: this.#parts.clock,
      isCollection: context.info.verb === 'list' || context.info.verb === 'watch',
    };
  }
}

function one(form: Representation, served: ServedObject, status = 200): ApiResponse {
  return bytesResponse(status, form.contentType, form.one(served));
}

function written(form: Representation, { served, isCreated }: WriteResult): ApiResponse {
  return one(form, served, isCreated ? 201 : 200);
}

function list(form: Representation, { items, meta }: ListResult): ApiResponse {
  return bytesResponse(200, form.contentType, form.list(items, meta));
}

function successStatus(details: StatusDetails): JsonObject {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: { ...details } as JsonObject,
  };
}

/** A namespaced resource may be listed and watched everywhere, but its objects are only in a namespace. */
function isInScope({ info }: ResourceContext, resource: Resource): boolean {
  if (resource.namespaced) return info.namespace !== '' || info.name === '';
  return info.namespace === '' || (resource.group === '' && resource.plural === 'namespaces');
}

function outOfScope(resource: Resource): ApiResponse {
  if (!resource.isBuiltin) return pageNotFound();
  throw unknownResource();
}

function checkSubresource({ info }: ResourceContext, resource: Resource): void {
  const subresource = resource.subresources.get(info.subresource);
  if (subresource?.name === 'status') return;
  throw resource.isBuiltin ? unknownResource() : notFound(resource, info.name);
}

function isAllowed({ info, request }: ResourceContext, resource: Resource): boolean {
  if (request.method === 'HEAD') return false;
  const { verb, subresource } = info;
  if (subresource !== '') return resource.subresources.get(subresource)?.verbs.includes(verb) ?? false;
  return (resource.verbs as readonly string[]).includes(verb) && fitsTarget(info, resource);
}

function notServed({ info, request }: ResourceContext, resource: Resource): StatusError {
  const isUnwatchable = info.verb === 'watch' && request.method === 'GET';
  return isUnwatchable ? cannotBeWatched(resource) : methodNotAllowed();
}

/** Some verbs are for collections, others for names; a namespaced object is made in a namespace. */
function fitsTarget({ verb, name, namespace }: ResourceContext['info'], resource: Resource): boolean {
  if (verb === 'watch') return true;
  if (verb === 'list') return name === '';
  const needsNamespace = resource.namespaced && namespace === '';
  if (verb === 'create' || verb === 'deletecollection') return name === '' && !needsNamespace;
  return name !== '';
}
