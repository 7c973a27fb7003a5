import { identityOf } from '@sheaf/api';
import type { Pod, PodDNSConfig } from '@sheaf/api/workload/index';
import { badRequest } from '@sheaf/base';
import { type HostPort, hostProgramRegistry, type SandboxDns, type SandboxSpec } from '@sheaf/ports';
import { podLabels, sandboxId } from './run-ids.ts';

export interface ClusterNames {
  /** Where names of the cluster are answered; none: nobody does. */
  readonly dnsServers: readonly string[];
  readonly domain: string;
  /** Where the host looks for names without a domain; asked after those of the cluster. */
  readonly hostSearches?: readonly string[];
}

/** As long as the kernel takes. */
const longestHostName = 64;
/** As many domains as resolvers take. */
const mostSearches = 32;

/** One life of a pod. @throws StatusError for what cannot be, in words for its events */
export function planSandboxSpec(pod: Pod, attempt: number, names: ClusterNames): SandboxSpec {
  const { namespace, name, uid } = identityOf(pod);
  const { spec } = pod;
  // Less apart from the host than it asks for would be a lie.
  if (spec.hostUsers === false)
    throw badRequest('user namespaces are not supported here: leave out hostUsers, or set it to true');
  const dns = dnsOf(pod, names);
  return {
    id: sandboxId(uid, attempt),
    title: `${namespace}/${name}`,
    labels: { [podLabels.uid]: uid, [podLabels.name]: name, [podLabels.namespace]: namespace },
    ...namesOf(pod, names),
    network: spec.hostNetwork ? { kind: 'host' } : { kind: 'pod', hostPorts: hostPortsOf(pod) },
    ...(dns && { dns }),
    ...(spec.hostAliases && {
      hosts: spec.hostAliases.map(({ ip, hostnames = [] }) => ({ address: ip, names: hostnames })),
    }),
    processes: processesOf(pod),
    sharedMemory: spec.hostIPC ? 'host' : 'sandbox',
    ...(runsPrograms(pod) && { isForPrograms: true }),
    ...sysctlsOf(pod),
  };
}

/** Who is in the domain of a Service has a full name; some want to see nothing else. */
function namesOf(
  { metadata, spec }: Pod,
  { domain }: ClusterNames,
): Pick<SandboxSpec, 'hostname' | 'domain'> {
  if (spec.hostnameOverride) return { hostname: spec.hostnameOverride };
  const hostname = (spec.hostname ?? metadata.name ?? '').slice(0, 63).replace(/[-.]+$/, '');
  if (!spec.subdomain || spec.hostNetwork) return { hostname };
  const own = `${spec.subdomain}.${metadata.namespace}.svc.${domain}`;
  if (!spec.setHostnameAsFQDN) return { hostname, domain: own };
  const whole = `${hostname}.${own}`;
  if (whole.length > longestHostName)
    throw badRequest(
      `Failed to construct FQDN from pod hostname and cluster domain, FQDN ${whole} is too long (${longestHostName} characters is the max, ${whole.length} characters requested): shorten hostname or subdomain, or leave out setHostnameAsFQDN`,
    );
  return { hostname: whole };
}

/** One pod has either images or programs of the host. */
export function runsPrograms({ spec }: Pod): boolean {
  const all = [...(spec.initContainers ?? []), ...spec.containers];
  return all.some(({ image }) => image?.startsWith(hostProgramRegistry));
}

function sysctlsOf({ spec }: Pod): Pick<SandboxSpec, 'sysctls'> {
  const settings = spec.securityContext?.sysctls ?? [];
  if (settings.length === 0) return {};
  return { sysctls: Object.fromEntries(settings.map(({ name, value }) => [name, value])) };
}

function processesOf({ spec }: Pod): SandboxSpec['processes'] {
  if (spec.hostPID) return 'host';
  return spec.shareProcessNamespace ? 'sandbox' : 'container';
}

function hostPortsOf({ spec }: Pod): readonly HostPort[] {
  const ports = [...(spec.initContainers ?? []), ...spec.containers].flatMap(({ ports: own = [] }) => own);
  return ports.flatMap(({ hostPort, containerPort, protocol, hostIP }): HostPort[] =>
    hostPort
      ? [
          {
            protocol: (protocol ?? 'TCP').toLowerCase() as HostPort['protocol'],
            hostPort,
            containerPort,
            ...(hostIP && { hostAddress: hostIP }),
          },
        ]
      : [],
  );
}

/** `undefined`: as the host does. */
function dnsOf(pod: Pod, names: ClusterNames): SandboxDns | undefined {
  const { dnsConfig, dnsPolicy } = pod.spec;
  if (asksCluster(pod, names)) return joined(clusterDns(pod, names), ownDns(dnsConfig));
  if (!dnsConfig) return undefined;
  if (dnsPolicy === 'None') return ownDns(dnsConfig);
  // As the host does, and something more: who answers for the cluster asks those whom the host asks.
  const { dnsServers, hostSearches = [] } = names;
  return joined({ servers: dnsServers, searches: hostSearches, options: [] }, ownDns(dnsConfig));
}

function ownDns({ nameservers = [], searches = [], options = [] }: PodDNSConfig = {}): SandboxDns {
  return {
    servers: nameservers,
    searches,
    options: options.map(({ name = '', value }) => (value === undefined ? name : `${name}:${value}`)),
  };
}

function asksCluster({ spec }: Pod, { dnsServers }: ClusterNames): boolean {
  if (dnsServers.length === 0) return false;
  if (spec.dnsPolicy === 'ClusterFirstWithHostNet') return true;
  return spec.dnsPolicy !== 'Default' && spec.dnsPolicy !== 'None' && !spec.hostNetwork;
}

function clusterDns({ metadata }: Pod, { dnsServers, domain, hostSearches = [] }: ClusterNames): SandboxDns {
  const searches = [`${metadata.namespace}.svc.${domain}`, `svc.${domain}`, domain, ...hostSearches];
  return {
    servers: dnsServers,
    searches: [...new Set(searches)].slice(0, mostSearches),
    options: ['ndots:5'],
  };
}

/** The pod's own options replace those of the same name. */
function joined(cluster: SandboxDns, own: SandboxDns): SandboxDns {
  const nameOf = (option: string): string => option.split(':')[0] ?? '';
  const names = new Set(own.options.map(nameOf));
  return {
    servers: [...cluster.servers, ...own.servers],
    searches: [...cluster.searches, ...own.searches],
    options: [...cluster.options.filter((option) => !names.has(nameOf(option))), ...own.options],
  };
}
