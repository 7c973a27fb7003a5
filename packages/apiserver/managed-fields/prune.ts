import type { TypeSchema } from '@sheaf/api';
import type { JsonObject } from '@sheaf/base';
import { fieldSetOf } from './extract.ts';
import { difference, type FieldSet, intersection, isEmptySet, union } from './field-set.ts';
import { isSameOwner, type Owner } from './owners.ts';
import { removeItems, withNamedFields } from './remove-items.ts';
import { convertFrom, convertTo, type OwnershipContext, type VersionView, viewOf } from './versions.ts';

/**
 * The merged object without what its applier applied the last time, does not apply any more, and nobody else owns. `owners` are all
 * owners as they are to be, the applier with its new set; `last` is the applier's former entry.
 */
export function pruneUnapplied(
  context: OwnershipContext,
  merged: JsonObject,
  applier: PruneState,
): JsonObject {
  const { last, owners } = applier;
  if (last === undefined || isEmptySet(last.set)) return merged;
  const current = owners.find((owner) => isSameOwner(owner, last));
  if (current !== undefined && isNothingGiven(last, current)) return merged;
  const view = viewOf(context, last.apiVersion);
  if (view === undefined) return merged;
  const before = convertTo(view, merged);
  const pruned = remove(before, withNamedFields(last.set, view.schema), view.schema);
  if (pruned === before) return merged;
  const beforeSet = namedSetOf(before, view.schema);
  const owned = addBackOwned(context, { before, beforeSet, pruned, view }, owners);
  const kept = addBackDangling({ before, beforeSet, pruned: owned, view }, last.set);
  return kept === before ? merged : convertFrom(view, kept);
}

export interface PruneState {
  readonly last: Owner | undefined;
  readonly owners: readonly Owner[];
}

/** Whether the new set has everything the last one had. */
function isNothingGiven(last: Owner, current: Owner): boolean {
  return last.apiVersion === current.apiVersion && isEmptySet(difference(last.set, current.set));
}

interface Pruning {
  readonly before: JsonObject;
  /** The paths of `before`. */
  readonly beforeSet: FieldSet;
  readonly pruned: JsonObject;
  readonly view: VersionView;
}

/** What any owner still has is not pruned. Works version by version, the one of the last apply first. */
function addBackOwned(context: OwnershipContext, pruning: Pruning, owners: readonly Owner[]): JsonObject {
  let { pruned } = pruning;
  for (const [apiVersion, owned] of ownedByVersion(pruning, owners)) {
    if (apiVersion === '') {
      pruned = removeUnowned({ ...pruning, pruned }, owned);
      continue;
    }
    const view = viewOf(context, apiVersion);
    if (view === undefined) continue;
    const toView = (object: JsonObject) => convertTo(view, convertFrom(pruning.view, object));
    const before = toView(pruning.before);
    const beforeSet = namedSetOf(before, view.schema);
    const result = removeUnowned({ before, beforeSet, pruned: toView(pruned), view }, owned);
    pruned = convertTo(pruning.view, convertFrom(view, result));
  }
  return pruned;
}

function removeUnowned(pruning: Pruning, owned: FieldSet): JsonObject {
  const { before, beforeSet, pruned, view } = pruning;
  const kept = union(namedSetOf(pruned, view.schema), withNamedFields(owned, view.schema));
  return remove(before, difference(beforeSet, kept), view.schema);
}

/** The joint sets of all owners per API version; the version of the last apply first, as ''. */
function ownedByVersion(pruning: Pruning, owners: readonly Owner[]): Map<string, FieldSet> {
  const sets = new Map<string, FieldSet>();
  const first = pruning.view;
  for (const owner of owners) {
    const key = owner.apiVersion === first.apiVersion ? '' : owner.apiVersion;
    const known = sets.get(key);
    sets.set(key, known === undefined ? owner.set : union(known, owner.set));
  }
  return new Map([...sets].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** What the applier never applied is not pruned either. */
function addBackDangling(pruning: Pruning, last: FieldSet): JsonObject {
  const { before, beforeSet, pruned, view } = pruning;
  const gone = difference(beforeSet, namedSetOf(pruned, view.schema));
  return remove(before, intersection(gone, withNamedFields(last, view.schema)), view.schema);
}

function namedSetOf(object: JsonObject, schema: TypeSchema): FieldSet {
  return withNamedFields(fieldSetOf(object, schema), schema);
}

function remove(object: JsonObject, set: FieldSet, schema: TypeSchema): JsonObject {
  return removeItems(object, set, schema) as JsonObject;
}
