import type { ResourceQuota } from '@sheaf/api/virtualization/index';
import { parseQuantity, QuantitySyntaxError, quantityAsInteger, StatusError } from '@sheaf/base';
import type { ResourceRef } from '@sheaf/client';
import { untilFresh } from '../carry-out.ts';
import { type Action, type ActionCall, invalidBody, textOf } from './action-call.ts';

const quotaResource: ResourceRef<ResourceQuota> = {
  group: 'harvesterhci.io',
  version: 'v1beta1',
  plural: 'resourcequotas',
  kind: 'ResourceQuota',
  namespaced: true,
};
/** The only name that admission lets through. */
const quotaName = 'default-resource-quota';

export const quotaActions: Readonly<Record<string, Action>> = { updateResourceQuota, deleteResourceQuota };

/** How much the snapshots of this machine may take. */
async function updateResourceQuota(call: ActionCall): Promise<undefined> {
  await mayUpdate(call);
  const bytes = readBytes(textOf(call, 'totalSnapshotSizeQuota'));
  await changeQuotas(call, (quotas) => ({ ...quotas, [call.place.name]: bytes }), bytes > 0);
  return undefined;
}

async function deleteResourceQuota(call: ActionCall): Promise<undefined> {
  await mayUpdate(call);
  await changeQuotas(
    call,
    (quotas) => {
      const { [call.place.name]: _, ...rest } = quotas;
      return rest;
    },
    false,
  );
  return undefined;
}

async function mayUpdate({ request, place }: ActionCall): Promise<void> {
  const { group, plural: resource } = quotaResource;
  const question = { verb: 'update', group, resource, namespace: place.namespace };
  if (await request.may(question)) return;
  throw new StatusError({
    reason: 'Forbidden',
    message:
      'PermissionDenied 403: User does not have permission to update resource quota; ask for update on resourcequotas.harvesterhci.io in this namespace',
  });
}

type Quotas = Readonly<Record<string, number>>;

async function changeQuotas(
  { client, place, signal }: ActionCall,
  change: (quotas: Quotas) => Quotas,
  isMadeIfAbsent: boolean,
): Promise<void> {
  const metadata = { namespace: place.namespace, name: quotaName };
  await untilFresh(async () => {
    const quota = await client.find(quotaResource, metadata, signal);
    if (!quota && !isMadeIfAbsent) return;
    const limit = quota?.spec?.snapshotLimit;
    const snapshotLimit = {
      ...limit,
      vmTotalSnapshotSizeQuota: change(limit?.vmTotalSnapshotSizeQuota ?? {}),
    };
    if (quota)
      await client.update(quotaResource, { ...quota, spec: { ...quota.spec, snapshotLimit } }, { signal });
    else await client.create(quotaResource, { metadata, spec: { snapshotLimit } }, { signal });
  });
}

function readBytes(text: string): number {
  const wayOut = 'give a size such as 10Gi';
  try {
    const bytes = quantityAsInteger(parseQuantity(text));
    if (bytes !== undefined && bytes >= 0n && bytes <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(bytes);
  } catch (error) {
    if (!(error instanceof QuantitySyntaxError)) throw error;
    throw invalidBody(`Failed to parse totalSnapshotSizeQuota: ${error.message}; ${wayOut}`);
  }
  throw invalidBody(`Failed to parse totalSnapshotSizeQuota as int64; ${wayOut}`);
}
