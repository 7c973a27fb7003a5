import { timestampOf } from '@sheaf/api';
import type { KeyPair } from '@sheaf/api/virtualization/index';
import type { Clock } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import { done, type ReconcileResult } from '@sheaf/runtime';
import { planKeyPair } from './plan.ts';

/** The fingerprint follows the key, also when that is changed. */
export async function reconcileKeyPair(
  { client, clock }: { readonly client: Client; readonly clock: Clock },
  keyPair: KeyPair | undefined,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  if (!keyPair || keyPair.metadata.deletionTimestamp !== undefined) return done;
  const planned = planKeyPair(keyPair, timestampOf(clock));
  if (planned !== keyPair) await client.update(resources.keyPairs, planned, { signal });
  return done;
}
