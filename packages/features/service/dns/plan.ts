import { identityOf } from '@sheaf/api';
import type { Endpoint, EndpointSlice, Pod, Service } from '@sheaf/api/workload/index';
import type { NameAnswer, NameQuestion, NameRecord } from '@sheaf/ports';
import { endpointNames, type FoundRecords, serviceRecords } from './service-records.ts';

/** What is known of the cluster when a question comes. */
export interface NameFacts {
  /** Without a dot at its end: `cluster.local`. */
  readonly zone: string;
  /** `undefined`: not everything is known yet. */
  readonly view: ClusterView | undefined;
}

export interface ClusterView {
  hasNamespace(namespace: string): boolean;
  service(namespace: string, name: string): Service | undefined;
  services(): readonly Service[];
  /** Of one Service. */
  slices(namespace: string, name: string): readonly EndpointSlice[];
  /** Of one namespace. */
  pods(namespace: string): readonly Pod[];
}

/** What `dns-version` says: of the document that says which names there are. */
const version = '1.1.0';

/** Who has a name, or which name an address has. Total: any question has an answer. */
export function planAnswer(question: NameQuestion, { zone, view }: NameFacts): NameAnswer {
  const { name } = question;
  const isOurs = name === zone || name.endsWith(`.${zone}`);
  const address = addressOf(name);
  if (!isOurs && address === undefined) return { kind: 'elsewhere' };
  if (!view) return { kind: 'later' };
  if (address !== undefined) return reverse({ name, address, zone }, view);
  const labels = name.slice(0, -zone.length - 1).split('.');
  return forZone(question, { zone, view, labels: name === zone ? [] : labels });
}

interface Asked {
  readonly zone: string;
  readonly view: ClusterView;
  /** Before the zone. */
  readonly labels: readonly string[];
}

function forZone({ name, type }: NameQuestion, { zone, view, labels }: Asked): NameAnswer {
  const [kind, before] = [labels.at(-1), labels.slice(0, -1)];
  const asked = { zone, type };
  if (kind === undefined) return ofType(asked, { records: apex(zone) });
  if (kind === 'dns-version' && before.length === 0)
    return ofType(asked, { records: [{ name, type: 'TXT', text: version }] });
  if (kind !== 'svc' && kind !== 'pod') return { kind: 'absent', zone };
  return below({ name, type }, kind, { zone, view, labels: before });
}

/** In `svc` and `pod`: a namespace, and what is in it. */
function below(question: NameQuestion, kind: 'svc' | 'pod', { zone, view, labels }: Asked): NameAnswer {
  const namespace = labels.at(-1);
  if (namespace !== undefined && !view.hasNamespace(namespace)) return { kind: 'absent', zone };
  if (namespace === undefined || labels.length === 1)
    return ofType({ zone, type: question.type }, { records: [] });
  const within = { zone, view, labels: labels.slice(0, -1) };
  return kind === 'pod' ? forPod(question, namespace, within) : forService(question, namespace, within);
}

function apex(zone: string): readonly NameRecord[] {
  return [
    { name: zone, type: 'SOA', server: `ns.dns.${zone}`, mailbox: `hostmaster.${zone}`, serial: 1 },
    { name: zone, type: 'NS', target: `ns.dns.${zone}` },
  ];
}

/** `1-2-3-4.NAMESPACE.pod`: only if a pod of the namespace has that address, so that nobody can make up names. */
function forPod({ name, type }: NameQuestion, namespace: string, { zone, view, labels }: Asked): NameAnswer {
  const address = labels.length === 1 ? labels[0]?.replaceAll('-', '.') : undefined;
  const isThere = view.pods(namespace).some(({ status }) => status?.podIP === address);
  if (!isThere || address === undefined) return { kind: 'absent', zone };
  return ofType({ zone, type }, { records: [{ name, type: 'A', address }] });
}

function forService(
  { name, type }: NameQuestion,
  namespace: string,
  { zone, view, labels }: Asked,
): NameAnswer {
  const serviceName = labels.at(-1) ?? '';
  const before = labels.slice(0, -1);
  const service = view.service(namespace, serviceName);
  if (service?.spec.type === 'ExternalName') {
    const target = (service.spec.externalName ?? '').replace(/\.$/, '');
    return before.length === 0 && target !== '' ? { kind: 'alias', target } : { kind: 'absent', zone };
  }
  const own = `${serviceName}.${namespace}.svc.${zone}`;
  const found =
    service && serviceRecords(service, { name, before, own, slices: view.slices(namespace, serviceName) });
  return found ? ofType({ zone, type }, found) : { kind: 'absent', zone };
}

/** Those of the type that is asked for. */
function ofType(
  { zone, type }: { readonly zone: string; readonly type: string },
  { records: all, further = [] }: FoundRecords,
): NameAnswer {
  const records = all.filter((record) => type === 'ANY' || record.type === type);
  const isFollowed = further.length > 0 && records.some((record) => record.type === 'SRV');
  return { kind: 'records', zone, records, ...(isFollowed && { further }) };
}

interface Reversed {
  readonly name: string;
  readonly address: string;
  readonly zone: string;
}

/** Addresses of Services, and of endpoints that have a name; whoever else has one is asked for elsewhere. */
function reverse({ name, address, zone }: Reversed, view: ClusterView): NameAnswer {
  const services = view.services();
  const owner = services.find(({ spec }) => spec.clusterIPs?.includes(address) || spec.clusterIP === address);
  const targets = owner
    ? [ownName(owner, zone)]
    : services.flatMap((service) => endpointTargets(service, { address, zone, view }));
  if (targets.length === 0) return { kind: 'elsewhere' };
  return {
    kind: 'records',
    zone,
    records: targets.map((target): NameRecord => ({ name, type: 'PTR', target })),
  };
}

function endpointTargets(
  service: Service,
  { address, zone, view }: { readonly address: string; readonly zone: string; readonly view: ClusterView },
): readonly string[] {
  if (service.spec.clusterIP !== 'None') return [];
  const { namespace, name } = identityOf(service);
  const endpoints = view.slices(namespace, name).flatMap((slice) => slice.endpoints);
  const isMeant = (endpoint: Endpoint): boolean => endpoint.addresses.includes(address);
  return [...new Set(endpoints.filter(isMeant).flatMap(endpointNames))].map(
    (each) => `${each}.${ownName(service, zone)}`,
  );
}

function ownName(service: Service, zone: string): string {
  const { namespace, name } = identityOf(service);
  return `${name}.${namespace}.svc.${zone}`;
}

/** That a name asks for: `4.3.2.1.in-addr.arpa`. */
function addressOf(name: string): string | undefined {
  const [, digits] = /^((?:\d{1,3}\.){4})in-addr\.arpa$/.exec(name) ?? [];
  return digits?.split('.').slice(0, 4).toReversed().join('.');
}
