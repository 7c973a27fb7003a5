import {
  asJson,
  asObject,
  type GroupVersionKind,
  type GroupVersionResource,
  type KubeObject,
  parseApiVersion,
  type TypeSchema,
} from '@sheaf/api';
import { jsonClone } from '@sheaf/base';
import type { Resource } from '../registry/resource.ts';
import type { ResourceRegistry } from '../registry/resource-registry.ts';
import { serveEntry } from '../representation/served-object.ts';
import type { AdmissionRequest } from './plugin.ts';

/** Another version or group under which the objects of a request are served. */
export interface ServedVersion {
  readonly resource: GroupVersionResource;
  readonly kind: GroupVersionKind;
  /** From the version of the request. Shares nothing that may be changed. */
  convert(object: KubeObject): Promise<KubeObject>;
  /** To the version of the request. */
  convertBack(object: KubeObject): Promise<KubeObject>;
}

/** Objects of a kind that policies take parameters from. */
export interface ParameterKind {
  readonly namespaced: boolean;
  get(namespace: string, name: string): Promise<KubeObject | undefined>;
  list(namespace: string): Promise<readonly KubeObject[]>;
}

/** What admission must know of the kinds it looks at. */
export interface ServedKinds {
  /** The other versions of the object of a request. */
  versionsOf(request: AdmissionRequest): readonly ServedVersion[];
  /** A changed object in the shape of its kind, with defaults. @throws StatusError 400 if it does not fit */
  complete(request: AdmissionRequest, object: KubeObject): KubeObject;
  /** The shape of a served kind; `undefined`: nothing is known of it. */
  schemaOf(resource: GroupVersionResource): TypeSchema | undefined;
  /** `apiVersion` as objects have it. */
  findParameterKind(apiVersion: string, kind: string): ParameterKind | undefined;
  /** How many objects of a resource there are in a namespace. */
  count(resource: GroupVersionResource, namespace: string): number;
  /** Whether the write that a request asks for is visible already. */
  isWritten(request: AdmissionRequest): boolean;
}

/** Reads them from the registry. */
export class RegistryKinds implements ServedKinds {
  readonly #registry: ResourceRegistry;
  readonly #siblings = new Map<Resource, readonly Resource[]>();
  #version = -1;

  constructor(registry: ResourceRegistry) {
    this.#registry = registry;
  }

  versionsOf(request: AdmissionRequest): readonly ServedVersion[] {
    const own = this.#find(request);
    if (!own) return [];
    return this.#siblingsOf(own).map((other) => servedVersion(request, own, other));
  }

  complete(request: AdmissionRequest, object: KubeObject): KubeObject {
    const own = this.#find(request);
    if (!own || own.kind !== request.kind.kind) return object;
    const { object: conformed } = own.strategy.conform(object);
    own.strategy.applyDefaults(conformed);
    return conformed;
  }

  schemaOf({ group, version, resource }: GroupVersionResource): TypeSchema | undefined {
    return this.#registry.find(group, version, resource)?.strategy.typeSchema;
  }

  findParameterKind(apiVersion: string, kind: string): ParameterKind | undefined {
    const { group, version } = parseApiVersion(apiVersion);
    const resource = this.#registry.findKind(group, version, kind);
    return resource && parameterKind(resource);
  }

  count({ group, version, resource }: GroupVersionResource, namespace: string): number {
    let count = 0;
    for (const _ of this.#registry.find(group, version, resource)?.store?.entries(namespace) ?? []) count++;
    return count;
  }

  isWritten(request: AdmissionRequest): boolean {
    const { metadata } = request.object ?? { metadata: {} };
    const place = { namespace: metadata.namespace ?? '', name: metadata.name ?? '' };
    const entry = this.#find(request)?.store?.get(place);
    if (!entry) return false;
    const before = request.oldObject?.metadata.resourceVersion;
    if (before !== undefined) return String(entry.revision) !== before;
    return entry.object.metadata.uid === metadata.uid;
  }

  #find({ resource }: AdmissionRequest): Resource | undefined {
    return this.#registry.find(resource.group, resource.version, resource.resource);
  }

  #siblingsOf(own: Resource): readonly Resource[] {
    if (this.#version !== this.#registry.version) {
      this.#version = this.#registry.version;
      this.#siblings.clear();
    }
    let siblings = this.#siblings.get(own);
    if (!siblings) {
      siblings = own.store
        ? [...this.#registry.all()].filter((other) => other !== own && other.store === own.store)
        : [];
      this.#siblings.set(own, siblings);
    }
    return siblings;
  }
}

function parameterKind(resource: Resource): ParameterKind | undefined {
  const { store, namespaced } = resource;
  if (!store) return undefined;
  const placeOf = (namespace: string): string => (namespaced ? namespace : '');
  return {
    namespaced,
    async get(namespace, name) {
      await store.load();
      const entry = store.get({ namespace: placeOf(namespace), name });
      return entry && (await serveEntry(resource, entry)).object;
    },
    async list(namespace) {
      await store.load();
      const entries = [...store.entries(namespaced ? namespace : undefined)];
      const served = await Promise.all(entries.map((entry) => serveEntry(resource, entry)));
      return served.map(({ object }) => object);
    },
  };
}

function servedVersion(request: AdmissionRequest, own: Resource, other: Resource): ServedVersion {
  const { group, version, plural } = other;
  const isWhole = request.kind.kind === own.kind;
  const kind = isWhole
    ? { group, version, kind: other.kind }
    : (other.subresources.get(request.subresource)?.kind ?? request.kind);
  return {
    resource: { group, version, resource: plural },
    kind,
    convert: (object) => (isWhole ? convert(object, own, other) : Promise.resolve(object)),
    convertBack: (object) => (isWhole ? convert(object, other, own) : Promise.resolve(object)),
  };
}

async function convert(object: KubeObject, from: Resource, to: Resource): Promise<KubeObject> {
  const kept = await from.strategy.toStorage(asObject(jsonClone(asJson(object))));
  const [converted] = await to.strategy.fromStorage([kept]);
  return converted ?? object;
}
