import type { GroupVersionKind } from '../meta/object.ts';
import { toApiVersion } from '../meta/object.ts';
import { readDataFile } from './data-file.ts';
import { definitionName } from './definition-name.ts';
import { findGoStruct } from './go-struct.ts';
import type { GoStruct } from './go-type.ts';
import type { BuiltinResource, ResourceFile } from './resource.ts';

const { resources, kindsOfVersions, sharedKinds } = readDataFile<ResourceFile>('resources.json');

/** Every resource of the built-in group versions, groups in upstream's order, the core group first. */
export const builtinResources: readonly BuiltinResource[] = resources;

const ownKinds = new Map<string, ReadonlySet<string>>();
for (const version in kindsOfVersions) ownKinds.set(version, new Set(kindsOfVersions[version]?.kinds));
const shared: ReadonlySet<string> = new Set(sharedKinds);

/**
 * The type of a kind, e.g. `core/v1.Pod`; undefined where the kind is not built in. Kinds shared by all versions
 * (Status, DeleteOptions, WatchEvent …) are found in each of them, and in versions of custom resources.
 */
export function builtinTypeName(gvk: GroupVersionKind): string | undefined {
  const version = toApiVersion(gvk.group, gvk.version);
  const own = ownKinds.get(version);
  if (own?.has(gvk.kind)) return `${kindsOfVersions[version]?.package}.${gvk.kind}`;
  return shared.has(gvk.kind) ? `meta/v1.${gvk.kind}` : undefined;
}

/** The compiled Go type of a kind; undefined where the kind is not built in. */
export function findGoKind(gvk: GroupVersionKind): GoStruct | undefined {
  const name = builtinTypeName(gvk);
  return name === undefined ? undefined : findGoStruct(name);
}

/** e.g. `io.k8s.api.core.v1.Pod`; undefined where the kind is not built in. */
export function definitionOfKind(gvk: GroupVersionKind): string | undefined {
  const name = builtinTypeName(gvk);
  return name === undefined ? undefined : definitionName(name);
}
