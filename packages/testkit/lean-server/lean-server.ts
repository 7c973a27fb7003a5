import {
  type AdmissionRule,
  type ApiExtensions,
  asJson,
  asObject,
  type ExtensionGroup,
  type KubeObject,
  timestampOf,
} from '@sheaf/api';
import { AdmissionChain } from '@sheaf/apiserver/admission/chain';
import { defaultStorageClass } from '@sheaf/apiserver/admission/default-classes';
import { namespaceLifecycle } from '@sheaf/apiserver/admission/namespace-lifecycle';
import { defaultTolerations } from '@sheaf/apiserver/admission/pod-defaults';
import { priorityPlugin } from '@sheaf/apiserver/admission/priority';
import { serviceAccountPlugin } from '@sheaf/apiserver/admission/service-account';
import { claimResize, storageProtection } from '@sheaf/apiserver/admission/storage-rules';
import { admissionRules } from '@sheaf/apiserver/extension/admission-rules';
import { readDeleteOptions } from '@sheaf/apiserver/options/delete-options';
import type { Resource } from '@sheaf/apiserver/registry/resource';
import { bindPod, boundNode } from '@sheaf/apiserver/special/pod-binding';
import { isPod, removedPod } from '@sheaf/apiserver/verbs/delete';
import { methodNotAllowed, notFound, unknownResource } from '@sheaf/apiserver/verbs/errors';
import { patchValue } from '@sheaf/apiserver/verbs/patch';
import { readSelection, type Selection } from '@sheaf/apiserver/verbs/selection';
import { type Clock, type JsonObject, type JsonValue, type Random, StatusError } from '@sheaf/base';
import {
  Client,
  type ClientRequest,
  type ClientResponse,
  type InProcessUser,
  type Transport,
} from '@sheaf/client';
import type { NearWatch } from '../simulation/near-server.ts';
import { ValueStream } from '../simulation/value-stream.ts';
import { callEndpoint, LeanEndpoints } from './extension-call.ts';
import { KeptObjects } from './kept-objects.ts';
import { type LeanTarget, leanTarget } from './lean-target.ts';
import type { LeanTemplate } from './lean-template.ts';
import { watchKept } from './lean-watch.ts';
import { copyOf, type LeanSubject, LeanWrites } from './lean-writes.ts';
import { metadataOf } from './partial-metadata.ts';

export interface LeanServerOptions {
  readonly template: LeanTemplate;
  readonly clock: Clock;
  readonly random: Random;
  /** What features add to the API; the client works at once. */
  readonly extend?: (api: ApiExtensions, client: Client) => void;
  /** Kinds, by their plural, that nobody reads: what is written of them is answered, and not kept. */
  readonly unkept?: ReadonlySet<string>;
  /** The life before: what was kept in it is there again. */
  readonly last?: LeanServer | undefined;
}

export const leanAdmin: InProcessUser = {
  name: 'kubernetes-admin',
  groups: ['system:masters', 'system:authenticated'],
};

const metadataForm = 'as=PartialObjectMetadata';

/**
 * The API server without what costs it most of its time: no bytes, no bookkeeping of fields, no questions about rights. What it
 * lets in, changes, refuses and tells watchers is decided by the API server's own rules for kinds, by its own admission and by that of
 * features. Objects are shared with clients, who must not change them.
 */
export class LeanServer {
  readonly kept: KeptObjects;
  readonly #template: LeanTemplate;
  readonly #unkept: ReadonlySet<string>;
  readonly #writes: LeanWrites;
  readonly #endpoints: LeanEndpoints;
  readonly #clock: Clock;
  readonly #lifetime = new AbortController();

  constructor({ template, clock, random, extend, unkept = new Set(), last }: LeanServerOptions) {
    this.#template = template;
    this.#clock = clock;
    this.#unkept = unkept;
    this.kept = last?.kept ?? new KeptObjects(template.objects, template.revision);
    const groups: ExtensionGroup[] = [];
    const rules: AdmissionRule[] = [];
    // Routes are no resources: nobody here asks for them.
    const extensions: ApiExtensions = {
      addGroup: (group) => void groups.push(group),
      addRoute: () => undefined,
      addAdmission: (rule) => void rules.push(rule),
    };
    extend?.(extensions, this.clientAs(leanAdmin));
    const views = this.kept;
    const authorizer = { authorize: () => ({ decision: 'allow', reason: '' }) as const };
    const admission = new AdmissionChain([
      namespaceLifecycle(views),
      serviceAccountPlugin({ views, clock, random, defaultAccountWaitMs: 0 }),
      priorityPlugin(views),
      defaultTolerations(),
      defaultStorageClass(views),
      storageProtection(),
      claimResize(views),
      ...admissionRules(rules, { clock, random, views, authorizer }),
    ]);
    this.#endpoints = new LeanEndpoints(groups);
    this.#writes = new LeanWrites({ clock, random, kept: this.kept, admission });
  }

  clientAs(user: InProcessUser, userAgent = 'test'): Client {
    return new Client({ transport: this.transport(user), userAgent });
  }

  /** Its watches end; what is kept stays for the next life. */
  end(): void {
    this.#lifetime.abort(new Error('the server has ended'));
  }

  transport(user: InProcessUser): Transport {
    return {
      carriesValues: true,
      send: (request) => this.#send(request, user),
      close: () => undefined,
    };
  }

  /** A GET that is no watch. */
  read(request: ClientRequest): ClientResponse {
    try {
      this.#lifetime.signal.throwIfAborted();
      const discovery = this.#template.discovery.get(request.target);
      return discovery ? discoveryResponse(discovery, request) : this.#read(request);
    } catch (error) {
      return refusal(error);
    }
  }

  /** Tells what has happened since the version of the request, and what happens from now on. */
  watch(request: ClientRequest, tell: (event: unknown) => void): NearWatch {
    try {
      const target = leanTarget(request.target);
      const resource = this.#resourceOf(target);
      const isMeant = meant(resource, target);
      const from = Number(target?.query.get('resourceVersion') ?? '0');
      const kind = this.#writes.kindOf(resource);
      const stop = watchKept(this.kept, kind, { from, isMeant, shown: formOf(request), tell });
      return { response: valueResponse(200, undefined), stop };
    } catch (error) {
      return { response: refusal(error), stop: () => undefined };
    }
  }

  async #send(request: ClientRequest, user: InProcessUser): Promise<ClientResponse> {
    this.#lifetime.signal.throwIfAborted();
    request.signal?.throwIfAborted();
    try {
      return await this.#answer(request, user);
    } catch (error) {
      return refusal(error);
    }
  }

  async #answer(request: ClientRequest, user: InProcessUser): Promise<ClientResponse> {
    const target = leanTarget(request.target);
    const endpoint = target && this.#endpoints.find(target);
    if (endpoint) return callEndpoint(endpoint, target, { request, user });
    if (request.method === 'GET')
      return target?.query.get('watch') === 'true' ? this.#stream(request) : this.read(request);
    if (!target) throw unknownResource();
    if (this.#unkept.has(target.plural)) return valueResponse(200, bodyOf(request));
    const { namespace, name, subresource, query } = target;
    return this.#write(
      { resource: this.#resourceOf(target), namespace, name, subresource, user },
      request,
      query,
    );
  }

  /** @throws StatusError 404 */
  #resourceOf(target: LeanTarget | undefined): Resource {
    const resource =
      target && this.#template.resources.get(`${target.group}/${target.version}/${target.plural}`);
    if (!resource) throw unknownResource();
    return resource;
  }

  #read(request: ClientRequest): ClientResponse {
    const target = leanTarget(request.target);
    const resource = this.#resourceOf(target);
    const { namespace = '', name = '' } = target ?? {};
    const kind = this.#writes.kindOf(resource);
    const shown = formOf(request);
    if (name !== '') {
      const found = kind.get(namespace, name);
      if (!found) throw notFound(resource, name);
      return valueResponse(200, shown(found));
    }
    const items = kind.list().filter(meant(resource, target));
    const metadata = { resourceVersion: String(this.kept.revision) };
    return valueResponse(200, { kind: resource.listKind, metadata, items: items.map(shown) });
  }

  /** A watch for who reads it by himself. */
  #stream(request: ClientRequest): ClientResponse {
    const { signal } = request;
    const stream = new ValueStream<unknown>();
    const { response, stop } = this.watch(request, (event) => stream.push(event));
    const end = (): void => {
      stop();
      stream.end(signal?.reason instanceof Error ? signal.reason : undefined);
    };
    signal?.addEventListener('abort', end, { once: true });
    return { ...response, values: () => stream.values() };
  }

  async #write(
    subject: LeanSubject,
    request: ClientRequest,
    query: URLSearchParams,
  ): Promise<ClientResponse> {
    switch (request.method) {
      case 'POST':
        return valueResponse(201, await this.#post(subject, bodyOf(request)));
      case 'PUT':
        return valueResponse(200, await this.#update(subject, bodyOf(request)));
      case 'PATCH':
        return valueResponse(200, await this.#patch(subject, request));
      case 'DELETE':
        return valueResponse(200, await this.#delete(subject, bodyOf(request), query));
      default:
        throw methodNotAllowed();
    }
  }

  async #post(subject: LeanSubject, value: JsonValue): Promise<unknown> {
    if (subject.subresource === '') return this.#writes.create(subject, value);
    if (subject.subresource !== 'binding') throw methodNotAllowed();
    const binding = asObject({ metadata: {}, ...(value as JsonObject) });
    const node = boundNode(binding);
    const { annotations } = binding.metadata;
    const now = timestampOf(this.#clock);
    await this.#writes.change(subject, (pod) => bindPod(copyOf(pod), { node, now, annotations }), false);
    return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };
  }

  #update(subject: LeanSubject, value: JsonValue): Promise<KubeObject> {
    const sent = this.#writes.conform(subject, value);
    return this.#writes.change(
      subject,
      (current) => (subject.subresource === 'finalize' ? takeFinalizers(copyOf(current), sent) : sent),
      false,
    );
  }

  #patch(subject: LeanSubject, request: ClientRequest): Promise<KubeObject> {
    const type = request.headers['content-type'] ?? '';
    const patch = bodyOf(request);
    const make = (current: KubeObject): KubeObject =>
      this.#writes.conform(subject, patchValue(subject.resource, { type, current: copyOf(current), patch }));
    return this.#writes.change(subject, make, true);
  }

  async #delete(subject: LeanSubject, body: JsonValue, query: URLSearchParams): Promise<unknown> {
    const options = readDeleteOptions(body as JsonObject, query);
    const { resource, namespace } = subject;
    if (subject.name === '') {
      const items = this.#writes.kindOf(resource).list(namespace === '' ? undefined : namespace);
      // One that is refused keeps none of the others.
      await Promise.all(
        items.map(({ metadata: { namespace: place = '', name = '' } }) =>
          this.#writes.delete({ ...subject, namespace: place, name }, options).catch(ignoreGone),
        ),
      );
      return { kind: resource.listKind, metadata: {}, items };
    }
    const deletion = await this.#writes.delete(subject, options);
    if (!deletion.isGone) return deletion.object;
    if (isPod(resource)) return removedPod(deletion.last, this.#clock);
    if (resource.strategy.isShownWhenDeleted) return deletion.last;
    const { name = '', uid = '' } = deletion.last.metadata;
    const group = resource.group === '' ? {} : { group: resource.group };
    const details = { name, ...group, kind: resource.plural, uid };
    return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details };
  }
}

function ignoreGone(error: unknown): void {
  if (!StatusError.is(error, 'NotFound')) throw error;
}

/** What holds a namespace until its contents are gone is a field of its spec. */
function takeFinalizers(current: KubeObject, sent: KubeObject): KubeObject {
  const { finalizers } = (sent['spec'] ?? {}) as { readonly finalizers?: JsonValue[] };
  const spec: JsonObject = { ...(current['spec'] as JsonObject | undefined) };
  if (finalizers && finalizers.length > 0) spec['finalizers'] = finalizers;
  else delete spec['finalizers'];
  asJson(current)['spec'] = spec;
  if (sent.metadata.resourceVersion) current.metadata.resourceVersion = sent.metadata.resourceVersion;
  return current;
}

function selectionOf(resource: Resource, query: URLSearchParams): Selection | undefined {
  if (!query.has('labelSelector') && !query.has('fieldSelector')) return undefined;
  return readSelection(resource, { query, name: '' });
}

function bodyOf({ value, body }: ClientRequest): JsonValue {
  return value ?? (JSON.parse(body || '{}') as JsonValue);
}

function discoveryResponse(
  { etag, value }: { readonly etag: string; readonly value: JsonObject },
  { headers }: ClientRequest,
): ClientResponse {
  if (headers['if-none-match'] === etag) return { ...valueResponse(304, undefined), headers: { etag } };
  return { ...valueResponse(200, value), headers: { etag } };
}

/** How objects are shown to who has asked. */
function formOf({ headers }: ClientRequest): (object: KubeObject) => KubeObject {
  return headers['accept']?.includes(metadataForm) ? metadataOf : same;
}

function same(object: KubeObject): KubeObject {
  return object;
}

/** Which objects a request for several is about. */
function meant(resource: Resource, target: LeanTarget | undefined): (object: KubeObject) => boolean {
  const { namespace = '', query = noQuery } = target ?? {};
  const selection = selectionOf(resource, query);
  if (namespace === '' && !selection) return () => true;
  return (object) =>
    (namespace === '' || object.metadata.namespace === namespace) && selection?.matches(object) !== false;
}

/** @throws unknown what no client is told */
function refusal(error: unknown): ClientResponse {
  if (StatusError.is(error)) return valueResponse(error.code, error.toStatus());
  throw error;
}

const noQuery = new URLSearchParams();
const noHeaders = {};

function valueResponse(status: number, value: unknown): ClientResponse {
  return {
    status,
    headers: noHeaders,
    value,
    text: () => Promise.resolve(JSON.stringify(value)),
    lines: () => {
      throw new Error('a lean server answers with values; ask for those');
    },
  };
}
