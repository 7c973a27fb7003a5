import { asJson, type KubeObject, type ManagedFieldsEntry } from '@sheaf/api';
import { isJsonObject, type JsonObject, type JsonValue, jsonEqual } from '@sheaf/base';
import { capUpdaters } from './cap-updaters.ts';
import { changedFields, isSame } from './compare.ts';
import { FieldsFormatError } from './field-path.ts';
import { isEmptySet, union } from './field-set.ts';
import { isSameOwner, type Owner, type OwnerName, readOwners, writeOwners } from './owners.ts';
import { compareObjects, managedFieldsOf, withoutUntracked } from './tracked-fields.ts';
import { type Change, reconcileOwners, transferFields } from './transfer.ts';
import type { OwnershipContext } from './versions.ts';

/** A write other than server-side apply: create, update and the other patches. */
export interface UpdateRequest extends OwnershipContext {
  /** The object as it was, in the request's version; undefined if it is new. */
  readonly live: KubeObject | undefined;
  /** The object as it is to be, with whatever the client put in `metadata.managedFields`. */
  readonly next: KubeObject;
  /**
   * What the kind looks like with nothing set, which a new object is compared with: for built-in kinds the normalised empty object, so
   * that structs which are always there are nobody's. The default, right for custom resources, has only apiVersion and kind.
   */
  readonly empty?: KubeObject;
}

/**
 * The `metadata.managedFields` of the object after a write; empty for none. Never throws for what a client sends: entries it sends
 * replace the old ones only if all of them can be read; `[]` or `[{}]` clears them, and the object stays without until the next apply.
 */
export function updateOwnership(request: UpdateRequest): ManagedFieldsEntry[] {
  const next = asJson(request.next);
  const live = request.live === undefined ? emptyObject(request) : asJson(request.live);
  const current = currentOwners(request.subresource !== '', managedFieldsOf(live), managedFieldsOf(next));
  if (current.owners.length === 0 && request.live !== undefined) return [];
  const owners = reconcileOwners(request, current.owners);
  const comparison = compareObjects(live, next, request.schema);
  if (isSame(comparison) && current.entries !== undefined && owners === current.owners) {
    return [...current.entries];
  }
  return writeOwners(capUpdaters(ownersAfter(request, { live, next }, { owners, comparison })));
}

/** What a new object of the request's kind is compared with. */
export function emptyObject(request: Pick<UpdateRequest, 'empty' | 'next'>): JsonObject {
  const { apiVersion, kind } = asJson(request.next);
  return request.empty === undefined ? { apiVersion, kind } : asJson(request.empty);
}

interface OwnershipState {
  readonly owners: readonly Owner[];
  readonly comparison: ReturnType<typeof compareObjects>;
}

function ownersAfter(context: OwnershipContext, change: Change, state: OwnershipState): Owner[] {
  const transfer = transferFields(context, change, { ...state, except: undefined });
  const gained = withoutUntracked(changedFields(transfer.comparison));
  return isEmptySet(gained) ? [...transfer.owners] : withGain(context, transfer.owners, gained);
}

function withGain(context: OwnershipContext, owners: readonly Owner[], gained: Owner['set']): Owner[] {
  const self = updaterOf(context);
  const own = owners.find((owner) => isSameOwner(owner, self));
  const set = own === undefined ? gained : union(own.set, gained);
  const others = owners.filter((owner) => owner !== own);
  return [...others, { ...self, time: context.now, set, entry: undefined }];
}

function updaterOf(context: OwnershipContext): OwnerName {
  const { manager, apiVersion, subresource } = context;
  return { manager: manager || 'unknown', operation: 'Update', apiVersion, subresource };
}

interface CurrentOwners {
  readonly owners: readonly Owner[];
  /** The entries as they stand in an object, if they may stay as they are. */
  readonly entries: readonly ManagedFieldsEntry[] | undefined;
}

const nobody: CurrentOwners = { owners: [], entries: undefined };

/** Whose entries count: those that were sent if they may be set and can be read, else those of the live object. */
function currentOwners(
  isSubresource: boolean,
  kept: JsonValue | undefined,
  sent: JsonValue | undefined,
): CurrentOwners {
  if (!isSubresource && sent !== undefined && sent !== null && !jsonEqual(sent, kept)) {
    if (isReset(sent)) return nobody;
    const read = tryRead(sent);
    if (read !== undefined && read.owners.length > 0) return { owners: read.owners, entries: undefined };
  }
  return tryRead(kept) ?? nobody;
}

function tryRead(entries: JsonValue | undefined): CurrentOwners | undefined {
  try {
    const owners = readOwners(entries);
    const verbatim = owners.map(({ entry }) => entry).filter((entry) => entry !== undefined);
    return { owners, entries: verbatim.length === owners.length ? verbatim : undefined };
  } catch (error) {
    if (error instanceof FieldsFormatError) return undefined;
    throw error;
  }
}

function isReset(sent: JsonValue): boolean {
  if (!Array.isArray(sent)) return false;
  const [first] = sent;
  return sent.length === 0 || (sent.length === 1 && isJsonObject(first) && Object.keys(first).length === 0);
}
