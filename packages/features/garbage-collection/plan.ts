import type { OwnerReference } from '@sheaf/api';
import { foregroundFinalizer, type GraphNode, orphanFinalizer } from './owner-graph.ts';

/** What became of an owner. `absent` has been seen at the server; `unknown`: its kind is not served (any more, or now). */
export type OwnerState = 'live' | 'absent' | 'deleting-dependents' | 'unknown';

export interface JudgedOwner {
  readonly reference: OwnerReference;
  readonly state: OwnerState;
}

export type CollectionStep =
  | { readonly action: 'keep' }
  /** Nothing can be said before the kinds of all its owners can be asked. */
  | { readonly action: 'wait' }
  /** It has an owner that lives; the references to others go. */
  | { readonly action: 'drop-references'; readonly owners: readonly OwnerReference[] }
  | {
      readonly action: 'delete';
      readonly propagation: 'Background' | 'Foreground' | 'Orphan';
      /** It must not hold up its owners any more, or a ring of owners would wait for ever. */
      readonly unblockFirst: boolean;
    };

export interface PlanInput {
  readonly node: GraphNode;
  readonly owners: readonly JudgedOwner[];
  readonly hasDependents: boolean;
  /** One of its dependents waits for its own dependents. */
  readonly isInRing: boolean;
}

export function planCollection({ node, owners, hasDependents, isInRing }: PlanInput): CollectionStep {
  const isIn = (state: OwnerState): boolean => owners.some((owner) => owner.state === state);
  if (isIn('live')) return planDrop(owners);
  if (owners.length === 0) return { action: 'keep' };
  if (isIn('unknown')) return { action: 'wait' };
  if (isIn('deleting-dependents') && hasDependents) {
    return { action: 'delete', propagation: 'Foreground', unblockFirst: isInRing };
  }
  return { action: 'delete', propagation: ownPropagation(node), unblockFirst: false };
}

function planDrop(owners: readonly JudgedOwner[]): CollectionStep {
  const kept = owners.filter(({ state }) => state === 'live' || state === 'unknown');
  if (kept.length === owners.length) return { action: 'keep' };
  return { action: 'drop-references', owners: kept.map(({ reference }) => reference) };
}

/** Finalizers set in advance say what its own deletion means. */
function ownPropagation({ finalizers }: GraphNode): 'Background' | 'Foreground' | 'Orphan' {
  if (finalizers.includes(orphanFinalizer)) return 'Orphan';
  return finalizers.includes(foregroundFinalizer) ? 'Foreground' : 'Background';
}
