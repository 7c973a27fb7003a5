import { identityOf } from '@sheaf/api';
import type { Endpoint, EndpointSlice, Service, ServicePort } from '@sheaf/api/workload/index';
import type { ProxiedPort, ProxiedService, ProxyBackend } from '@sheaf/ports';

export interface ProxyFacts {
  readonly services: readonly Service[];
  readonly slices: readonly EndpointSlice[];
  readonly nodeName: string;
  /** Services that this process answers itself, by `NAMESPACE/NAME`: where it listens. */
  readonly parts: ReadonlyMap<string, ProxyBackend>;
}

/** Of Services that another program leads. */
const otherProxyLabel = 'service.kubernetes.io/service-proxy-name';
const serviceLabel = 'kubernetes.io/service-name';
/** Addresses that would lead into the host itself, or nowhere. */
const special = /^(0|127|169\.254|22[4-9]|23\d|24\d|25[0-5])\./;
const usualAffinitySeconds = 10_800;

/** Which Services are to be reached, and who is behind them: the same for the same facts, in whatever order they come. */
export function planServices({ services, slices, nodeName, parts }: ProxyFacts): readonly ProxiedService[] {
  const byService = Map.groupBy(
    slices,
    ({ metadata }) => `${metadata.namespace}/${metadata.labels?.[serviceLabel]}`,
  );
  return services
    .filter(isProxied)
    .map((service) => {
      const { namespace, name } = identityOf(service);
      const id = `${namespace}/${name}`;
      return planService(service, { id, slices: byService.get(id) ?? [], nodeName, part: parts.get(id) });
    })
    .toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

function isProxied({ metadata, spec }: Service): boolean {
  const { clusterIP = '', type } = spec;
  return type !== 'ExternalName' && isAddress(clusterIP) && metadata.labels?.[otherProxyLabel] === undefined;
}

interface ServiceContext {
  readonly id: string;
  readonly slices: readonly EndpointSlice[];
  readonly nodeName: string;
  readonly part: ProxyBackend | undefined;
}

function planService({ spec }: Service, context: ServiceContext): ProxiedService {
  const isSticky = spec.sessionAffinity === 'ClientIP';
  const hasNodePorts = spec.type === 'NodePort' || spec.type === 'LoadBalancer';
  return {
    id: context.id,
    addresses: (spec.clusterIPs ?? [spec.clusterIP ?? '']).filter(isAddress),
    externalAddresses: (spec.externalIPs ?? []).filter(
      (address) => isAddress(address) && !special.test(address),
    ),
    ...(isSticky && {
      affinitySeconds: spec.sessionAffinityConfig?.clientIP?.timeoutSeconds ?? usualAffinitySeconds,
    }),
    ports: (spec.ports ?? []).flatMap((port): ProxiedPort[] => {
      const protocol = port.protocol ?? 'TCP';
      if (protocol !== 'TCP' && protocol !== 'UDP') return [];
      return [
        {
          protocol,
          port: port.port,
          backends: backendsOf(port, spec.internalTrafficPolicy === 'Local', context),
          outsideBackends: context.part
            ? []
            : backendsOf(port, spec.externalTrafficPolicy === 'Local', context),
          ...(hasNodePorts && port.nodePort !== undefined && { nodePort: port.nodePort }),
        },
      ];
    }),
  };
}

/** Those that are ready; where none is, those that still serve on their way out. */
function backendsOf(
  { name = '', protocol = 'TCP' }: ServicePort,
  isLocal: boolean,
  { slices, nodeName, part }: ServiceContext,
): readonly ProxyBackend[] {
  if (part) return [part];
  const all = slices
    .filter(({ addressType }) => addressType === 'IPv4')
    .flatMap(({ ports, endpoints }) => {
      const own = ports.find((each) => (each.name ?? '') === name && (each.protocol ?? 'TCP') === protocol);
      return own?.port === undefined ? [] : endpoints.map((endpoint) => ({ endpoint, port: own.port ?? 0 }));
    })
    .filter(({ endpoint }) => !isLocal || endpoint.nodeName === nodeName);
  const ready = all.filter(({ endpoint }) => endpoint.conditions?.ready !== false);
  const chosen = ready.length > 0 ? ready : all.filter(({ endpoint }) => isServing(endpoint));
  const backends = chosen.flatMap(({ endpoint, port }) =>
    endpoint.addresses
      .slice(0, 1)
      .filter((address) => isAddress(address) && !special.test(address))
      .map((address): [string, ProxyBackend] => [`${address}:${port}`, { address, port }]),
  );
  return [...new Map(backends.toSorted(([a], [b]) => (a < b ? -1 : 1))).values()];
}

function isServing({ conditions }: Endpoint): boolean {
  return conditions?.serving === true && conditions.terminating === true;
}

/** IPv4. */
function isAddress(text: string): boolean {
  return /^\d{1,3}(\.\d{1,3}){3}$/.test(text);
}
