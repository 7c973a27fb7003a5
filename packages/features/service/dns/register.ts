import { toError } from '@sheaf/base';
import { resources } from '@sheaf/client';
import type { NameServer, ProxyBackend } from '@sheaf/ports';
import type { Manager } from '@sheaf/runtime';
import { type ClusterView, planAnswer } from './plan.ts';
import { dnsService, reconcileDnsService } from './reconcile.ts';

export interface ClusterNamesOptions {
  readonly server: NameServer;
  /** `cluster.local` */
  readonly zone: string;
  /** That pods ask at, in the network of Services. */
  readonly address: string;
}

/** What others need to know of the names of the cluster. */
export interface ClusterNameService {
  /** `NAMESPACE/NAME` of its Service. */
  readonly serviceId: string;
  /** Where it listens on this host; `undefined` as long as it does not. */
  backend(): ProxyBackend | undefined;
  /** Resolves when it listens, or is known not to. */
  begun(): Promise<void>;
  /** For pods. */
  names(): {
    readonly dnsServers: readonly string[];
    readonly domain: string;
    readonly hostSearches: readonly string[];
  };
}

const serviceId = `${dnsService.namespace}/${dnsService.name}`;

/** Answers for the names of Services and pods. */
export function register(
  manager: Manager,
  { server, zone, address }: ClusterNamesOptions,
): ClusterNameService {
  const { client, logger } = manager;
  const namespaces = manager.informer(resources.namespaces);
  const services = manager.informer(resources.services);
  const slices = manager.informer(resources.endpointSlices);
  const pods = manager.informer(resources.pods);
  const informers = [namespaces, services, slices, pods];
  const view: ClusterView = {
    hasNamespace: (namespace) => namespaces.cache.get(namespace) !== undefined,
    service: (namespace, name) => services.cache.get(`${namespace}/${name}`),
    services: () => services.cache.list(),
    slices: (namespace, name) =>
      slices.cache
        .list(namespace)
        .filter(({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === name),
    pods: (namespace) => pods.cache.list(namespace),
  };
  let backend: ProxyBackend | undefined;
  const begun = Promise.withResolvers<void>();
  manager
    .controller({
      name: 'cluster-names',
      reconcile: (_, signal) =>
        reconcileDnsService({ client, logger, services: services.cache, address }, signal),
    })
    .watchMapped(services, (service) => (isDns(service) ? [serviceId] : []))
    .watchMapped(namespaces, ({ metadata }) => (metadata.name === dnsService.namespace ? [serviceId] : []));
  manager.add({
    async start() {
      try {
        backend = await server.start((question) => {
          const isKnown = informers.every(({ isSynced }) => isSynced);
          return planAnswer(question, { zone, view: isKnown ? view : undefined });
        });
      } catch (error) {
        // Everything else goes on.
        logger.error('names of the cluster are not answered: no port of the loopback can be had', {
          cause: toError(error),
        });
      }
      begun.resolve();
    },
    stop() {
      server.dispose();
      return Promise.resolve();
    },
  });
  return {
    serviceId,
    backend: () => backend,
    begun: () => begun.promise,
    names() {
      const dnsServers = [services.cache.get(serviceId)?.spec.clusterIP ?? address];
      return { dnsServers, domain: zone, hostSearches: server.searches() };
    },
  };
}

function isDns({
  metadata,
}: {
  readonly metadata: { readonly namespace?: string; readonly name?: string };
}): boolean {
  return metadata.namespace === dnsService.namespace && metadata.name === dnsService.name;
}
