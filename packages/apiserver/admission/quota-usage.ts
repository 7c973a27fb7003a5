import type { KubeObject } from '@sheaf/api';
import { type JsonObject, parseQuantity, quantityOf } from '@sheaf/base';
import { flagAt, integerAt, objectAt, objectsAt, textAt } from './object-field.ts';
import { type Amounts, addAmounts, amountsOf, podAmounts } from './pod-resources.ts';
import { classOf } from './storage-rules.ts';

const one = quantityOf(1);

/** What one object counts for in quotas, apart from its existence (`count/…`). */
export function usageOf(resource: string, object: KubeObject): Amounts {
  switch (resource) {
    case 'pods':
      return podUsage(object);
    case 'persistentvolumeclaims':
      return claimUsage(object);
    case 'services':
      return serviceUsage(object);
    default:
      return new Map();
  }
}

/** Pods that have ended use nothing. */
function podUsage(pod: KubeObject): Amounts {
  if (['Succeeded', 'Failed'].includes(textAt(objectAt(pod, 'status'), 'phase'))) return new Map();
  const spec = objectAt(pod, 'spec');
  const usage: Amounts = new Map([['pods', one]]);
  const overhead = amountsOf(objectAt(spec, 'overhead'));
  const requests = podAmounts(spec, 'requests');
  addAmounts(requests, overhead);
  for (const [name, amount] of requests) {
    usage.set(`requests.${name}`, amount);
    if (isPlain(name)) usage.set(name, amount);
  }
  const limits = podAmounts(spec, 'limits');
  for (const [name, amount] of overhead) if (limits.has(name)) addAmounts(limits, new Map([[name, amount]]));
  for (const [name, amount] of limits) if (isPlain(name)) usage.set(`limits.${name}`, amount);
  return usage;
}

function isPlain(name: string): boolean {
  return ['cpu', 'memory', 'ephemeral-storage'].includes(name) || name.startsWith('hugepages-');
}

function claimUsage(claim: KubeObject): Amounts {
  const usage: Amounts = new Map([['persistentvolumeclaims', one]]);
  const requests = objectAt(objectAt(objectAt(claim, 'spec'), 'resources'), 'requests');
  const size = parseQuantity(textAt(requests, 'storage') || '0');
  usage.set('requests.storage', size);
  const name = classOf(claim);
  if (name === '') return usage;
  usage.set(`${name}.storageclass.storage.k8s.io/persistentvolumeclaims`, one);
  usage.set(`${name}.storageclass.storage.k8s.io/requests.storage`, size);
  return usage;
}

function serviceUsage(service: KubeObject): Amounts {
  const spec = objectAt(service, 'spec');
  const ports = objectsAt(spec, 'ports');
  const usage: Amounts = new Map([['services', one]]);
  const type = textAt(spec, 'type');
  if (type === 'LoadBalancer') usage.set('services.loadbalancers', one);
  if (type === 'NodePort') usage.set('services.nodeports', quantityOf(ports.length));
  if (type === 'LoadBalancer') usage.set('services.nodeports', quantityOf(balancerPorts(spec, ports)));
  return usage;
}

function balancerPorts(spec: JsonObject, ports: readonly JsonObject[]): number {
  if (flagAt(spec, 'allocateLoadBalancerNodePorts') !== false) return ports.length;
  return ports.filter((port) => integerAt(port, 'nodePort') !== 0).length;
}

const constrained: ReadonlySet<string> = new Set([
  'cpu',
  'memory',
  'requests.cpu',
  'requests.memory',
  'limits.cpu',
  'limits.memory',
]);

/**
 * What every container must say where it is limited by `hard`, and does not. A text such as `cpu for: a,b`; empty if
 * there is nothing.
 */
export function unspecified(pod: KubeObject, hard: Iterable<string>): string {
  const spec = objectAt(pod, 'spec');
  const whole = saidBy(spec);
  const missing: string[] = [];
  for (const name of [...hard].filter((item) => constrained.has(item) && !whole.has(item)).sort()) {
    const containers = [...objectsAt(spec, 'containers'), ...objectsAt(spec, 'initContainers')]
      .filter((container) => !saidBy(container).has(name))
      .map((container) => textAt(container, 'name'));
    if (containers.length > 0) missing.push(`${name} for: ${[...new Set(containers)].sort().join(',')}`);
  }
  return missing.join('; ');
}

function saidBy(owner: JsonObject): ReadonlySet<string> {
  const resources = objectAt(owner, 'resources');
  const requests = Object.keys(objectAt(resources, 'requests'));
  const limits = Object.keys(objectAt(resources, 'limits'));
  return new Set([
    ...requests,
    ...requests.map((name) => `requests.${name}`),
    ...limits.map((name) => `limits.${name}`),
  ]);
}
