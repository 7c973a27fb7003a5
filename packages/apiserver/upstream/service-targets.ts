import { asJson, type KubeObject } from '@sheaf/api';
import { isJsonObject, type JsonObject, type JsonValue } from '@sheaf/base';
import type { LiveViews } from '../storage/live-view.ts';

export interface ServiceReference {
  readonly namespace: string;
  readonly name: string;
  /** A port number of the service. */
  readonly port: number;
}

export type ServiceTarget = { readonly host: string; readonly port: number } | { readonly missing: string };

/**
 * Where a service is reached without a cluster network: a ready address of its EndpointSlices, else of its Endpoints,
 * else its external name. `missing` says what there is not.
 */
export function resolveService(views: LiveViews, reference: ServiceReference): ServiceTarget {
  const { namespace, name, port } = reference;
  const service = views.of('', 'services').get(namespace, name);
  if (!service) return { missing: `service "${name}" in namespace "${namespace}" does not exist` };
  const spec = objectOf(asJson(service)['spec']);
  if (spec['type'] === 'ExternalName') return { host: textOf(spec['externalName']), port };
  const portName = listOf(spec['ports']).find((item) => item['port'] === port)?.['name'];
  const target = fromSlices(views, reference, portName) ?? fromEndpoints(views, reference, portName);
  return (
    target ?? {
      missing: `service "${name}" in namespace "${namespace}" has no ready endpoint for port ${port}`,
    }
  );
}

function fromSlices(
  views: LiveViews,
  { namespace, name }: ServiceReference,
  portName: JsonValue | undefined,
): ServiceTarget | undefined {
  for (const slice of views.of('discovery.k8s.io', 'endpointslices').list(namespace)) {
    if (slice.metadata.labels?.['kubernetes.io/service-name'] !== name) continue;
    const port = portOf(listOf(slice['ports'] as JsonValue), portName);
    const ready = listOf(slice['endpoints'] as JsonValue).find(
      (endpoint) => objectOf(endpoint['conditions'])['ready'] !== false,
    );
    const host = ready && firstText(ready['addresses']);
    if (host && port !== undefined) return { host, port };
  }
  return undefined;
}

function fromEndpoints(
  views: LiveViews,
  { namespace, name }: ServiceReference,
  portName: JsonValue | undefined,
): ServiceTarget | undefined {
  const endpoints: KubeObject | undefined = views.of('', 'endpoints').get(namespace, name);
  for (const subset of listOf(endpoints?.['subsets'] as JsonValue | undefined)) {
    const port = portOf(listOf(subset['ports']), portName);
    const host = textOf(listOf(subset['addresses'])[0]?.['ip']);
    if (host !== '' && port !== undefined) return { host, port };
  }
  return undefined;
}

function portOf(ports: readonly JsonObject[], name: JsonValue | undefined): number | undefined {
  const wanted =
    ports.find((port) => (port['name'] ?? '') === (name ?? '')) ??
    (ports.length === 1 ? ports[0] : undefined);
  const number = wanted?.['port'];
  return typeof number === 'number' ? number : undefined;
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function listOf(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter((item) => isJsonObject(item)) : [];
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

function firstText(value: JsonValue | undefined): string {
  return Array.isArray(value) ? textOf(value[0]) : '';
}
