import { identityOf, type KubeObject } from '@sheaf/api';
import type {
  Endpoint,
  EndpointAddress,
  EndpointSlice,
  EndpointSubset,
  Endpoints,
  Service,
} from '@sheaf/api/workload/index';
import { type JsonValue, jsonEqual } from '@sheaf/base';

export interface EndpointsFacts {
  readonly service: Service;
  /** Those that we have made for it. */
  readonly slices: readonly EndpointSlice[];
  readonly existing: Endpoints | undefined;
}

export type EndpointsStep =
  | { readonly action: 'none' }
  | { readonly action: 'create' | 'update'; readonly object: Endpoints };

const managedByLabel = 'endpoints.kubernetes.io/managed-by';
const managerName = 'endpoint-controller';
const headlessLabel = 'service.kubernetes.io/headless';
const capacityAnnotation = 'endpoints.kubernetes.io/over-capacity';
/** The old kind is one object: more than this is too much for it. */
const most = 1000;

/** Who is behind a Service, in the old words, for old clients. Those of a Service without a selector are their users'. */
export function planEndpoints({ service, slices, existing }: EndpointsFacts): EndpointsStep {
  const isSelecting = Object.keys(service.spec.selector ?? {}).length > 0;
  const isGone = service.metadata.deletionTimestamp !== undefined || service.spec.type === 'ExternalName';
  if (!isSelecting || isGone || existing?.metadata.deletionTimestamp !== undefined) return { action: 'none' };
  const wanted = endpointsOf(service, slices, existing);
  if (!existing) return { action: 'create', object: wanted };
  return jsonEqual(faceOf(existing), faceOf(wanted))
    ? { action: 'none' }
    : { action: 'update', object: wanted };
}

function endpointsOf(
  service: Service,
  slices: readonly EndpointSlice[],
  existing: Endpoints | undefined,
): Endpoints {
  const { namespace, name } = identityOf(service);
  const { annotations: before = {}, ...metadata } = existing?.metadata ?? {};
  const { [capacityAnnotation]: _, ...annotations } = before;
  const all = slices.flatMap(({ endpoints }) => endpoints).length;
  const isHeadless = service.spec.clusterIP === 'None';
  return {
    ...existing,
    metadata: {
      ...metadata,
      namespace,
      name,
      labels: {
        ...service.metadata.labels,
        [managedByLabel]: managerName,
        ...(isHeadless && { [headlessLabel]: '' }),
      },
      ...((all > most || Object.keys(annotations).length > 0) && {
        annotations: { ...annotations, ...(all > most && { [capacityAnnotation]: 'truncated' }) },
      }),
    },
    subsets: subsetsOf(slices),
  };
}

/** One for each set of ports, in an order that does not change by itself. */
function subsetsOf(slices: readonly EndpointSlice[]): readonly EndpointSubset[] {
  const own = slices.filter(({ addressType }) => addressType === 'IPv4');
  let left = most;
  const groups = Map.groupBy(own, ({ ports }) => JSON.stringify(ports));
  const subsets = [...groups]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, group]): EndpointSubset => {
      const all = group
        .flatMap(({ endpoints }) => endpoints)
        .toSorted(byAddress)
        .slice(0, left);
      left -= all.length;
      const [ready, others] = [all.filter(isReady), all.filter((endpoint) => !isReady(endpoint))];
      const ports = (group[0]?.ports ?? []).map(({ port = 0, name, ...more }) => ({
        ...(name && { name }),
        port,
        ...more,
      }));
      return {
        ...(ready.length > 0 && { addresses: ready.map(addressOf) }),
        ...(others.length > 0 && { notReadyAddresses: others.map(addressOf) }),
        ...(ports.length > 0 && { ports }),
      };
    });
  return subsets.filter(({ addresses, notReadyAddresses }) => addresses ?? notReadyAddresses);
}

function isReady({ conditions }: Endpoint): boolean {
  return conditions?.ready !== false;
}

function addressOf({ addresses, hostname, nodeName, targetRef }: Endpoint): EndpointAddress {
  return {
    ip: addresses[0] ?? '',
    ...(hostname && { hostname }),
    ...(nodeName && { nodeName }),
    ...(targetRef && { targetRef }),
  };
}

function byAddress({ addresses: [a = ''] }: Endpoint, { addresses: [b = ''] }: Endpoint): number {
  return a < b ? -1 : 1;
}

function faceOf({ metadata, subsets = [] }: KubeObject & Pick<Endpoints, 'subsets'>): JsonValue {
  return {
    labels: metadata.labels ?? {},
    annotations: metadata.annotations ?? {},
    subsets,
  } as unknown as JsonValue;
}
