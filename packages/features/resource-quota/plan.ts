import type { KubeObject } from '@sheaf/api';
import {
  addQuantities,
  canonicalQuantity,
  formatQuantity,
  isJsonObject,
  jsonEqual,
  type Quantity,
  quantityOf,
} from '@sheaf/base';

/** How the API server measures when it holds namespaces to their quotas. */
export interface QuotaMeasure {
  /** What one object of a core resource (plural) uses, by the names that quotas have for it. */
  usageOf(resource: string, object: KubeObject): ReadonlyMap<string, Quantity>;
  isInScopes(quota: KubeObject, pod: KubeObject): boolean;
}

/** A resource that a quota is about, as `plural` or `plural.group`, and whether its objects are counted or measured. */
export interface Tracked {
  readonly groupResource: string;
  readonly isMeasured: boolean;
}

const plainlyCounted: ReadonlySet<string> = new Set([
  'configmaps',
  'replicationcontrollers',
  'resourcequotas',
  'secrets',
]);

/** What the objects of which resource decide about one name in `hard`. */
export function trackedBy(name: string): Tracked {
  if (name.startsWith('count/')) return { groupResource: name.slice('count/'.length), isMeasured: false };
  if (plainlyCounted.has(name)) return { groupResource: name, isMeasured: false };
  return { groupResource: measuredResource(name), isMeasured: true };
}

function measuredResource(name: string): string {
  if (name === 'services' || name.startsWith('services.')) return 'services';
  const isStorage =
    name === 'persistentvolumeclaims' ||
    name === 'requests.storage' ||
    name.includes('.storageclass.storage.k8s.io/');
  return isStorage ? 'persistentvolumeclaims' : 'pods';
}

/** `spec.hard` with canonical amounts. */
export function hardOf(quota: KubeObject): Readonly<Record<string, string>> {
  const spec = quota['spec'];
  const hard = isJsonObject(spec) ? spec['hard'] : undefined;
  if (!isJsonObject(hard)) return {};
  return Object.fromEntries(
    Object.entries(hard).map(([name, value]) => [
      name,
      canonicalQuantity(typeof value === 'number' ? String(value) : typeof value === 'string' ? value : '0'),
    ]),
  );
}

export interface QuotaFacts {
  /** The objects of a resource in the quota's namespace; `undefined` if it is not served. */
  readonly objects: (groupResource: string) => readonly KubeObject[] | undefined;
  readonly measure: QuotaMeasure;
}

/** The quota with a status that is right; `undefined` if it has one. */
export function planStatus(quota: KubeObject, facts: QuotaFacts): KubeObject | undefined {
  const hard = hardOf(quota);
  const sums = new Map<string, ReadonlyMap<string, Quantity>>();
  const used: Record<string, string> = {};
  for (const name of Object.keys(hard)) {
    const { groupResource, isMeasured } = trackedBy(name);
    const objects = countedObjects(quota, groupResource, facts);
    if (!objects) continue;
    if (!isMeasured) {
      used[name] = String(objects.length);
      continue;
    }
    let sum = sums.get(groupResource);
    if (!sum) sums.set(groupResource, (sum = sumUp(groupResource, objects, facts.measure)));
    used[name] = formatQuantity(sum.get(name) ?? quantityOf(0));
  }
  const status = { hard, used };
  return jsonEqual(status, asStatus(quota['status'])) ? undefined : { ...quota, status };
}

function asStatus(status: unknown): { hard: unknown; used: unknown } & Record<string, never> {
  const { hard = {}, used = {} } = isJsonObject(status) ? status : {};
  return { hard, used } as { hard: unknown; used: unknown } & Record<string, never>;
}

/** A quota with scopes is about pods alone. */
function countedObjects(
  quota: KubeObject,
  groupResource: string,
  { objects, measure }: QuotaFacts,
): readonly KubeObject[] | undefined {
  const all = objects(groupResource);
  if (!all || !hasScopes(quota)) return all;
  return groupResource === 'pods' ? all.filter((pod) => measure.isInScopes(quota, pod)) : [];
}

export function hasScopes({ spec }: KubeObject): boolean {
  if (!isJsonObject(spec)) return false;
  const { scopes, scopeSelector } = spec;
  return (Array.isArray(scopes) && scopes.length > 0) || isJsonObject(scopeSelector);
}

function sumUp(
  resource: string,
  objects: readonly KubeObject[],
  measure: QuotaMeasure,
): ReadonlyMap<string, Quantity> {
  const sum = new Map<string, Quantity>();
  for (const object of objects) {
    for (const [name, amount] of measure.usageOf(resource, object)) {
      const known = sum.get(name);
      sum.set(name, known ? addQuantities(known, amount) : amount);
    }
  }
  return sum;
}
