import { identityOf, type OwnerReference } from '@sheaf/api';
import type { Endpoint, EndpointSlice, Pod, Service } from '@sheaf/api/workload/index';
import { type JsonValue, jsonEqual } from '@sheaf/base';
import { type EndpointGroup, endpointGroups } from './pod-endpoints.ts';

export interface SliceFacts {
  readonly service: Service;
  /** All of its namespace. */
  readonly pods: readonly Pod[];
  /** Those that we have made for it. */
  readonly slices: readonly EndpointSlice[];
}

export interface SliceSteps {
  readonly create: readonly EndpointSlice[];
  readonly update: readonly EndpointSlice[];
  readonly delete: readonly EndpointSlice[];
}

export const managedByLabel = 'endpointslice.kubernetes.io/managed-by';
export const managerName = 'endpointslice-controller.k8s.io';
const serviceLabel = 'kubernetes.io/service-name';
const headlessLabel = 'service.kubernetes.io/headless';
const largest = 100;

/** What makes the slices of a service tell its pods. Endpoints stay in the slice where they are, so that few slices change. */
export function planSlices({ service, pods, slices }: SliceFacts): SliceSteps {
  const isSelecting = Object.keys(service.spec.selector ?? {}).length > 0;
  const isGone = service.metadata.deletionTimestamp !== undefined || service.spec.type === 'ExternalName';
  if (!isSelecting || isGone) return { create: [], update: [], delete: isGone ? slices : [] };
  const found = endpointGroups(service, pods);
  // Without any pod there is one empty slice: the service is known, and nobody is behind it.
  const groups = found.length > 0 ? found : [{ ports: [], endpoints: [] }];
  const left = new Set(slices.filter(({ metadata }) => metadata.deletionTimestamp === undefined));
  const changes = groups.flatMap((group) => planGroup(service, group, left));
  return {
    create: changes.filter(({ slice }) => !slice).map(({ wanted }) => wanted),
    update: changes
      .filter(({ slice, wanted }) => slice && isChanged(slice, wanted))
      .map(({ wanted }) => wanted),
    delete: [...left],
  };
}

interface SliceChange {
  /** As it is; absent for one that is to be made. */
  readonly slice: EndpointSlice | undefined;
  readonly wanted: EndpointSlice;
}

/** Takes the slices that it uses out of those that are left. */
function planGroup(service: Service, group: EndpointGroup, left: Set<EndpointSlice>): readonly SliceChange[] {
  const own = [...left].filter((slice) => canHold(slice, group));
  return divide(group.endpoints, own).map((endpoints, index) => {
    const slice = own[index];
    if (slice) left.delete(slice);
    return { slice, wanted: sliceOf(service, { ...group, endpoints }, slice) };
  });
}

/** Ports of a slice that is kept may be empty: then it can take any. */
function canHold({ ports, addressType }: EndpointSlice, group: EndpointGroup): boolean {
  const isSame = jsonEqual(ports as unknown as JsonValue, group.ports as unknown as JsonValue);
  return addressType === 'IPv4' && (isSame || ports.length === 0 || group.ports.length === 0);
}

/** As many parts as are needed, each endpoint in the part where it is now if that has room. */
function divide(
  endpoints: readonly Endpoint[],
  slices: readonly EndpointSlice[],
): readonly (readonly Endpoint[])[] {
  const count = Math.max(1, Math.ceil(endpoints.length / largest));
  const parts: Endpoint[][] = Array.from({ length: count }, () => []);
  const homes = slices
    .slice(0, count)
    .map((slice) => new Set(slice.endpoints.map(({ targetRef }) => targetRef?.uid)));
  const homeless: Endpoint[] = [];
  for (const endpoint of endpoints) {
    const home = homes.findIndex((uids) => uids.has(endpoint.targetRef?.uid));
    const part = parts[home];
    if (part && part.length < largest) part.push(endpoint);
    else homeless.push(endpoint);
  }
  for (const endpoint of homeless) parts.find((part) => part.length < largest)?.push(endpoint);
  return parts;
}

function sliceOf(
  service: Service,
  { ports, endpoints }: EndpointGroup,
  slice: EndpointSlice | undefined,
): EndpointSlice {
  const { namespace, name } = identityOf(service);
  const isHeadless = service.spec.clusterIP === 'None';
  const labels = {
    ...service.metadata.labels,
    [managedByLabel]: managerName,
    [serviceLabel]: name,
    ...(isHeadless && { [headlessLabel]: '' }),
  };
  const metadata = slice?.metadata ?? {
    namespace,
    generateName: `${name}-`,
    ownerReferences: [ownerOf(service)],
  };
  return { ...slice, metadata: { ...metadata, labels }, addressType: 'IPv4', ports, endpoints };
}

function ownerOf(service: Service): OwnerReference {
  const { name, uid } = identityOf(service);
  return { apiVersion: 'v1', kind: 'Service', name, uid, controller: true, blockOwnerDeletion: true };
}

function isChanged(before: EndpointSlice, after: EndpointSlice): boolean {
  const face = ({ metadata, ports, endpoints }: EndpointSlice): JsonValue =>
    ({ labels: metadata.labels, ports, endpoints }) as unknown as JsonValue;
  return !jsonEqual(face(before), face(after));
}
