import type { Container, Pod, ResourceFieldSelector } from '@sheaf/api/workload/index';
import { parseQuantity, quantityAsBigInt } from '@sheaf/base';

export interface FieldFacts {
  readonly pod: Pod;
  readonly hostAddress: string;
  readonly podAddresses: readonly string[];
}

type Field = (facts: FieldFacts) => string | undefined;

const fields: Readonly<Record<string, Field>> = {
  'metadata.name': ({ pod }) => pod.metadata.name,
  'metadata.namespace': ({ pod }) => pod.metadata.namespace,
  'metadata.uid': ({ pod }) => pod.metadata.uid,
  'metadata.labels': ({ pod }) => linesOf(pod.metadata.labels),
  'metadata.annotations': ({ pod }) => linesOf(pod.metadata.annotations),
  'spec.nodeName': ({ pod }) => pod.spec.nodeName,
  'spec.serviceAccountName': ({ pod }) => pod.spec.serviceAccountName,
  'status.hostIP': ({ hostAddress }) => hostAddress,
  'status.hostIPs': ({ hostAddress }) => hostAddress,
  'status.podIP': ({ podAddresses }) => podAddresses[0],
  'status.podIPs': ({ podAddresses }) => podAddresses.join(','),
};

/** A field of a pod as its containers see it; `undefined` for one that they cannot. */
export function fieldOf(facts: FieldFacts, path: string): string | undefined {
  const entry = /^metadata\.(labels|annotations)\['(.*)'\]$/.exec(path);
  if (entry) return facts.pod.metadata[entry[1] as 'labels' | 'annotations']?.[entry[2] ?? ''] ?? '';
  return fields[path]?.(facts);
}

export interface ResourceFacts {
  readonly pod: Pod;
  readonly container: Container;
  /** What the node has for pods. */
  readonly allocatable: Readonly<Record<string, string>>;
}

/** What a container asks for, or may use, in units of the divisor, rounded up. Without a limit: all that the node has. */
export function resourceOf(facts: ResourceFacts, { divisor, ...field }: ResourceFieldSelector): string {
  const unit = divisor === undefined || divisor === '0' || divisor === '' ? '1' : divisor;
  const amount = nanosOf(quantityFor(facts, field));
  const whole = nanosOf(unit);
  return String((amount + whole - 1n) / whole);
}

function quantityFor(
  { pod, container, allocatable }: ResourceFacts,
  { containerName, resource }: ResourceFieldSelector,
): string {
  const all = [...pod.spec.containers, ...(pod.spec.initContainers ?? [])];
  const meant = containerName ? all.find(({ name }) => name === containerName) : container;
  const isLimit = resource.startsWith('limits.');
  const name = resource.slice(resource.indexOf('.') + 1);
  const own = meant?.resources?.[isLimit ? 'limits' : 'requests']?.[name];
  return own ?? (isLimit ? (allocatable[name] ?? '0') : '0');
}

function nanosOf(quantity: string): bigint {
  return quantityAsBigInt(parseQuantity(quantity), -9);
}

function linesOf(map: Readonly<Record<string, string>> = {}): string {
  return Object.keys(map)
    .toSorted((a, b) => (a < b ? -1 : 1))
    .map((key) => `${key}=${JSON.stringify(map[key])}`)
    .join('\n');
}
