import type { Resource } from '../registry/resource.ts';
import type { ResourceRegistry } from '../registry/resource-registry.ts';
import { compareVersions } from './version-priority.ts';

/** A group version that is not of kept objects: an extension of this server, or served by an aggregated API server. */
export interface RemoteGroupVersion {
  readonly group: string;
  readonly version: string;
  /** False while its server cannot be asked. */
  readonly isAvailable: boolean;
  /** `APIResourceList.resources` as its server last gave them. */
  readonly resources: readonly RemoteResource[];
}

export interface RemoteResource {
  readonly name: string;
  readonly singularName: string;
  readonly namespaced: boolean;
  readonly kind: string;
  readonly verbs: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
}

export interface ServedVersion {
  readonly version: string;
  readonly resources: readonly Resource[];
  readonly remote?: RemoteGroupVersion;
}

export interface ServedGroup {
  readonly group: string;
  /** Best first. */
  readonly versions: readonly ServedVersion[];
}

/** All groups with their versions, built-in groups in upstream's order, then the others by name. */
export function servedGroups(
  registry: ResourceRegistry,
  remotes: readonly RemoteGroupVersion[],
): readonly ServedGroup[] {
  const groups = new Map<string, Map<string, { resources: Resource[]; remote?: RemoteGroupVersion }>>();
  const custom = new Set<string>();
  const versionsOf = (group: string): Map<string, { resources: Resource[]; remote?: RemoteGroupVersion }> => {
    let versions = groups.get(group);
    if (!versions) groups.set(group, (versions = new Map()));
    return versions;
  };
  for (const resource of registry.all()) {
    const versions = versionsOf(resource.group);
    const served = versions.get(resource.version);
    if (served) served.resources.push(resource);
    else versions.set(resource.version, { resources: [resource] });
    if (!resource.isBuiltin) custom.add(resource.group);
  }
  const { extensions } = registry;
  const elsewhere = remotes.filter(({ group, version }) => !extensions.hasVersion(group, version));
  for (const remote of [...extensions.groups, ...elsewhere]) {
    const versions = versionsOf(remote.group);
    // Extensions may be beside kept objects of the same version.
    const resources = versions.get(remote.version)?.resources ?? [];
    if (resources.length === 0) custom.add(remote.group);
    versions.set(remote.version, { resources, remote });
  }
  const builtin = [...groups.keys()].filter((group) => !custom.has(group));
  const others = [...groups.keys()].filter((group) => custom.has(group)).sort();
  return [...builtin, ...others].map((group) => ({ group, versions: sortedVersions(versionsOf(group)) }));
}

function sortedVersions(
  versions: Map<string, { resources: Resource[]; remote?: RemoteGroupVersion }>,
): ServedVersion[] {
  return [...versions]
    .map(([version, served]) => ({ version, ...served }))
    .sort((a, b) => compareVersions(a.version, b.version));
}
