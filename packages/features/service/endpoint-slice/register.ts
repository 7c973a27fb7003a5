import { labelMatcherOf, matchesLabels } from '@sheaf/api';
import { resources } from '@sheaf/client';
import { keyOf, type Manager, WrittenObjects } from '@sheaf/runtime';
import { reconcileSlices } from './reconcile.ts';

const concurrency = 4;

/** Tells which pods are behind which Service. */
export function register(manager: Manager): void {
  const { client, clock } = manager;
  const services = manager.informer(resources.services);
  const pods = manager.informer(resources.pods);
  const slices = manager.informer(resources.endpointSlices);
  const parts = {
    client,
    services: services.cache,
    pods: pods.cache,
    slices: new WrittenObjects({ client, clock, informer: slices }),
  };
  manager
    .controller({
      name: 'endpoint-slice',
      concurrency,
      reconcile: (key, signal) => reconcileSlices(parts, key, signal),
    })
    .watch(services)
    .watchMapped(pods, ({ metadata }) =>
      services.cache
        .list(metadata.namespace)
        .filter(
          ({ spec }) =>
            spec.selector &&
            matchesLabels(labelMatcherOf({ matchLabels: { ...spec.selector } }), metadata.labels ?? {}),
        )
        .map(keyOf),
    )
    .watchMapped(slices, ({ metadata }) => {
      const service = metadata.labels?.['kubernetes.io/service-name'];
      return service === undefined ? [] : [`${metadata.namespace}/${service}`];
    });
}
