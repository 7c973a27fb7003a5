import { type KubeObject, toApiVersion } from '@sheaf/api';
import { type ByteStream, type JsonObject, type JsonValue, StatusError } from '@sheaf/base';
import { statusErrorOf, toStatusError } from './status-error.ts';
import type { ClientRequest, ClientResponse, ConnectRequest, Transport } from './transport.ts';
import { type WatchEvent, watchEvents } from './watch-events.ts';

/** A resource as the client addresses it. `T` is the shape of its objects. */
export interface ResourceRef<T extends KubeObject = KubeObject> {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** Never set; carries the type. */
  readonly type?: T;
}

export interface ObjectRef {
  /** Empty at cluster scope. */
  readonly namespace?: string;
  readonly name: string;
}

export interface ListQuery {
  /** Absent: all namespaces. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan';
  /** Objects a page; `list` reads all pages. */
  readonly limit?: number;
  /** Only `metadata` of each object is sent. */
  readonly metadataOnly?: boolean;
  readonly signal?: AbortSignal;
}

export interface WatchOptions extends ListQuery {
  readonly sendInitialEvents?: boolean;
  readonly timeoutSeconds?: number;
}

export interface ObjectList<T> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
}

export interface WriteQuery {
  readonly fieldManager?: string;
  readonly dryRun?: boolean;
  /** '' or e.g. `status`. */
  readonly subresource?: string;
  readonly signal?: AbortSignal;
}

export interface ApplyQuery extends WriteQuery {
  readonly force?: boolean;
}

export interface DeleteQuery {
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
  readonly gracePeriodSeconds?: number;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly signal?: AbortSignal;
}

export type PatchType = 'json' | 'merge' | 'strategic';

const patchTypes: Readonly<Record<PatchType, string>> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
};

const metadataTypes = {
  one: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
  list: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1',
} as const;

export interface ClientOptions {
  readonly transport: Transport;
  /** The User-Agent; its part before `/` is the field manager of writes without one. */
  readonly userAgent: string;
}

/** A typed client of any Kubernetes API. All failures of the server are StatusErrors with its exact reason. */
export class Client {
  readonly #options: ClientOptions;

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  /** @throws StatusError NotFound … */
  async get<T extends KubeObject>(
    resource: ResourceRef<T>,
    ref: ObjectRef,
    signal?: AbortSignal,
  ): Promise<T> {
    return this.#json<T>({ method: 'GET', target: pathOf(resource, ref), ...withSignal(signal) });
  }

  /** The object's `metadata` alone; `undefined` if there is no such object. @throws StatusError NotFound if its kind is not served */
  async findMetadata(
    resource: ResourceRef,
    ref: ObjectRef,
    signal?: AbortSignal,
  ): Promise<KubeObject | undefined> {
    const target = pathOf(resource, ref);
    const headers = { accept: metadataTypes.one };
    const answer = this.#json<KubeObject>({ method: 'GET', target, headers, ...withSignal(signal) });
    return orUndefined(answer, ref);
  }

  /** `undefined` if there is no such object. @throws StatusError NotFound if its kind is not served */
  async find<T extends KubeObject>(
    resource: ResourceRef<T>,
    ref: ObjectRef,
    signal?: AbortSignal,
  ): Promise<T | undefined> {
    return orUndefined(this.get(resource, ref, signal), ref);
  }

  /** All objects of all pages, of one consistent state. Items carry kind and apiVersion. */
  async list<T extends KubeObject>(resource: ResourceRef<T>, query: ListQuery = {}): Promise<ObjectList<T>> {
    const items: T[] = [];
    let token = '';
    for (;;) {
      const target = `${collectionOf(resource, query.namespace)}${listParameters(query, token)}`;
      const page = await this.#json<KubeObject & { items?: T[] }>({
        method: 'GET',
        target,
        ...(query.metadataOnly ? { headers: { accept: metadataTypes.list } } : {}),
        ...withSignal(query.signal),
      });
      for (const item of page.items ?? []) items.push({ ...item, ...typeOf(resource) });
      const meta = page.metadata as { resourceVersion?: string; continue?: string };
      if (!meta.continue) return { items, resourceVersion: meta.resourceVersion ?? '' };
      token = meta.continue;
    }
  }

  /** Events after `query.resourceVersion`, until the server or the signal ends the watch. @throws StatusError Expired … */
  watch<T extends KubeObject>(
    resource: ResourceRef<T>,
    query: WatchOptions = {},
  ): AsyncIterable<WatchEvent<T>> {
    const parameters = listParameters(query, '', {
      watch: 'true',
      allowWatchBookmarks: 'true',
      ...watchParameters(query),
    });
    const target = `${collectionOf(resource, query.namespace)}${parameters}`;
    const headers = query.metadataOnly ? { accept: metadataTypes.one } : {};
    return watchEvents<T>(async () =>
      this.#checked({ method: 'GET', target, headers, ...withSignal(query.signal) }),
    );
  }

  create<T extends KubeObject>(resource: ResourceRef<T>, object: T, query: WriteQuery = {}): Promise<T> {
    const body = { ...typeOf(resource), ...object };
    const target = `${collectionOf(resource, object.metadata.namespace)}${writeParameters(query)}`;
    return this.#json<T>({ method: 'POST', target, ...this.#written(body), ...withSignal(query.signal) });
  }

  update<T extends KubeObject>(resource: ResourceRef<T>, object: T, query: WriteQuery = {}): Promise<T> {
    const body = { ...typeOf(resource), ...object };
    const target = `${pathOf(resource, refOf(object), query.subresource)}${writeParameters(query)}`;
    return this.#json<T>({ method: 'PUT', target, ...this.#written(body), ...withSignal(query.signal) });
  }

  updateStatus<T extends KubeObject>(
    resource: ResourceRef<T>,
    object: T,
    query: WriteQuery = {},
  ): Promise<T> {
    return this.update(resource, object, { ...query, subresource: 'status' });
  }

  patch<T extends KubeObject>(
    resource: ResourceRef<T>,
    ref: ObjectRef,
    patch: { readonly type: PatchType; readonly body: JsonValue } & WriteQuery,
  ): Promise<T> {
    const target = `${pathOf(resource, ref, patch.subresource)}${writeParameters(patch)}`;
    const headers = { 'content-type': patchTypes[patch.type] };
    return this.#json<T>({
      method: 'PATCH',
      target,
      headers,
      ...this.#written(patch.body),
      ...withSignal(patch.signal),
    });
  }

  /** Server-side apply. */
  apply<T extends KubeObject>(resource: ResourceRef<T>, object: T, query: ApplyQuery): Promise<T> {
    const target = `${pathOf(resource, refOf(object), query.subresource)}${writeParameters(query, query.force ? { force: 'true' } : undefined)}`;
    const headers = { 'content-type': 'application/apply-patch+yaml' };
    const body = this.#written({ ...typeOf(resource), ...object });
    return this.#json<T>({ method: 'PATCH', target, headers, ...body, ...withSignal(query.signal) });
  }

  /** The Status of a deletion that is done, or the object that waits for its finalizers. */
  delete(resource: ResourceRef, ref: ObjectRef, query: DeleteQuery = {}): Promise<KubeObject> {
    return this.#json<KubeObject>({
      method: 'DELETE',
      target: pathOf(resource, ref),
      ...this.#written(deleteBody(query)),
      ...withSignal(query.signal),
    });
  }

  deleteCollection(
    resource: ResourceRef,
    query: ListQuery = {},
    options: DeleteQuery = {},
  ): Promise<KubeObject> {
    const target = `${collectionOf(resource, query.namespace)}${listParameters(query, '')}`;
    return this.#json<KubeObject>({
      method: 'DELETE',
      target,
      ...this.#written(deleteBody(options)),
      ...withSignal(query.signal),
    });
  }

  /** Any path of the server as JSON: discovery, health with `?verbose` is text and goes through `text`. */
  raw(target: string, request: Partial<Omit<ClientRequest, 'target'>> = {}): Promise<JsonObject> {
    return this.#json<KubeObject>({ method: 'GET', ...request, target }) as unknown as Promise<JsonObject>;
  }

  /** Any request; the answer whatever its status. */
  send(request: Pick<ClientRequest, 'method' | 'target'> & Partial<ClientRequest>): Promise<ClientResponse> {
    const headers = { 'user-agent': this.#options.userAgent, ...request.headers };
    return this.#options.transport.send({ ...request, headers });
  }

  /** A console, a screen, a port: see `Transport.connect`. Whoever gets the stream disposes it. */
  connect(target: string, request: Partial<Omit<ConnectRequest, 'target'>> = {}): Promise<ByteStream> {
    const { transport, userAgent } = this.#options;
    if (!transport.connect) throw new Error('this way to the server carries no two-way streams');
    return transport.connect({
      ...request,
      target,
      headers: { 'user-agent': userAgent, ...request.headers },
    });
  }

  /** Any path of the server, as bytes: a picture, a log that goes on. @throws StatusError */
  download(target: string, signal?: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    const { transport, userAgent } = this.#options;
    if (!transport.download) throw new Error('this way to the server carries no bytes as they come');
    const headers = { accept: '*/*', 'user-agent': userAgent };
    return transport.download({ target, headers, ...withSignal(signal) });
  }

  async text(target: string, signal?: AbortSignal): Promise<string> {
    return (
      await this.#checked({ method: 'GET', target, headers: { accept: '*/*' }, ...withSignal(signal) })
    ).text();
  }

  async #json<T>(request: Partial<ClientRequest> & { method: string; target: string }): Promise<T> {
    const response = await this.#checked(request);
    return (response.value ?? JSON.parse(await response.text())) as T;
  }

  #written(body: unknown): Pick<ClientRequest, 'body' | 'value'> {
    if (this.#options.transport.carriesValues) return { value: body as JsonValue };
    return { body: JSON.stringify(body) };
  }

  async #checked(
    request: Partial<ClientRequest> & { method: string; target: string },
  ): Promise<ClientResponse> {
    const headers: Record<string, string> = {
      accept: 'application/json',
      'user-agent': this.#options.userAgent,
      ...request.headers,
    };
    if (request.body !== undefined) headers['content-type'] ??= 'application/json';
    const response = await this.#options.transport.send({ ...request, headers });
    if (response.status < 400) return response;
    if (response.value) throw statusErrorOf(response.status, response.value);
    throw toStatusError(response.status, await response.text());
  }
}

/** Only the object may be missing: that its kind is not served says nothing about the object. */
async function orUndefined<T>(answer: Promise<T>, { name }: ObjectRef): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (StatusError.is(error, 'NotFound') && error.details?.name === name) return undefined;
    throw error;
  }
}

function typeOf(resource: ResourceRef): { kind: string; apiVersion: string } {
  return { kind: resource.kind, apiVersion: toApiVersion(resource.group, resource.version) };
}

export function refOf(object: KubeObject): ObjectRef {
  const { namespace, name = '' } = object.metadata;
  return namespace === undefined ? { name } : { namespace, name };
}

function collectionOf(resource: ResourceRef, namespace: string | undefined): string {
  const root =
    resource.group === '' ? `/api/${resource.version}` : `/apis/${resource.group}/${resource.version}`;
  const inside = resource.namespaced && namespace ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  return `${root}${inside}/${resource.plural}`;
}

function pathOf(resource: ResourceRef, ref: ObjectRef, subresource = ''): string {
  const path = `${collectionOf(resource, ref.namespace)}/${encodeURIComponent(ref.name)}`;
  return subresource === '' ? path : `${path}/${subresource}`;
}

function listParameters(query: ListQuery, token: string, extra: Record<string, string> = {}): string {
  const parameters = new URLSearchParams(extra);
  for (const field of ['labelSelector', 'fieldSelector'] as const)
    if (query[field]) parameters.set(field, query[field]);
  if (query.limit) parameters.set('limit', String(query.limit));
  if (token !== '') parameters.set('continue', token);
  else if (query.resourceVersion !== undefined) parameters.set('resourceVersion', query.resourceVersion);
  if (token === '' && query.resourceVersionMatch)
    parameters.set('resourceVersionMatch', query.resourceVersionMatch);
  return textOf(parameters);
}

function watchParameters(query: WatchOptions): Record<string, string> {
  return {
    ...(query.sendInitialEvents ? { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan' } : {}),
    ...(query.timeoutSeconds ? { timeoutSeconds: String(query.timeoutSeconds) } : {}),
  };
}

function writeParameters(query: WriteQuery, extra?: Record<string, string>): string {
  if (!query.fieldManager && !query.dryRun && !extra) return '';
  const parameters = new URLSearchParams(extra);
  if (query.fieldManager) parameters.set('fieldManager', query.fieldManager);
  if (query.dryRun) parameters.set('dryRun', 'All');
  return textOf(parameters);
}

function textOf(parameters: URLSearchParams): string {
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
}

function deleteBody(query: DeleteQuery): object {
  const { propagationPolicy, gracePeriodSeconds, uid, resourceVersion } = query;
  const preconditions = { ...(uid ? { uid } : {}), ...(resourceVersion ? { resourceVersion } : {}) };
  return {
    kind: 'DeleteOptions',
    apiVersion: 'v1',
    ...(propagationPolicy ? { propagationPolicy } : {}),
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    ...(Object.keys(preconditions).length > 0 ? { preconditions } : {}),
  };
}

function withSignal(signal: AbortSignal | undefined): { signal?: AbortSignal } {
  return signal ? { signal } : {};
}
