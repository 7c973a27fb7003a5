import { type KubeObject, timestampOf } from '@sheaf/api';
import type { Pod } from '@sheaf/api/workload/index';
import type { Clock } from '@sheaf/base';
import type { Client, ResourceRef } from '@sheaf/client';
import { again, done, type Informer, type ObjectCache, type ReconcileResult, waitFor } from '@sheaf/runtime';
import { type OwnerScale, ScaleUnknown } from './owner-scale.ts';
import { type Budget, dependsOnScale, planBudget, planUnknown, recheckAt, selectedPods } from './plan.ts';

export const budgetResource: ResourceRef<Budget> = {
  group: 'policy',
  version: 'v1',
  plural: 'poddisruptionbudgets',
  kind: 'PodDisruptionBudget',
  namespaced: true,
};

export interface BudgetParts {
  readonly client: Client;
  readonly clock: Clock;
  readonly budgets: ObjectCache<Budget>;
  /** Watches pods from the first call on. */
  readonly pods: () => Informer<Pod>;
  readonly scale: OwnerScale;
}

const unknownMs = 50;
/** Controllers are not watched; their pods tell of most changes. */
const recountMs = 60_000;

/** Counts for one budget, and writes what comes of it. */
export async function reconcileBudget(
  parts: BudgetParts,
  key: string,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const { client, clock, budgets } = parts;
  const budget = budgets.get(key);
  if (!budget || budget.metadata.deletionTimestamp !== undefined) return done;
  const pods = parts.pods();
  if (!pods.isSynced) return waitFor('pods are not known yet', unknownMs);
  const selected = selectedPods(budget, pods.cache.list(budget.metadata.namespace));
  const wanted = await planStatus(parts, { budget, pods: selected }, signal);
  if (wanted) await client.updateStatus(budgetResource, wanted, { signal });
  const recheck = recheckAt(wanted ?? budget);
  const recheckMs = recheck === undefined ? recountMs : Math.max(0, recheck - clock.now()) + 1;
  return again(Math.min(recountMs, recheckMs));
}

async function planStatus(
  { clock, scale }: BudgetParts,
  { budget, pods }: { readonly budget: Budget; readonly pods: readonly KubeObject[] },
  signal: AbortSignal,
): Promise<Budget | undefined> {
  const now = timestampOf(clock);
  try {
    const wantedPods = dependsOnScale(budget) ? await scale.sum(pods, signal) : 0;
    return planBudget(budget, { pods, wantedPods, nowMs: clock.now(), now });
  } catch (error) {
    if (!(error instanceof ScaleUnknown)) throw error;
    return planUnknown(budget, error.message, now);
  }
}
