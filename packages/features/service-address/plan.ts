import type { KubeObject } from '@sheaf/api';
import { isJsonObject, type JsonObject } from '@sheaf/base';

const familyLabel = 'ipaddress.kubernetes.io/ip-family';
const managedLabel = 'ipaddress.kubernetes.io/managed-by';
const manager = 'ipallocator.k8s.io';

/** The Service that has an address. */
export interface AddressOwner {
  readonly namespace: string;
  readonly name: string;
}

export type AddressStep =
  | { readonly action: 'none' }
  | { readonly action: 'create'; readonly object: KubeObject }
  /** It names a Service that does not have the address. */
  | { readonly action: 'delete' };

/** What to do with the IPAddress of an address, given who has it. */
export function planAddress(
  address: string,
  owner: AddressOwner | undefined,
  existing: KubeObject | undefined,
): AddressStep {
  if (!existing)
    return owner ? { action: 'create', object: addressObject(address, owner) } : { action: 'none' };
  const isOurs = existing.metadata.labels?.[managedLabel] === manager;
  if (!isOurs || existing.metadata.deletionTimestamp !== undefined) return { action: 'none' };
  const parent = parentOf(existing);
  const isRight = owner && parent?.namespace === owner.namespace && parent.name === owner.name;
  return { action: isRight ? 'none' : 'delete' };
}

function addressObject(address: string, { namespace, name }: AddressOwner): KubeObject {
  const family = address.includes(':') ? 'IPv6' : 'IPv4';
  return {
    metadata: { name: address, labels: { [familyLabel]: family, [managedLabel]: manager } },
    spec: { parentRef: { resource: 'services', namespace, name } },
  };
}

/** The Service that an IPAddress names; `undefined` if it names something else. */
export function parentOf({ spec }: KubeObject): AddressOwner | undefined {
  const parent = isJsonObject(spec) ? spec['parentRef'] : undefined;
  if (!isJsonObject(parent) || (parent['group'] ?? '') !== '' || parent['resource'] !== 'services')
    return undefined;
  const { namespace, name } = parent;
  return typeof namespace === 'string' && typeof name === 'string' ? { namespace, name } : undefined;
}

/** The cluster addresses of a Service; headless ones have none. */
export function addressesOf({ spec }: KubeObject): readonly string[] {
  const addresses = isJsonObject(spec) ? spec['clusterIPs'] : undefined;
  if (!Array.isArray(addresses)) return [];
  return addresses.filter((address) => typeof address === 'string' && address !== 'None') as string[];
}

/** The ServiceCIDR with a condition that is right; `undefined` if it has one. */
export function planReadiness(range: KubeObject, network: string, now: string): KubeObject | undefined {
  const wanted = readinessOf(range, network);
  const status = isJsonObject(range['status']) ? range['status'] : {};
  const conditions = Array.isArray(status['conditions']) ? status['conditions'].filter(isJsonObject) : [];
  const known = conditions.find(({ type }) => type === 'Ready');
  if (known && Object.entries(wanted).every(([field, value]) => known[field] === value)) return undefined;
  const isSame = known?.['status'] === wanted['status'];
  const lastTransitionTime = (isSame ? known?.['lastTransitionTime'] : undefined) ?? now;
  const others = conditions.filter((condition) => condition !== known);
  return { ...range, status: { ...status, conditions: [...others, { ...wanted, lastTransitionTime }] } };
}

function readinessOf({ metadata, spec }: KubeObject, network: string): JsonObject {
  const ranges = isJsonObject(spec) && Array.isArray(spec['cidrs']) ? spec['cidrs'] : [];
  if (metadata.name === 'kubernetes' && ranges.length === 1 && ranges[0] === network)
    return { type: 'Ready', status: 'True', reason: '', message: 'Kubernetes default Service CIDR is ready' };
  return {
    type: 'Ready',
    status: 'False',
    reason: 'NotInUse',
    message: `Services get their addresses from ${network} only; delete this ServiceCIDR`,
  };
}
