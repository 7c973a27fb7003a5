import { identityOf, labelMatcherOf, matchesLabels } from '@sheaf/api';
import type {
  Endpoint,
  EndpointConditions,
  EndpointPort,
  Pod,
  Service,
  ServicePort,
} from '@sheaf/api/workload/index';

/** Endpoints that listen on the same ports. */
export interface EndpointGroup {
  readonly ports: readonly EndpointPort[];
  readonly endpoints: readonly Endpoint[];
}

/** The pods behind a service, grouped by the ports that they have under the service's names. */
export function endpointGroups(service: Service, pods: readonly Pod[]): readonly EndpointGroup[] {
  const groups = new Map<string, { ports: readonly EndpointPort[]; endpoints: Endpoint[] }>();
  for (const pod of pods.filter((each) => isBehind(service, each))) {
    const ports = portsOf(service, pod);
    const key = JSON.stringify(ports);
    const group = groups.get(key) ?? { ports, endpoints: [] };
    group.endpoints.push(endpointOf(service, pod));
    groups.set(key, group);
  }
  return [...groups.values()].map(({ ports, endpoints }) => ({
    ports,
    endpoints: endpoints.toSorted(byName),
  }));
}

/** It has an address, and has not ended. */
function isBehind({ metadata, spec }: Service, pod: Pod): boolean {
  const { phase, podIP } = pod.status ?? {};
  if (pod.metadata.namespace !== metadata.namespace || !podIP || phase === 'Failed' || phase === 'Succeeded')
    return false;
  return matchesLabels(labelMatcherOf({ matchLabels: { ...spec.selector } }), pod.metadata.labels ?? {});
}

function endpointOf({ metadata, spec }: Service, pod: Pod): Endpoint {
  const { namespace, name, uid } = identityOf(pod);
  const { hostname, subdomain, nodeName } = pod.spec;
  return {
    addresses: [pod.status?.podIP ?? ''],
    conditions: conditionsOf(pod, spec.publishNotReadyAddresses === true),
    ...(hostname && subdomain === metadata.name && { hostname }),
    ...(nodeName && { nodeName }),
    targetRef: { kind: 'Pod', namespace, name, uid },
  };
}

/** A pod on its way out may serve, but nothing new is sent to it. */
function conditionsOf({ metadata, status }: Pod, isShownAnyway: boolean): EndpointConditions {
  const isReady =
    status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true;
  const terminating = metadata.deletionTimestamp !== undefined;
  const serving = isReady || isShownAnyway;
  return { ready: isShownAnyway || (serving && !terminating), serving, terminating };
}

/** A service without ports has endpoints all the same: their names are answered. */
function portsOf({ spec }: Service, pod: Pod): readonly EndpointPort[] {
  return (spec.ports ?? []).flatMap((port): EndpointPort[] => {
    const target = targetOf(port, pod);
    if (target === undefined) return [];
    const { name = '', protocol = 'TCP', appProtocol } = port;
    return [{ name, port: target, protocol, ...(appProtocol !== undefined && { appProtocol }) }];
  });
}

/** `undefined`: the pod has no port of the name. */
function targetOf({ targetPort, port, protocol = 'TCP' }: ServicePort, { spec }: Pod): number | undefined {
  if (typeof targetPort === 'number') return targetPort;
  if (targetPort === undefined || targetPort === '') return port;
  const containers = [...spec.containers, ...(spec.initContainers ?? []).filter(isSidecar)];
  const all = containers.flatMap(({ ports = [] }) => ports);
  return all.find((each) => each.name === targetPort && (each.protocol ?? 'TCP') === protocol)?.containerPort;
}

function isSidecar({ restartPolicy }: { readonly restartPolicy?: string }): boolean {
  return restartPolicy === 'Always';
}

function byName(a: Endpoint, b: Endpoint): number {
  return (a.targetRef?.name ?? '').localeCompare(b.targetRef?.name ?? '');
}
