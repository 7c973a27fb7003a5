import type { JsonObject } from '@sheaf/base';
import type { RemoteResource } from './served-groups.ts';

interface Place {
  readonly group: string;
  readonly version: string;
}

/**
 * The resources of a plain list in the aggregated form: subresources stand in their resource, which may be in the list for nothing
 * else and has neither kind nor verbs then.
 */
export function remoteResources(items: readonly RemoteResource[], place: Place): JsonObject[] {
  const outer = new Map<string, RemoteResource>();
  const inner = new Map<string, RemoteResource[]>();
  for (const item of items) {
    const slash = item.name.indexOf('/');
    if (slash < 0) outer.set(item.name, item);
    else {
      const name = item.name.slice(0, slash);
      const known = inner.get(name);
      if (known) known.push(item);
      else inner.set(name, [item]);
    }
  }
  const names = new Set([...outer.keys(), ...inner.keys()]);
  return [...names].map((name) => ({
    ...resourceFields(name, outer.get(name) ?? bareResource(inner.get(name) ?? []), place),
    ...subresources(name, inner.get(name) ?? [], place),
  }));
}

function bareResource([first]: readonly RemoteResource[]): RemoteResource {
  return { name: '', singularName: '', namespaced: first?.namespaced ?? false, kind: '', verbs: [] };
}

function resourceFields(resource: string, item: RemoteResource, place: Place): JsonObject {
  return {
    resource,
    responseKind: responseKind(item, place),
    scope: item.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: item.singularName,
    verbs: [...item.verbs],
    ...(item.shortNames ? { shortNames: [...item.shortNames] } : {}),
    ...(item.categories ? { categories: [...item.categories] } : {}),
  };
}

function subresources(resource: string, items: readonly RemoteResource[], place: Place): JsonObject {
  if (items.length === 0) return {};
  return {
    subresources: items.map((item) => ({
      subresource: item.name.slice(resource.length + 1),
      responseKind: responseKind(item, place),
      verbs: [...item.verbs],
    })),
  };
}

/** What has no kind has no place either. */
function responseKind({ kind }: RemoteResource, { group, version }: Place): JsonObject {
  return kind === '' ? { group: '', version: '', kind } : { group, version, kind };
}
