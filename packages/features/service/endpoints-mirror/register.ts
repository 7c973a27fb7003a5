import { resources } from '@sheaf/client';
import { type Manager, WrittenObjects } from '@sheaf/runtime';
import { managedByLabel, mirrorName } from './plan.ts';
import { reconcileMirror } from './reconcile.ts';

/** Tells in slices what users have written as Endpoints. */
export function register(manager: Manager): void {
  const { client, clock } = manager;
  const services = manager.informer(resources.services);
  const endpoints = manager.informer(resources.endpoints);
  const slices = manager.informer(resources.endpointSlices);
  const parts = {
    client,
    services: services.cache,
    endpoints: endpoints.cache,
    slices: new WrittenObjects({ client, clock, informer: slices }),
  };
  manager
    .controller({ name: 'endpoints-mirror', reconcile: (key, signal) => reconcileMirror(parts, key, signal) })
    .watch(services)
    .watch(endpoints)
    .watchMapped(slices, ({ metadata: { namespace, labels } }) =>
      labels?.[managedByLabel] === mirrorName ? [`${namespace}/${labels['kubernetes.io/service-name']}`] : [],
    );
}
