import type { ManagedFieldsEntry } from '@sheaf/api';
import type { FieldPath } from './field-path.ts';
import { difference, hasPath, isEmptySet, setOf } from './field-set.ts';
import { isSameOwner, type Owner, readOwners, withSet, writeOwners } from './owners.ts';

const scaleApiVersion = 'autoscaling/v1';
const scaleReplicas: FieldPath = ['f:spec', 'f:replicas'];

/**
 * Per API version of the scaled kind, the path of its replicas; `undefined` for a version without the scale subresource. Entries of
 * versions that are not listed are dropped.
 */
export type ReplicasPaths = ReadonlyMap<string, FieldPath | undefined>;

/** The owners of the replicas, as `managedFields` of the Scale object. */
export function toScaleEntries(
  parent: readonly ManagedFieldsEntry[] | undefined,
  replicas: ReplicasPaths,
): ManagedFieldsEntry[] {
  const owners: Owner[] = [];
  for (const owner of readOwners(parent)) {
    const path = replicas.get(owner.apiVersion);
    if (path === undefined || !hasPath(owner.set, path)) continue;
    owners.push({ ...owner, apiVersion: scaleApiVersion, set: setOf(scaleReplicas), entry: undefined });
  }
  return writeOwners(owners);
}

export interface ScaleWrite {
  /** The entries of the scaled object before the write. */
  readonly parent: readonly ManagedFieldsEntry[] | undefined;
  /** The entries of the Scale object after it. */
  readonly scale: readonly ManagedFieldsEntry[] | undefined;
  /** The API version of the scaled kind that new owners get. */
  readonly apiVersion: string;
}

/** The entries of the scaled object after a write to its Scale: who lost the replicas there loses them here, new owners are added. */
export function fromScaleEntries(write: ScaleWrite, replicas: ReplicasPaths): ManagedFieldsEntry[] {
  const scaleOwners = [...readOwners(write.scale)];
  const owners: Owner[] = [];
  for (const owner of readOwners(write.parent)) {
    if (!replicas.has(owner.apiVersion)) continue;
    const path = replicas.get(owner.apiVersion);
    const kept =
      path !== undefined && hasPath(owner.set, path) ? keepReplicas(owner, path, scaleOwners) : owner;
    if (kept !== undefined) owners.push(kept);
  }
  const path = replicas.get(write.apiVersion);
  for (const owner of scaleOwners) {
    if (path === undefined || !hasPath(owner.set, scaleReplicas)) continue;
    owners.push({ ...owner, apiVersion: write.apiVersion, set: setOf(path), entry: undefined });
  }
  return writeOwners(owners);
}

/** The owner as it is if the Scale still has it (taken off that list then), else without the replicas. */
function keepReplicas(owner: Owner, path: FieldPath, scaleOwners: Owner[]): Owner | undefined {
  const inScale = { ...owner, apiVersion: scaleApiVersion };
  const index = scaleOwners.findIndex((other) => isSameOwner(other, inScale));
  if (index >= 0) {
    scaleOwners.splice(index, 1);
    return owner;
  }
  const kept = withSet(owner, difference(owner.set, setOf(path)));
  return isEmptySet(kept.set) ? undefined : kept;
}
