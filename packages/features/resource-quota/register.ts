import { resources } from '@sheaf/client';
import { keyOf, type Manager } from '@sheaf/runtime';
import type { QuotaMeasure } from './plan.ts';
import { reconcileQuota } from './reconcile.ts';
import { TrackedObjects } from './tracked-objects.ts';

export type { QuotaMeasure } from './plan.ts';

export interface ResourceQuotaOptions {
  readonly measure: QuotaMeasure;
}

/** Many objects change together: they are counted once. */
const gatherMs = 100;

/** Keeps the status of ResourceQuotas. */
export function register(manager: Manager, { measure }: ResourceQuotaOptions): void {
  const informer = manager.informer(resources.resourceQuotas);
  const tracked = new TrackedObjects(manager, (namespace) => {
    for (const quota of informer.cache.list(namespace)) controller.queue.addAfter(keyOf(quota), gatherMs);
  });
  const parts = { client: manager.client, quotas: informer.cache, tracked, measure };
  const controller = manager
    .controller({
      name: 'resource-quota',
      reconcile: (key, signal) => reconcileQuota(parts, key, signal),
    })
    .watch(informer);
  manager.add({
    start: () => Promise.resolve(),
    stop: () => Promise.resolve(tracked.dispose()),
  });
}
