import { createHash } from 'node:crypto';
import { toApiVersion } from '@sheaf/api';
import type { JsonObject } from '@sheaf/base';
import type { Resource, Subresource } from '../registry/resource.ts';
import { remoteResources } from './remote-resources.ts';
import type { RemoteResource, ServedGroup, ServedVersion } from './served-groups.ts';

/** `APIGroupDiscoveryList`: everything of some groups in one document. */
export function aggregatedDocument(groups: readonly ServedGroup[]): JsonObject {
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    metadata: {},
    items: groups.map(({ group, versions }) => ({
      metadata: group === '' ? {} : { name: group },
      versions: versions.map((served) => ({
        version: served.version,
        resources: [
          ...served.resources.map((item) => aggregatedResource(item)),
          ...remoteResources(served.remote?.resources ?? [], { group, version: served.version }),
        ],
        freshness: served.remote && !served.remote.isAvailable ? 'Stale' : 'Current',
      })),
    })),
  };
}

function aggregatedResource(resource: Resource): JsonObject {
  const subresources = [...resource.subresources.values()].map((item) =>
    aggregatedSubresource(resource, item),
  );
  return {
    resource: resource.plural,
    responseKind: responseKind(resource, resource),
    scope: resource.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: resource.singular,
    verbs: verbsOf(resource),
    ...(resource.shortNames.length > 0 ? { shortNames: [...resource.shortNames] } : {}),
    ...(resource.categories.length > 0 ? { categories: [...resource.categories] } : {}),
    ...(subresources.length > 0 ? { subresources } : {}),
  };
}

/** Group and version are left empty where they are those of the list; custom kinds name them all the same. */
function responseKind(resource: Resource, { group, version, kind }: Subresource['kind']): JsonObject {
  const isOwn = group === resource.group && version === resource.version;
  return isOwn && resource.isBuiltin ? { group: '', version: '', kind } : { group, version, kind };
}

function aggregatedSubresource(resource: Resource, subresource: Subresource): JsonObject {
  return {
    subresource: subresource.name,
    responseKind: responseKind(resource, subresource.kind),
    verbs: sortedVerbs(subresource.verbs),
  };
}

export function apiVersionsDocument(serverAddress: string): JsonObject {
  return {
    kind: 'APIVersions',
    versions: ['v1'],
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
  };
}

export function groupListDocument(groups: readonly ServedGroup[]): JsonObject {
  return {
    kind: 'APIGroupList',
    apiVersion: 'v1',
    groups: groups.filter(({ group }) => group !== '').map((group) => groupFields(group)),
  };
}

export function groupDocument(group: ServedGroup): JsonObject {
  return { kind: 'APIGroup', apiVersion: 'v1', ...groupFields(group) };
}

function groupFields({ group, versions }: ServedGroup): JsonObject {
  const listed = versions.map(({ version }) => ({ groupVersion: toApiVersion(group, version), version }));
  return { name: group, versions: listed, preferredVersion: listed[0] ?? {} };
}

export function resourceListDocument(group: string, served: ServedVersion): JsonObject {
  const own = { group, version: served.version };
  const resources = served.resources.flatMap((resource) => [
    resourceFields(resource),
    ...subresourceFields(resource, own),
  ]);
  const remote = (served.remote?.resources ?? []).map((item) => remoteFields(item));
  return {
    kind: 'APIResourceList',
    ...(group === '' ? {} : { apiVersion: 'v1' }),
    groupVersion: toApiVersion(group, served.version),
    resources: [...resources, ...remote],
  };
}

function remoteFields(item: RemoteResource): JsonObject {
  return JSON.parse(JSON.stringify(item)) as JsonObject;
}

function resourceFields(resource: Resource): JsonObject {
  return {
    name: resource.plural,
    singularName: resource.singular,
    namespaced: resource.namespaced,
    kind: resource.kind,
    verbs: verbsOf(resource),
    ...(resource.shortNames.length > 0 ? { shortNames: [...resource.shortNames] } : {}),
    ...(resource.categories.length > 0 ? { categories: [...resource.categories] } : {}),
    ...(resource.store && isKept(resource) ? { storageVersionHash: storageVersionHash(resource) } : {}),
  };
}

function subresourceFields(resource: Resource, own: { group: string; version: string }): JsonObject[] {
  return [...resource.subresources.values()].map(({ name, kind, verbs }) => ({
    name: `${resource.plural}/${name}`,
    singularName: '',
    namespaced: resource.namespaced,
    ...(kind.group === own.group && kind.version === own.version
      ? {}
      : { group: kind.group, version: kind.version }),
    kind: kind.kind,
    verbs: sortedVerbs(verbs),
  }));
}

/** Component statuses can be read, but are nowhere kept. */
function isKept(resource: Resource): boolean {
  return resource.verbs.includes('create');
}

const customVerbs = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];

function verbsOf(resource: Resource): string[] {
  if (resource.isBuiltin) return sortedVerbs(resource.verbs);
  return customVerbs.filter((verb) => (resource.verbs as readonly string[]).includes(verb));
}

function sortedVerbs(verbs: readonly string[]): string[] {
  return [...verbs].sort();
}

/** Changes when objects begin to be kept in another version. */
function storageVersionHash({ group, version, kind }: Resource): string {
  return createHash('sha256')
    .update(`${group}/${version}/${kind}`)
    .digest()
    .subarray(0, 8)
    .toString('base64');
}
