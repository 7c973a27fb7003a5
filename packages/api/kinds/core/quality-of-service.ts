import { compareQuantities, type JsonObject, parseQuantity } from '@sheaf/base';
import { fieldsAt, listAt, mapAt, objectAt } from '../fields.ts';

type Amounts = Readonly<Record<string, string>>;

/** The class by which a node under pressure chooses whom to evict. Limits count as requests where none are given. */
export function podQualityOfService(spec: JsonObject): 'Guaranteed' | 'Burstable' | 'BestEffort' {
  const whole = objectAt(spec, 'resources');
  const parts =
    whole === undefined
      ? [...listAt(spec, 'containers'), ...listAt(spec, 'initContainers')].map((c) =>
          fieldsAt(c, 'resources'),
        )
      : [whole];
  if (parts.every((part) => !asksAnything(part))) return 'BestEffort';
  return parts.every(isGuaranteed) ? 'Guaranteed' : 'Burstable';
}

function isPositive(amounts: Amounts, resource: string): boolean {
  const amount = amounts[resource];
  return amount !== undefined && parseQuantity(amount).unscaled > 0n;
}

function asksAnything(resources: JsonObject): boolean {
  const [limits, requests] = [mapAt(resources, 'limits'), mapAt(resources, 'requests')];
  return ['cpu', 'memory'].some((name) => isPositive(limits, name) || isPositive(requests, name));
}

function isGuaranteed(resources: JsonObject): boolean {
  const [limits, requests] = [mapAt(resources, 'limits'), mapAt(resources, 'requests')];
  return ['cpu', 'memory'].every((name) => {
    const limit = limits[name];
    if (limit === undefined || !isPositive(limits, name)) return false;
    const request = requests[name] ?? limit;
    return compareQuantities(parseQuantity(request), parseQuantity(limit)) === 0;
  });
}
