import { resources } from '@sheaf/client';
import { keyOf, type Manager } from '@sheaf/runtime';
import { AddressOwners } from './address-owners.ts';
import { addressesOf } from './plan.ts';
import { reconcileAddress, reconcileRange } from './reconcile.ts';

export interface ServiceAddressOptions {
  /** Where Services get their addresses from, e.g. 10.43.0.0/16. */
  readonly network: string;
}

/** Keeps the IPAddresses of Services, and the conditions of ServiceCIDRs. */
export function register(manager: Manager, { network }: ServiceAddressOptions): void {
  const { client, clock } = manager;
  const services = manager.informer(resources.services);
  const addresses = manager.informer(resources.ipAddresses);
  const ranges = manager.informer(resources.serviceCidrs);
  const owners = new AddressOwners();
  // Told before the controller is.
  services.onChange((change) => owners.follow(change));
  manager
    .controller({
      name: 'service-address',
      reconcile: (address, signal) =>
        reconcileAddress({ client, owners, addresses: addresses.cache }, address, signal),
    })
    .watchMapped(services, addressesOf)
    .watchMapped(addresses, (object) => [keyOf(object)]);
  manager
    .controller({
      name: 'service-range',
      reconcile: (name, signal) =>
        reconcileRange({ client, clock, ranges: ranges.cache, network }, name, signal),
    })
    .watch(ranges);
}
