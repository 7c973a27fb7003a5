import { identityOf } from '@sheaf/api';
import type {
  Endpoint,
  EndpointAddress,
  EndpointSlice,
  EndpointSubset,
  Endpoints,
  Service,
} from '@sheaf/api/workload/index';
import { type JsonValue, jsonEqual } from '@sheaf/base';

export interface MirrorFacts {
  readonly service: Service | undefined;
  readonly endpoints: Endpoints | undefined;
  /** Those that we have made for them. */
  readonly slices: readonly EndpointSlice[];
}

export interface MirrorSteps {
  readonly create: readonly EndpointSlice[];
  readonly update: readonly EndpointSlice[];
  readonly delete: readonly EndpointSlice[];
}

export const mirrorName = 'endpointslicemirroring-controller.k8s.io';
export const managedByLabel = 'endpointslice.kubernetes.io/managed-by';
const serviceLabel = 'kubernetes.io/service-name';
const skipLabel = 'endpointslice.kubernetes.io/skip-mirror';
/** Of a lock in the words of old leader election: nobody is behind it. */
const leaderAnnotation = 'control-plane.alpha.kubernetes.io/leader';
const most = 1000;

/** What users write as Endpoints of a Service without a selector, in slices: these alone are followed. */
export function planMirror({ service, endpoints, slices }: MirrorFacts): MirrorSteps {
  const wanted = service && endpoints && isMirrored(service, endpoints) ? slicesOf(endpoints) : [];
  const left = [...slices];
  const pairs = wanted.map((slice) => {
    const index = left.findIndex((each) => keyOf(each) === keyOf(slice));
    return { slice, existing: index < 0 ? undefined : left.splice(index, 1)[0] };
  });
  return {
    create: pairs.flatMap(({ slice, existing }) => (existing ? [] : [slice])),
    update: pairs.flatMap(({ slice, existing }) => {
      if (!existing || jsonEqual(faceOf(existing), faceOf(slice))) return [];
      const labels = slice.metadata.labels ?? {};
      return [{ ...existing, metadata: { ...existing.metadata, labels }, endpoints: slice.endpoints }];
    }),
    delete: left,
  };
}

function isMirrored({ metadata, spec }: Service, endpoints: Endpoints): boolean {
  const isSelecting = Object.keys(spec.selector ?? {}).length > 0;
  const isGone = metadata.deletionTimestamp ?? endpoints.metadata.deletionTimestamp;
  const { labels, annotations } = endpoints.metadata;
  return (
    !isSelecting && !isGone && labels?.[skipLabel] !== 'true' && annotations?.[leaderAnnotation] === undefined
  );
}

function slicesOf(endpoints: Endpoints): readonly EndpointSlice[] {
  return (endpoints.subsets ?? []).flatMap((subset) =>
    (['IPv4', 'IPv6'] as const).flatMap((addressType) => {
      const own = membersOf(subset).filter(
        ({ addresses: [address = ''] }) => address.includes(':') === (addressType === 'IPv6'),
      );
      return own.length === 0
        ? []
        : [sliceOf(endpoints, subset, { addressType, endpoints: own.slice(0, most) })];
    }),
  );
}

function sliceOf(
  endpoints: Endpoints,
  { ports = [] }: EndpointSubset,
  content: Pick<EndpointSlice, 'addressType' | 'endpoints'>,
): EndpointSlice {
  const { namespace, name, uid } = identityOf(endpoints);
  const owner = {
    apiVersion: 'v1',
    kind: 'Endpoints',
    name,
    uid,
    controller: true,
    blockOwnerDeletion: true,
  };
  return {
    metadata: {
      namespace,
      generateName: `${name}-`,
      labels: { ...endpoints.metadata.labels, [serviceLabel]: name, [managedByLabel]: mirrorName },
      ownerReferences: [owner],
    },
    ports: ports.map(({ name: portName = '', protocol = 'TCP', ...port }) => ({
      name: portName,
      protocol,
      ...port,
    })),
    ...content,
  };
}

function membersOf({ addresses = [], notReadyAddresses = [] }: EndpointSubset): readonly Endpoint[] {
  const member = ({ ip, ...more }: EndpointAddress, ready: boolean): Endpoint => ({
    addresses: [ip],
    conditions: { ready },
    ...more,
  });
  return [
    ...addresses.map((each) => member(each, true)),
    ...notReadyAddresses.map((each) => member(each, false)),
  ];
}

/** Ports and family of a slice do not change. */
function keyOf({ addressType, ports }: EndpointSlice): string {
  const all = ports.map(({ name = '', protocol = 'TCP', port }) => `${name} ${protocol} ${port}`);
  return `${addressType} ${all.toSorted((a, b) => a.localeCompare(b)).join()}`;
}

function faceOf({ metadata, endpoints }: EndpointSlice): JsonValue {
  return { labels: metadata.labels, endpoints } as unknown as JsonValue;
}
