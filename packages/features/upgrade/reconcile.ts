import { timestampOf } from '@sheaf/api';
import type { Upgrade } from '@sheaf/api/virtualization/index';
import type { Clock } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import { done, type ObjectCache, type ReconcileResult } from '@sheaf/runtime';

export interface UpgradeParts {
  readonly client: Client;
  readonly clock: Clock;
  readonly upgrades: ObjectCache<Upgrade>;
}

/** Says of an upgrade that has passed the gate that nobody carries it out, so that none waits for it. */
export async function reconcileUpgrade(
  { client, clock, upgrades }: UpgradeParts,
  key: string,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const upgrade = upgrades.get(key);
  if (!upgrade || upgrade.metadata.deletionTimestamp !== undefined) return done;
  const conditions = upgrade.status?.conditions ?? [];
  if (conditions.some(({ type }) => type === 'Completed')) return done;
  const completed = {
    type: 'Completed',
    status: 'False',
    reason: 'NotCarriedOut',
    message:
      'Nothing stands in its way, but this release does not carry upgrades out; needs someone: start the new release of Sheaf on this host, and delete this object',
    lastUpdateTime: timestampOf(clock),
  };
  const status = { ...upgrade.status, conditions: [...conditions, completed] };
  await client.update(resources.upgrades, { ...upgrade, status }, { signal });
  return done;
}
