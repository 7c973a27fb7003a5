import type { JsonObject } from '@sheaf/base';
import { type Comparison, changedFields, excludeFields } from './compare.ts';
import { difference, emptySet, type FieldSet, intersection, isEmptySet, union } from './field-set.ts';
import { isSameOwner, type Owner, type OwnerName, withSet } from './owners.ts';
import { reconcileSet } from './reconcile-schema.ts';
import { compareObjects } from './tracked-fields.ts';
import { convertTo, type OwnershipContext, resetSetOf, viewOf } from './versions.ts';

/** A change of an object from which ownership follows. Both in the request's version. */
export interface Change {
  readonly live: JsonObject;
  readonly next: JsonObject;
}

/** What a change means for the owners of one API version. */
interface VersionedChange {
  /** Added or modified. */
  readonly changed: FieldSet;
  /** These and the removed ones: what nobody else owns afterwards. */
  readonly lost: FieldSet;
}

/** Fields that an owner has and a change touches. */
export interface OwnerConflict {
  readonly owner: Owner;
  readonly fields: FieldSet;
}

export interface Transfer {
  /** The change in the request's version, without its reset fields. */
  readonly comparison: Comparison;
  /** All owners without what the change takes from them. Owners left with nothing, or of versions that are gone, are dropped. */
  readonly owners: readonly Owner[];
  /** What the change takes from others by giving it another value. */
  readonly conflicts: readonly OwnerConflict[];
}

/** Owners whose sets fit the schemas of today; those of versions that are gone are dropped. */
export function reconcileOwners(context: OwnershipContext, owners: readonly Owner[]): readonly Owner[] {
  let changed = false;
  const reconciled: Owner[] = [];
  for (const owner of owners) {
    const view = viewOf(context, owner.apiVersion);
    const kept = view && withSet(owner, reconcileSet(owner.set, view.schema));
    if (kept !== owner) changed = true;
    if (kept !== undefined) reconciled.push(kept);
  }
  return changed ? reconciled : owners;
}

/** Takes from every owner but `except` the fields that a change touches. */
export function transferFields(context: OwnershipContext, change: Change, state: TransferState): Transfer {
  const comparison = excludeFields(state.comparison, resetSetOf(context.resetFields));
  const versions = new Map([[context.apiVersion, versionedChange(comparison)]]);
  const owners: Owner[] = [];
  const conflicts: OwnerConflict[] = [];
  for (const owner of state.owners) {
    if (state.except !== undefined && isSameOwner(owner, state.except)) {
      owners.push(owner);
      continue;
    }
    const versioned = findChange(context, change, { owner, versions });
    const fields = intersection(owner.set, versioned.changed);
    if (!isEmptySet(fields)) conflicts.push({ owner, fields });
    const kept = withSet(owner, difference(owner.set, versioned.lost));
    if (!isEmptySet(kept.set)) owners.push(kept);
  }
  return { comparison, owners, conflicts };
}

interface TransferState {
  /** Of the change, in the request's version. */
  readonly comparison: Comparison;
  readonly owners: readonly Owner[];
  readonly except: OwnerName | undefined;
}

interface VersionLookup {
  readonly owner: Owner;
  readonly versions: Map<string, VersionedChange>;
}

function findChange(context: OwnershipContext, change: Change, lookup: VersionLookup): VersionedChange {
  const { apiVersion } = lookup.owner;
  const known = lookup.versions.get(apiVersion);
  if (known !== undefined) return known;
  const view = viewOf(context, apiVersion);
  const comparison =
    view === undefined
      ? undefined
      : compareObjects(convertTo(view, change.live), convertTo(view, change.next), view.schema);
  const found =
    comparison === undefined
      ? { changed: emptySet, lost: emptySet }
      : versionedChange(excludeFields(comparison, resetSetOf(view?.resetFields)));
  lookup.versions.set(apiVersion, found);
  return found;
}

function versionedChange(comparison: Comparison): VersionedChange {
  const changed = changedFields(comparison);
  return { changed, lost: union(changed, comparison.removed) };
}
