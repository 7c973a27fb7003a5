import { identityOf } from '@sheaf/api';
import type { EndpointSlice, Endpoints, Service } from '@sheaf/api/workload/index';
import { StatusError } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import { again, done, type ObjectCache, type ReconcileResult, type WrittenObjects } from '@sheaf/runtime';
import { managedByLabel, mirrorName, planMirror } from './plan.ts';

export interface MirrorParts {
  readonly client: Client;
  readonly services: ObjectCache<Service>;
  readonly endpoints: ObjectCache<Endpoints>;
  readonly slices: WrittenObjects<EndpointSlice>;
}

/** One pass over the slices that tell what users have written. */
export async function reconcileMirror(
  { client, services, endpoints, slices }: MirrorParts,
  key: string,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const [namespace = '', name = ''] = key.split('/');
  const all = await slices.list(namespace, signal);
  const own = all.filter(
    ({ metadata: { labels } }) =>
      labels?.[managedByLabel] === mirrorName && labels['kubernetes.io/service-name'] === name,
  );
  const steps = planMirror({ service: services.get(key), endpoints: endpoints.get(key), slices: own });
  for (const slice of steps.create)
    slices.note(await client.create(resources.endpointSlices, slice, { signal }));
  for (const slice of steps.update)
    slices.note(await client.update(resources.endpointSlices, slice, { signal }));
  for (const slice of steps.delete) {
    const { uid, ...ref } = identityOf(slice);
    await client.delete(resources.endpointSlices, ref, { uid, signal }).catch(unlessGone);
    slices.noteDeletion(slice);
  }
  const { doubtInMs } = slices;
  return doubtInMs === undefined ? done : again(doubtInMs);
}

function unlessGone(error: unknown): void {
  if (!StatusError.is(error, 'NotFound') && !StatusError.is(error, 'Conflict')) throw error;
}
