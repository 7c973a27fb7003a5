import { resources } from '@sheaf/client';
import { keyOf, type Manager } from '@sheaf/runtime';
import { type AggregateRules, isAggregating } from './plan.ts';
import { reconcileRole } from './reconcile.ts';

export interface ClusterRoleAggregationOptions {
  readonly aggregate: AggregateRules;
}

/** Keeps the rules of aggregating ClusterRoles. */
export function register(manager: Manager, { aggregate }: ClusterRoleAggregationOptions): void {
  const informer = manager.informer(resources.clusterRoles);
  const parts = { client: manager.client, roles: informer.cache, aggregate };
  manager
    .controller({
      name: 'cluster-role-aggregation',
      reconcile: (key, signal) => reconcileRole(parts, key, signal),
    })
    // Whichever role changes: it may be selected now, or not any more.
    .watchMapped(informer, () => informer.cache.list().filter(isAggregating).map(keyOf));
}
