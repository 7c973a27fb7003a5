import type { LabelSelector } from '@sheaf/api';
import { ageCell, type CellSources, listWithMore, nameOf, or, shaped } from './cell-source.ts';
import { labelsCell, selectorCell } from './label-cells.ts';

interface LoadBalancer {
  readonly loadBalancer?: {
    readonly ingress?: readonly { readonly ip?: string; readonly hostname?: string }[] | null;
  };
}

interface Service {
  readonly spec?: {
    readonly type?: string;
    readonly clusterIPs?: readonly string[] | null;
    readonly externalIPs?: readonly string[] | null;
    readonly externalName?: string;
    readonly ports?:
      | readonly { readonly port?: number; readonly nodePort?: number; readonly protocol?: string }[]
      | null;
    readonly selector?: Record<string, string>;
  };
  readonly status?: LoadBalancer;
}

interface Ingress {
  readonly spec?: {
    readonly ingressClassName?: string | null;
    readonly rules?: readonly { readonly host?: string }[] | null;
    readonly tls?: readonly unknown[] | null;
  };
  readonly status?: LoadBalancer;
}

interface IngressClass {
  readonly spec?: {
    readonly controller?: string;
    readonly parameters?: {
      readonly apiGroup?: string;
      readonly kind?: string;
      readonly name?: string;
    } | null;
  };
}

interface Endpoints {
  readonly subsets?:
    | readonly {
        readonly addresses?: readonly { readonly ip: string }[] | null;
        readonly ports?: readonly { readonly port: number }[] | null;
      }[]
    | null;
}

interface EndpointSlice {
  readonly addressType?: string;
  readonly ports?: readonly { readonly name?: string | null; readonly port?: number | null }[] | null;
  readonly endpoints?: readonly { readonly addresses?: readonly string[] | null }[] | null;
}

interface IpAddress {
  readonly spec?: {
    readonly parentRef?: {
      readonly group?: string;
      readonly resource?: string;
      readonly namespace?: string;
      readonly name?: string;
    } | null;
  };
}

const shownEntries = 3;

function loadBalancerCell(status: LoadBalancer | undefined): string {
  const addresses = (status?.loadBalancer?.ingress ?? []).map(({ ip, hostname }) => ip || hostname || '');
  return [...new Set(addresses.filter((address) => address !== ''))].sort().join(',');
}

function externalCell({ spec, status }: Service): string {
  const external = (spec?.externalIPs ?? []).join(',');
  switch (spec?.type) {
    case 'ClusterIP':
    case 'NodePort':
      return external || '<none>';
    case 'LoadBalancer':
      return [loadBalancerCell(status), external].filter((part) => part !== '').join(',') || '<pending>';
    case 'ExternalName':
      return or(spec.externalName, '');
    default:
      return '<unknown>';
  }
}

function portsCell({ spec }: Service): string {
  const ports = (spec?.ports ?? []).map(({ port, nodePort, protocol }) =>
    nodePort ? `${port}:${nodePort}/${or(protocol, '')}` : `${port}/${or(protocol, '')}`,
  );
  return ports.join(',') || '<none>';
}

function hostsCell({ spec }: Ingress): string {
  const rules = spec?.rules ?? [];
  const hosts: string[] = [];
  let hasMore = false;
  for (const { host } of rules) {
    if (hosts.length === shownEntries) hasMore = true;
    else if (host) hosts.push(host);
  }
  if (hosts.length === 0) return '*';
  return hasMore ? `${hosts.join(',')} + ${rules.length - shownEntries} more...` : hosts.join(',');
}

function endpointsCell({ subsets }: Endpoints): string {
  const list: string[] = [];
  for (const { addresses, ports } of subsets ?? []) {
    const ips = (addresses ?? []).map(({ ip }) => ip);
    if (!ports || ports.length === 0) list.push(...ips);
    for (const { port } of ports ?? [])
      list.push(...ips.map((ip) => (ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`)));
  }
  // Without subsets the cell says <none>, with empty ones nothing.
  return listWithMore(list, shownEntries, subsets && subsets.length > 0 ? '' : '<none>');
}

function parametersCell({ spec }: IngressClass): string {
  const parameters = spec?.parameters;
  if (!parameters) return '<none>';
  const group = parameters.apiGroup === undefined ? '' : `.${parameters.apiGroup}`;
  return `${or(parameters.kind, '')}${group}/${or(parameters.name, '')}`;
}

function parentCell({ spec }: IpAddress): string {
  const parent = spec?.parentRef;
  if (!parent) return '<none>';
  const resource = parent.group ? `${or(parent.resource, '')}.${parent.group}` : or(parent.resource, '');
  const namespace = parent.namespace ? `/${parent.namespace}` : '';
  return `${resource.toLowerCase()}${namespace}/${or(parent.name, '')}`;
}

export const networkCells: CellSources = {
  Service: (object, now) => {
    const service = shaped<Service>(object);
    return [
      nameOf(object),
      or(service.spec?.type, ''),
      or(service.spec?.clusterIPs?.[0], '<none>'),
      externalCell(service),
      portsCell(service),
      ageCell(object, now),
      labelsCell(service.spec?.selector),
    ];
  },
  Endpoints: (object, now) => [
    nameOf(object),
    endpointsCell(shaped<Endpoints>(object)),
    ageCell(object, now),
  ],
  'discovery.k8s.io/EndpointSlice': (object, now) => {
    const { addressType, ports, endpoints } = shaped<EndpointSlice>(object);
    return [
      nameOf(object),
      or(addressType, ''),
      listWithMore(
        (ports ?? []).map(({ port, name }) => `${port ?? or(name, '*')}`),
        shownEntries,
        '<unset>',
      ),
      listWithMore(
        (endpoints ?? []).flatMap(({ addresses }) => addresses ?? []),
        shownEntries,
        '<unset>',
      ),
      ageCell(object, now),
    ];
  },
  'networking.k8s.io/Ingress': (object, now) => {
    const ingress = shaped<Ingress>(object);
    return [
      nameOf(object),
      or(ingress.spec?.ingressClassName, '<none>'),
      hostsCell(ingress),
      loadBalancerCell(ingress.status),
      (ingress.spec?.tls ?? []).length > 0 ? '80, 443' : '80',
      ageCell(object, now),
    ];
  },
  'networking.k8s.io/IngressClass': (object, now) => {
    const ingressClass = shaped<IngressClass>(object);
    const isDefault = object.metadata.annotations?.['ingressclass.kubernetes.io/is-default-class'] === 'true';
    return [
      isDefault ? `${nameOf(object)} (default)` : nameOf(object),
      or(ingressClass.spec?.controller, ''),
      parametersCell(ingressClass),
      ageCell(object, now),
    ];
  },
  'networking.k8s.io/IPAddress': (object, now) => [
    nameOf(object),
    parentCell(shaped<IpAddress>(object)),
    ageCell(object, now),
  ],
  'networking.k8s.io/NetworkPolicy': (object, now) => {
    const { spec } = shaped<{ readonly spec?: { readonly podSelector?: LabelSelector } }>(object);
    return [nameOf(object), selectorCell(spec?.podSelector ?? {}), ageCell(object, now)];
  },
  'networking.k8s.io/ServiceCIDR': (object, now) => {
    const { spec } = shaped<{ readonly spec?: { readonly cidrs?: readonly string[] } }>(object);
    return [nameOf(object), (spec?.cidrs ?? []).join(','), ageCell(object, now)];
  },
};
