import { asJson, asObject, type KubeObject } from '@sheaf/api';
import { internalError, type JsonObject, jsonEqual } from '@sheaf/base';
import { checkApplied } from './applied-checks.ts';
import { compareValues } from './compare.ts';
import { conflictError } from './conflicts.ts';
import { fieldSetOf } from './extract.ts';
import { FieldsFormatError } from './field-path.ts';
import { difference, emptySet, equalSets, isEmptySet, recursiveDifference } from './field-set.ts';
import { allowedByLastApplied, kubectlManager, syncLastApplied } from './last-applied.ts';
import { mergeValues } from './merge.ts';
import { withManagedFields } from './no-op-times.ts';
import { isSameOwner, type Owner, type OwnerName, readOwners, writeOwners } from './owners.ts';
import { type PruneState, pruneUnapplied } from './prune.ts';
import { withoutManagedFields, withoutUntracked } from './tracked-fields.ts';
import { type OwnerConflict, reconcileOwners, transferFields } from './transfer.ts';
import { emptyObject, updateOwnership } from './update-ownership.ts';
import { type OwnershipContext, resetSetOf } from './versions.ts';

/** A server-side apply. */
export interface ApplyRequest extends OwnershipContext {
  /** The object as it is, in the request's version; undefined if there is none yet. */
  readonly live: KubeObject | undefined;
  /** As in an `UpdateRequest`; what a new object starts from. */
  readonly empty?: KubeObject;
  /** The configuration just as it was sent: not normalised, not defaulted, nothing dropped. */
  readonly applied: KubeObject;
  /** The kind that the endpoint serves; a configuration of another kind is refused. The default is the live object's. */
  readonly kind?: string;
  readonly force: boolean;
}

export interface AppliedResult {
  /** The merged object with its managedFields, not yet normalised, defaulted or validated. Shares parts with the live object. */
  readonly object: KubeObject;
  /** False if the configuration changes nothing but, perhaps, who owns what. */
  readonly isChanged: boolean;
}

/**
 * Lays a configuration over the live object and works out who owns what then. Throws a StatusError: 400 for a configuration that does not
 * fit the kind, 422 for items applied twice, 409 with a cause per field when others own what it would change and `force` is not set.
 */
export function apply(request: ApplyRequest): AppliedResult {
  const applied = asJson(request.applied);
  checkApplied({ applied, apiVersion: request.apiVersion, schema: request.schema, kind: kindOf(request) });
  const live = withoutManagedFields(liveOrEmpty(request));
  const attempt = attemptApply(request, live);
  if (!request.force) refuseConflicts(request, live, attempt.conflicts);
  const object =
    request.manager === kubectlManager ? syncLastApplied(attempt.object, applied) : attempt.object;
  const owned = withManagedFields(object, writeOwners(attempt.owners));
  return { object: asObject(owned), isChanged: object !== live };
}

function kindOf(request: ApplyRequest): string {
  return request.kind ?? request.live?.kind ?? request.applied.kind ?? '';
}

function liveOrEmpty(request: ApplyRequest): JsonObject {
  if (request.live !== undefined) return asJson(request.live);
  return emptyObject({ next: request.applied, ...(request.empty && { empty: request.empty }) });
}

/** kubectl, coming from client-side apply, may change what its last configuration says and the object still has. */
function refuseConflicts(request: ApplyRequest, live: JsonObject, conflicts: readonly OwnerConflict[]): void {
  if (conflicts.length === 0) return;
  const allowed = request.manager === kubectlManager ? allowedByLastApplied(request, live) : emptySet;
  const refused = conflicts
    .map(({ owner, fields }) => ({ owner, fields: difference(fields, allowed) }))
    .filter(({ fields }) => !isEmptySet(fields));
  if (refused.length > 0) throw conflictError(refused);
}

/** The owners of the live object. What is there when nobody owns anything belongs to `before-first-apply`. */
function ownersBefore(request: ApplyRequest): readonly Owner[] {
  const { live, empty } = request;
  if (live === undefined) return [];
  const owners = readLiveOwners(live);
  if (owners.length > 0) return owners;
  const manager = 'before-first-apply';
  const next = asObject(withoutManagedFields(asJson(live)));
  return readOwners(updateOwnership({ ...request, manager, live: undefined, next, ...(empty && { empty }) }));
}

function readLiveOwners(live: KubeObject): readonly Owner[] {
  try {
    return readOwners(live.metadata.managedFields);
  } catch (error) {
    if (!(error instanceof FieldsFormatError)) throw error;
    throw internalError(`failed to decode managed fields: ${error.message}`, error);
  }
}

interface Attempt {
  /** The live object itself if nothing changes. */
  readonly object: JsonObject;
  readonly owners: readonly Owner[];
  readonly conflicts: readonly OwnerConflict[];
}

/** Merges as if everything were allowed, and says what is not. */
function attemptApply(request: ApplyRequest, live: JsonObject): Attempt {
  const { schema } = request;
  const applied = asJson(request.applied);
  const owners = reconcileOwners(request, ownersBefore(request));
  const name = applierOf(request);
  const last = owners.find((owner) => isSameOwner(owner, name));
  const set = recursiveDifference(fieldSetOf(applied, schema), resetSetOf(request.resetFields));
  const self: Owner = { ...name, time: last?.time, set, entry: undefined };
  const all = [...owners.filter((owner) => owner !== last), self];
  const object = mergeAndPrune(request, live, { last, owners: all });
  const comparison = compareValues(live, object, schema);
  const { owners: left, conflicts } = transferFields(
    request,
    { live, next: object },
    { comparison, owners: all, except: name },
  );
  const others = left.filter((owner) => owner !== self);
  const time = object === live ? self.time : request.now;
  const applier = reuseEntry({ ...self, time, set: withoutUntracked(set) }, last);
  return { object, owners: [...others, applier], conflicts };
}

function mergeAndPrune(request: ApplyRequest, live: JsonObject, state: PruneState): JsonObject {
  const merged = mergeValues(live, asJson(request.applied), request.schema) as JsonObject;
  const pruned = pruneUnapplied(request, merged, state);
  return pruned === live || jsonEqual(pruned, live) ? live : pruned;
}

function applierOf(request: ApplyRequest): OwnerName {
  const { manager, apiVersion, subresource } = request;
  return { manager: manager || 'unknown', operation: 'Apply', apiVersion, subresource };
}

function reuseEntry(applier: Owner, last: Owner | undefined): Owner {
  const isSame =
    last !== undefined &&
    last.time === applier.time &&
    last.apiVersion === applier.apiVersion &&
    equalSets(last.set, applier.set);
  return isSame ? last : applier;
}
