import type { KubeObject } from '@sheaf/api';
import { type Client, resources } from '@sheaf/client';
import { done, type ObjectCache, type ReconcileResult } from '@sheaf/runtime';
import { type AggregateRules, planAggregation } from './plan.ts';

export interface AggregationParts {
  readonly client: Client;
  readonly roles: ObjectCache<KubeObject>;
  readonly aggregate: AggregateRules;
}

/** Writes the rules of one role. A role that is known in an old state only is refused as a conflict and comes again. */
export async function reconcileRole(
  { client, roles, aggregate }: AggregationParts,
  name: string,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const role = roles.get(name);
  const wanted = role && planAggregation(role, roles.list(), aggregate);
  if (wanted) await client.update(resources.clusterRoles, wanted, { signal });
  return done;
}
