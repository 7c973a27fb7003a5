import type { KubeObject } from '@sheaf/api';
import { type Client, resources } from '@sheaf/client';
import { again, done, type ObjectCache, parseKey, type ReconcileResult, waitFor } from '@sheaf/runtime';
import { hardOf, planStatus, type QuotaMeasure, trackedBy } from './plan.ts';
import type { TrackedObjects } from './tracked-objects.ts';

export interface QuotaParts {
  readonly client: Client;
  readonly quotas: ObjectCache<KubeObject>;
  readonly tracked: TrackedObjects;
  readonly measure: QuotaMeasure;
}

const unknownMs = 50;
const recountMs = 5 * 60_000;

/** Counts what the namespace of one quota uses, and writes it. */
export async function reconcileQuota(
  { client, quotas, tracked, measure }: QuotaParts,
  key: string,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const quota = quotas.get(key);
  if (!quota || quota.metadata.deletionTimestamp !== undefined) return done;
  const names = new Set(Object.keys(hardOf(quota)).map((name) => trackedBy(name).groupResource));
  if (!(await tracked.follow(names, signal))) return waitFor('its objects are not known yet', unknownMs);
  const { namespace } = parseKey(key);
  const objects = (name: string): readonly KubeObject[] | undefined => tracked.list(name, namespace);
  const wanted = planStatus(quota, { objects, measure });
  if (wanted) await client.updateStatus(resources.resourceQuotas, wanted, { signal });
  return again(recountMs);
}
