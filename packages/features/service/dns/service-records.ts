import type { Endpoint, EndpointSlice, Service } from '@sheaf/api/workload/index';
import type { NameRecord } from '@sheaf/ports';

export interface ServiceQuestion {
  /** The whole name that is asked for. */
  readonly name: string;
  /** What stands before the name of the Service. */
  readonly before: readonly string[];
  /** The name of the Service. */
  readonly own: string;
  readonly slices: readonly EndpointSlice[];
}

export interface FoundRecords {
  readonly records: readonly NameRecord[];
  readonly further?: readonly NameRecord[];
}

/** Somebody who takes connections for a port of a Service. */
interface Taker {
  readonly target: string;
  readonly addresses: readonly string[];
  readonly portName: string;
  readonly protocol: string;
  readonly port: number;
}

/** Records of a name at or below that of a Service; `undefined`: there is no such name. */
export function serviceRecords(service: Service, question: ServiceQuestion): FoundRecords | undefined {
  const { name, before } = question;
  const [first, second, third] = before;
  if (first === undefined) {
    const { records, further } = toServers(name, takers(service, question));
    return { records: [...toAddresses(name, addressesOf(service, question)), ...records], further };
  }
  if (first.startsWith('_'))
    return third === undefined ? belowPort(service, question, [first, second]) : undefined;
  if (second !== undefined || service.spec.clusterIP !== 'None') return undefined;
  const named = endpointsOf(question).filter((endpoint) => endpointNames(endpoint).includes(first));
  if (named.length === 0) return undefined;
  return {
    records: toAddresses(
      name,
      named.flatMap(({ addresses }) => addresses),
    ),
  };
}

/** By its host name, else by its address. */
export function endpointNames({ hostname, addresses }: Endpoint): readonly string[] {
  return hostname ? [hostname] : addresses.map((address) => address.replaceAll('.', '-'));
}

/** `_PORT._PROTOCOL`, and `_PROTOCOL` alone, which is a name without records. */
function belowPort(
  service: Service,
  question: ServiceQuestion,
  [first, second]: readonly [string, string | undefined],
): FoundRecords | undefined {
  const protocol = (second ?? first).slice(1);
  const own = (service.spec.ports ?? []).filter(
    (port) => (port.protocol ?? 'TCP').toLowerCase() === protocol,
  );
  if (second === undefined) return own.length > 0 ? { records: [] } : undefined;
  const portName = first.slice(1);
  if (!second.startsWith('_') || !own.some((port) => port.name === portName)) return undefined;
  const meant = takers(service, question).filter(
    (taker) => taker.portName === portName && taker.protocol.toLowerCase() === protocol,
  );
  return toServers(question.name, meant);
}

function takers(service: Service, { own, slices }: ServiceQuestion): readonly Taker[] {
  const { ports = [], clusterIP } = service.spec;
  if (clusterIP !== 'None')
    return ports.map(({ name: portName = '', protocol = 'TCP', port }) => ({
      target: own,
      addresses: clusterAddresses(service),
      portName,
      protocol,
      port,
    }));
  return slices.flatMap((slice) =>
    slice.ports.flatMap(({ name: portName = '', protocol = 'TCP', port }) =>
      endpointsOf({ slices: [slice] }).flatMap((endpoint) =>
        endpointNames(endpoint).map((each) => ({
          target: `${each}.${own}`,
          addresses: endpoint.addresses,
          portName,
          protocol,
          port: port ?? 0,
        })),
      ),
    ),
  );
}

function addressesOf(service: Service, question: ServiceQuestion): readonly string[] {
  if (service.spec.clusterIP !== 'None') return clusterAddresses(service);
  return endpointsOf(question).flatMap(({ addresses }) => addresses);
}

function clusterAddresses({ spec }: Service): readonly string[] {
  const all = spec.clusterIPs ?? (spec.clusterIP ? [spec.clusterIP] : []);
  return all.filter((address) => address.includes('.'));
}

/** Those that are ready. */
function endpointsOf({ slices }: Pick<ServiceQuestion, 'slices'>): readonly Endpoint[] {
  return slices
    .filter(({ addressType }) => addressType === 'IPv4')
    .flatMap(({ endpoints }) => endpoints)
    .filter(({ conditions }) => conditions?.ready !== false);
}

function toAddresses(name: string, addresses: readonly string[]): readonly NameRecord[] {
  return [...new Set(addresses)].map((address) => ({ name, type: 'A', address }));
}

/** With the addresses of the targets, which are asked for next. */
function toServers(name: string, all: readonly Taker[]): Required<FoundRecords> {
  const weight = Math.max(1, Math.floor(100 / all.length));
  return {
    records: all.map(({ target, port }): NameRecord => ({ name, type: 'SRV', weight, port, target })),
    further: [...new Map(all.map((taker) => [taker.target, taker])).values()].flatMap(
      ({ target, addresses }) => toAddresses(target, addresses),
    ),
  };
}
