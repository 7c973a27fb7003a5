import { resources } from '@sheaf/client';
import type { Manager } from '@sheaf/runtime';
import { reconcileEndpoints } from './reconcile.ts';

const concurrency = 4;

/** Tells old clients who is behind a Service. */
export function register(manager: Manager): void {
  const { client } = manager;
  const services = manager.informer(resources.services);
  const slices = manager.informer(resources.endpointSlices);
  const endpoints = manager.informer(resources.endpoints);
  const parts = { client, services: services.cache, slices: slices.cache, endpoints: endpoints.cache };
  manager
    .controller({
      name: 'endpoints',
      concurrency,
      reconcile: (key, signal) => reconcileEndpoints(parts, key, signal),
    })
    .watch(services)
    .watch(endpoints)
    .watchMapped(slices, ({ metadata }) => {
      const service = metadata.labels?.['kubernetes.io/service-name'];
      return service === undefined ? [] : [`${metadata.namespace}/${service}`];
    });
}
