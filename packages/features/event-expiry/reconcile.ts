import type { KubeObject } from '@sheaf/api';
import { type Clock, StatusError } from '@sheaf/base';
import { type Client, refOf, resources } from '@sheaf/client';
import { again, type ReconcileResult } from '@sheaf/runtime';
import { planExpired } from './plan.ts';

const sweepMs = 60_000;
const pageSize = 500;
/** Deletions at once: users' requests come first. */
const batchSize = 8;

/** One sweep over all events. */
export async function sweepEvents(
  { client, clock }: { readonly client: Client; readonly clock: Clock },
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const { items } = await client.list(resources.events, { limit: pageSize, signal });
  const expired = planExpired(items, clock.now());
  for (let start = 0; start < expired.length; start += batchSize) {
    const batch = expired.slice(start, start + batchSize);
    await Promise.all(batch.map((event) => expire(client, event, signal)));
  }
  return again(sweepMs);
}

async function expire(client: Client, event: KubeObject, signal: AbortSignal): Promise<void> {
  const { uid = '', resourceVersion = '' } = event.metadata;
  try {
    await client.delete(resources.events, refOf(event), { uid, resourceVersion, signal });
  } catch (error) {
    // Gone already, or happened again meanwhile: both are as they should be.
    if (!StatusError.is(error, 'NotFound') && !StatusError.is(error, 'Conflict')) throw error;
  }
}
