import { identityOf } from '@sheaf/api';
import type { EndpointSlice, Pod, Service } from '@sheaf/api/workload/index';
import { StatusError } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import { again, done, type ObjectCache, type ReconcileResult, type WrittenObjects } from '@sheaf/runtime';
import { managedByLabel, managerName, planSlices } from './plan.ts';

export interface SliceParts {
  readonly client: Client;
  readonly services: ObjectCache<Service>;
  readonly pods: ObjectCache<Pod>;
  readonly slices: WrittenObjects<EndpointSlice>;
}

/** One pass over the slices of a service. Those of a service that is gone go with it. */
export async function reconcileSlices(
  parts: SliceParts,
  key: string,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const service = parts.services.get(key);
  if (!service) return done;
  const { namespace } = identityOf(service);
  const all = await parts.slices.list(namespace, signal);
  const slices = all.filter((slice) => isOf(slice, service));
  const steps = planSlices({ service, pods: parts.pods.list(namespace), slices });
  for (const slice of steps.create)
    parts.slices.note(await parts.client.create(resources.endpointSlices, slice, { signal }));
  for (const slice of steps.update)
    parts.slices.note(await parts.client.update(resources.endpointSlices, slice, { signal }));
  for (const slice of steps.delete) await remove(parts, slice, signal);
  const { doubtInMs } = parts.slices;
  return doubtInMs === undefined ? done : again(doubtInMs);
}

function isOf({ metadata }: EndpointSlice, service: Service): boolean {
  const isOurs = metadata.labels?.[managedByLabel] === managerName;
  return isOurs && metadata.ownerReferences?.some(({ uid }) => uid === service.metadata.uid) === true;
}

async function remove(
  { client, slices }: SliceParts,
  slice: EndpointSlice,
  signal: AbortSignal,
): Promise<void> {
  const { namespace, name, uid } = identityOf(slice);
  try {
    await client.delete(resources.endpointSlices, { namespace, name }, { uid, signal });
  } catch (error) {
    if (!StatusError.is(error, 'NotFound') && !StatusError.is(error, 'Conflict')) throw error;
  }
  slices.noteDeletion(slice);
}
