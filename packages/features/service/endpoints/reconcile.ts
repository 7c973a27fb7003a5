import { identityOf } from '@sheaf/api';
import type { EndpointSlice, Endpoints, Service } from '@sheaf/api/workload/index';
import { StatusError } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import { done, type ObjectCache, type ReconcileResult } from '@sheaf/runtime';
import { managedByLabel, managerName } from '../endpoint-slice/plan.ts';
import { planEndpoints } from './plan.ts';

export interface EndpointsParts {
  readonly client: Client;
  readonly services: ObjectCache<Service>;
  readonly slices: ObjectCache<EndpointSlice>;
  readonly endpoints: ObjectCache<Endpoints>;
}

/** One pass over the Endpoints of a Service; they go with it. */
export async function reconcileEndpoints(
  { client, services, slices, endpoints }: EndpointsParts,
  key: string,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const service = services.get(key);
  const existing = endpoints.get(key);
  if (!service) {
    if (existing?.metadata.labels?.['endpoints.kubernetes.io/managed-by'] === 'endpoint-controller')
      await remove(client, existing, signal);
    return done;
  }
  const own = slices.list(service.metadata.namespace).filter(({ metadata }) => {
    const isOurs = metadata.labels?.[managedByLabel] === managerName;
    return isOurs && metadata.labels?.['kubernetes.io/service-name'] === service.metadata.name;
  });
  const step = planEndpoints({ service, slices: own, existing });
  if (step.action === 'create') await create(client, step.object, signal);
  if (step.action === 'update') await client.update(resources.endpoints, step.object, { signal });
  return done;
}

/** Somebody may have made them meanwhile; their change brings them here again. */
async function create(client: Client, object: Endpoints, signal: AbortSignal): Promise<void> {
  try {
    await client.create(resources.endpoints, object, { signal });
  } catch (error) {
    if (!StatusError.is(error, 'AlreadyExists')) throw error;
  }
}

async function remove(client: Client, object: Endpoints, signal: AbortSignal): Promise<void> {
  const { namespace, name, uid } = identityOf(object);
  try {
    await client.delete(resources.endpoints, { namespace, name }, { uid, signal });
  } catch (error) {
    if (!StatusError.is(error, 'NotFound') && !StatusError.is(error, 'Conflict')) throw error;
  }
}
