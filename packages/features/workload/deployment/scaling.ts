import type { Deployment, ReplicaSet } from '@sheaf/api/workload/index';
import { maxAnnotation, type Revisions } from './revisions.ts';

/** What a number of pods may differ by while a deployment rolls. */
export interface Fence {
  readonly wanted: number;
  /** Pods beyond those wanted. */
  readonly surge: number;
  /** Pods that may be missing. */
  readonly unavailable: number;
}

/** A set, and the number of pods that it is to have. */
export interface SetScale {
  readonly set: ReplicaSet;
  readonly replicas: number;
}

export function replicasOf({ spec }: ReplicaSet): number {
  return spec.replicas ?? 1;
}

export function availableOf({ status }: ReplicaSet): number {
  return status?.availableReplicas ?? 0;
}

export function sumOf(sets: readonly ReplicaSet[], count: (set: ReplicaSet) => number): number {
  return sets.reduce((sum, set) => sum + count(set), 0);
}

export function isRolling({ spec }: Deployment): boolean {
  return spec.strategy?.type !== 'Recreate';
}

/** Shares of the wanted number: surplus ones rounded up, missing ones down; at least one of both is more than none. */
export function fenceOf({ spec, ...deployment }: Deployment): Fence {
  const wanted = spec.replicas ?? 1;
  if (!isRolling({ spec, ...deployment }) || wanted === 0) return { wanted, surge: 0, unavailable: 0 };
  const { maxSurge = '25%', maxUnavailable = '25%' } = spec.strategy?.rollingUpdate ?? {};
  const surge = amount(maxSurge, wanted, Math.ceil);
  const unavailable = Math.min(wanted, amount(maxUnavailable, wanted, Math.floor));
  return { wanted, surge, unavailable: surge === 0 && unavailable === 0 ? 1 : unavailable };
}

export function maxReplicasOf(deployment: Deployment): number {
  const { wanted, surge } = fenceOf(deployment);
  return wanted + surge;
}

function amount(value: number | string, whole: number, round: (share: number) => number): number {
  return typeof value === 'number' ? value : round((Number.parseInt(value, 10) * whole) / 100);
}

/** As many pods as the set of the template may have now. */
export function newSetReplicas(deployment: Deployment, { newSet, oldSets }: Revisions): number {
  const { wanted, surge } = fenceOf(deployment);
  if (!isRolling(deployment)) return wanted;
  const own = newSet ? replicasOf(newSet) : 0;
  if (own >= wanted) return wanted;
  const room = wanted + surge - own - sumOf(oldSets, replicasOf);
  return own + Math.max(0, Math.min(room, wanted - own));
}

/** Old sets with fewer pods: first those that are not available anyway, then as many as the new ones make up for. */
export function shrunkSets(deployment: Deployment, { newSet, oldSets }: Revisions): readonly SetScale[] {
  const { wanted, unavailable } = fenceOf(deployment);
  const all = newSet ? [newSet, ...oldSets] : oldSets;
  const minAvailable = wanted - unavailable;
  const newUnavailable = newSet ? replicasOf(newSet) - availableOf(newSet) : 0;
  const room = sumOf(all, replicasOf) - minAvailable - newUnavailable;
  if (room <= 0) return [];
  const cleaned = shrink(
    oldSets.map((set) => ({ set, replicas: replicasOf(set) })),
    room,
    ({ set, replicas }) => Math.max(0, replicas - availableOf(set)),
  );
  const surplus = sumOf(all, availableOf) - minAvailable;
  const shrunk = surplus > 0 ? shrink(cleaned, surplus, ({ replicas }) => replicas) : cleaned;
  return shrunk.filter(({ set, replicas }) => replicas !== replicasOf(set));
}

function shrink(
  scales: readonly SetScale[],
  room: number,
  most: (scale: SetScale) => number,
): readonly SetScale[] {
  let left = room;
  return scales.map((scale) => {
    const less = Math.min(left, most(scale), scale.replicas);
    left -= less;
    return { ...scale, replicas: scale.replicas - less };
  });
}

/** When a deployment is scaled while it rolls, each set gets its share: large ones more, and what is left over the largest. */
export function proportionalScales(deployment: Deployment, sets: readonly ReplicaSet[]): readonly SetScale[] {
  const { wanted } = fenceOf(deployment);
  const allowed = wanted > 0 ? maxReplicasOf(deployment) : 0;
  const change = allowed - sumOf(sets, replicasOf);
  const newestFirst = sets.toReversed();
  const order = (change > 0 ? newestFirst : [...sets]).sort((a, b) => replicasOf(b) - replicasOf(a));
  let done = 0;
  const scales = order.map((set) => {
    const share = change === 0 ? 0 : bounded(shareOf(deployment, set), change - done);
    done += share;
    return { set, replicas: replicasOf(set) + share };
  });
  return scales.map((scale, index) =>
    index === 0 ? { ...scale, replicas: Math.max(0, scale.replicas + change - done) } : scale,
  );
}

function bounded(share: number, left: number): number {
  return left > 0 ? Math.max(0, Math.min(share, left)) : Math.min(0, Math.max(share, left));
}

function shareOf(deployment: Deployment, set: ReplicaSet): number {
  if (fenceOf(deployment).wanted === 0) return -replicasOf(set);
  const before = Number(set.metadata.annotations?.[maxAnnotation]) || deployment.status?.replicas || 0;
  if (before === 0 || replicasOf(set) === 0) return 0;
  return Math.round((replicasOf(set) * maxReplicasOf(deployment)) / before) - replicasOf(set);
}
