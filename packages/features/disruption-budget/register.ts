import type { KubeObject } from '@sheaf/api';
import type { Pod } from '@sheaf/api/workload/index';
import { type Disposable, DisposableStore } from '@sheaf/base';
import { resources } from '@sheaf/client';
import { type Informer, keyOf, type Manager } from '@sheaf/runtime';
import { OwnerScale } from './owner-scale.ts';
import { selectedPods } from './plan.ts';
import { budgetResource, reconcileBudget } from './reconcile.ts';

/** Many pods change together: they are counted once. */
const gatherMs = 100;

/** Keeps the status of PodDisruptionBudgets. */
export function register(manager: Manager): void {
  const { client, clock } = manager;
  const budgets = manager.informer(budgetResource);
  const lifetime = new DisposableStore();
  let subscription: Disposable | undefined;
  const pods = (): Informer<Pod> => {
    const informer = manager.informer(resources.pods);
    subscription ??= lifetime.add(informer.onChange(({ object, old }) => look([object, old])));
    return informer;
  };
  const look = (changed: readonly (KubeObject | undefined)[]): void => {
    const present = changed.filter((pod) => pod !== undefined);
    for (const budget of budgets.cache.list(present[0]?.metadata.namespace))
      if (selectedPods(budget, present).length > 0) controller.queue.addAfter(keyOf(budget), gatherMs);
  };
  const parts = { client, clock, budgets: budgets.cache, pods, scale: new OwnerScale(client) };
  const controller = manager
    .controller({
      name: 'disruption-budget',
      reconcile: (key, signal) => reconcileBudget(parts, key, signal),
    })
    .watch(budgets);
  manager.add({ start: () => Promise.resolve(), stop: () => Promise.resolve(lifetime.dispose()) });
}
