import type { Disposable } from '@sheaf/base';
import type { NameServer, ProxyBackend, ServiceProxy } from '@sheaf/ports';
import type { Manager } from '@sheaf/runtime';
import { type ClusterNameService, register as registerNames } from './dns/register.ts';
import { register as registerEndpointSlices } from './endpoint-slice/register.ts';
import { register as registerEndpoints } from './endpoints/register.ts';
import { register as registerMirror } from './endpoints-mirror/register.ts';
import { register as registerProxy } from './proxy/register.ts';

/** What makes Services more than words on a host. */
export interface ServiceHost {
  readonly nodeName: string;
  readonly proxy: ServiceProxy;
  readonly nameServer: NameServer;
  /** The domain of the cluster: `cluster.local`. */
  readonly zone: string;
  /** Where pods ask for names, in the network of Services. */
  readonly nameAddress: string;
  /** Where pods of this host are led to the API server; `undefined`: they cannot be. */
  readonly apiServer: ProxyBackend | undefined;
  /** Tells when pods of this host come or go. */
  readonly onPodChange: (listener: () => void) => Disposable;
}

const apiServiceId = 'default/kubernetes';

/** Tells who is behind Services. */
export function register(manager: Manager): void {
  registerEndpointSlices(manager);
  registerEndpoints(manager);
  registerMirror(manager);
}

/** Makes Services reachable from the pods of this host and from itself, by address and by name. */
export function registerReach(manager: Manager, host: ServiceHost): Pick<ClusterNameService, 'names'> {
  const { apiServer, nodeName, proxy, onPodChange } = host;
  const names = registerNames(manager, {
    server: host.nameServer,
    zone: host.zone,
    address: host.nameAddress,
  });
  registerProxy(manager, {
    ready: () => names.begun(),
    proxy,
    nodeName,
    onPodChange,
    parts() {
      const parts = new Map<string, ProxyBackend>();
      const nameServer = names.backend();
      if (apiServer) parts.set(apiServiceId, apiServer);
      if (nameServer) parts.set(names.serviceId, nameServer);
      return parts;
    },
  });
  return names;
}
