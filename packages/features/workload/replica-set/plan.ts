import { withCondition } from '@sheaf/api';
import type { Pod, ReplicaSet, ReplicaSetCondition, ReplicaSetStatus } from '@sheaf/api/workload/index';
import { withStatus } from '../pods/changed-status.ts';
import { some } from '../pods/counts.ts';
import { claimsOf } from '../pods/ownership.ts';
import { isActive, isAvailable, isReady, nextAvailableInMs } from '../pods/pod-state.ts';
import { deletionOrder } from './deletion-order.ts';

export interface ReplicaSetFacts {
  readonly set: ReplicaSet;
  /** All of its namespace. */
  readonly pods: readonly Pod[];
  readonly nowMs: number;
}

export type ReplicaSetStep =
  | { readonly action: 'none' }
  | { readonly action: 'adopt'; readonly pods: readonly Pod[] }
  | { readonly action: 'release'; readonly pods: readonly Pod[] }
  | { readonly action: 'create'; readonly count: number }
  | { readonly action: 'delete'; readonly pods: readonly Pod[] };

/** What came of the step. */
export interface StepFailure {
  readonly reason: 'FailedCreate' | 'FailedDelete';
  readonly message: string;
}

/** At most so many pods are made or deleted in one pass. */
const burst = 500;

/** The next step towards as many pods as are wanted. */
export function planReplicaSet({ set, pods, nowMs }: ReplicaSetFacts): ReplicaSetStep {
  const { owned, orphans, strays } = claimsOf(set, pods);
  if (strays.length > 0) return { action: 'release', pods: strays };
  const adopted = orphans.filter(isActive);
  if (adopted.length > 0) return { action: 'adopt', pods: adopted };
  if (set.metadata.deletionTimestamp !== undefined) return { action: 'none' };
  const active = owned.filter(isActive);
  const missing = (set.spec.replicas ?? 1) - active.length;
  if (missing > 0) return { action: 'create', count: Math.min(missing, burst) };
  if (missing === 0) return { action: 'none' };
  return { action: 'delete', pods: deletionOrder(active, nowMs).slice(0, Math.min(-missing, burst)) };
}

/** The set with a status that is right; `undefined` if it has one. */
export function planReplicaSetStatus(
  facts: ReplicaSetFacts,
  { failure, now }: { readonly failure: StepFailure | undefined; readonly now: string },
): ReplicaSet | undefined {
  const { set } = facts;
  const conditions = planConditions(set.status?.conditions ?? [], failure, now);
  return withStatus(set, {
    ...countsOf(facts),
    observedGeneration: set.metadata.generation ?? 0,
    ...(conditions.length > 0 && { conditions }),
  });
}

function countsOf({ set, pods, nowMs }: ReplicaSetFacts): ReplicaSetStatus {
  const { owned } = claimsOf(set, pods);
  const active = owned.filter(isActive);
  const { minReadySeconds = 0, template } = set.spec;
  const labels = Object.entries(template.metadata?.labels ?? {});
  const isLabeled = ({ metadata }: Pod): boolean =>
    labels.every(([key, value]) => metadata.labels?.[key] === value);
  const available = active.filter((pod) => isAvailable(pod, minReadySeconds, nowMs));
  return {
    replicas: active.length,
    ...some('fullyLabeledReplicas', active.filter(isLabeled).length),
    ...some('readyReplicas', active.filter(isReady).length),
    ...some('availableReplicas', available.length),
    terminatingReplicas: owned.filter(({ metadata }) => metadata.deletionTimestamp !== undefined).length,
  };
}

/** When the status changes by time alone. */
export function recheckInMs({ set, pods, nowMs }: ReplicaSetFacts): number | undefined {
  const active = claimsOf(set, pods).owned.filter(isActive);
  return nextAvailableInMs(active, set.spec.minReadySeconds ?? 0, nowMs);
}

function planConditions(
  conditions: readonly ReplicaSetCondition[],
  failure: StepFailure | undefined,
  now: string,
): readonly ReplicaSetCondition[] {
  if (!failure) return conditions.filter(({ type }) => type !== 'ReplicaFailure');
  return withCondition(conditions, { type: 'ReplicaFailure', status: 'True', ...failure }, now);
}
