import type { KubeObject } from '@sheaf/api';
import { type Clock, StatusError } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import { done, type ObjectCache, type ReconcileResult } from '@sheaf/runtime';
import type { AddressOwners } from './address-owners.ts';
import { addressesOf, parentOf, planAddress, planReadiness } from './plan.ts';

export interface AddressParts {
  readonly client: Client;
  readonly owners: AddressOwners;
  readonly addresses: ObjectCache<KubeObject>;
}

/** Brings the IPAddress of one address in line with the Service that has it. */
export async function reconcileAddress(
  { client, owners, addresses }: AddressParts,
  address: string,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const existing = addresses.get(address);
  const step = planAddress(address, owners.get(address), existing);
  if (step.action === 'create') await create(client, step.object, signal);
  if (step.action === 'delete' && existing && !(await isClaimed(client, existing, signal)))
    await client.delete(
      resources.ipAddresses,
      { name: address },
      { uid: existing.metadata.uid ?? '', signal },
    );
  return done;
}

/** Someone else may have made one of that name; its change brings the address here again. */
async function create(client: Client, object: KubeObject, signal: AbortSignal): Promise<void> {
  try {
    await client.create(resources.ipAddresses, object, { signal });
  } catch (error) {
    if (!StatusError.is(error, 'AlreadyExists')) throw error;
  }
}

/** Asked at the server: the Service may be newer than what is known here. */
async function isClaimed(client: Client, address: KubeObject, signal: AbortSignal): Promise<boolean> {
  const parent = parentOf(address);
  const service = parent && (await client.find(resources.services, { ...parent }, signal));
  return service !== undefined && addressesOf(service).includes(address.metadata.name ?? '');
}

export interface RangeParts {
  readonly client: Client;
  readonly clock: Clock;
  readonly ranges: ObjectCache<KubeObject>;
  /** e.g. 10.43.0.0/16 */
  readonly network: string;
}

/** Says of one ServiceCIDR whether it is in use. */
export async function reconcileRange(
  { client, clock, ranges, network }: RangeParts,
  name: string,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const range = ranges.get(name);
  const now = new Date(clock.now()).toISOString().replace(/\.\d+Z$/, 'Z');
  const wanted = range && planReadiness(range, network, now);
  if (wanted) await client.updateStatus(resources.serviceCidrs, wanted, { signal });
  return done;
}
