import { parseQuantity, quantityAsBigInt } from '@sheaf/base';
import type { Container, PodSpec } from './generated/core.ts';

/** Amounts by resource: processors in thousandths, everything else in whole units. */
export type ResourceAmounts = Readonly<Record<string, number>>;

/**
 * What a pod takes of a node: all that run together, or the largest moment of its start if that is more. Init containers run one
 * after the other beside the sidecars that were started before them.
 */
export function podRequests(spec: PodSpec): ResourceAmounts {
  const sidecars: ResourceAmounts[] = [];
  let peak: ResourceAmounts = {};
  for (const container of spec.initContainers ?? []) {
    const own = requestsOf(container);
    peak = largest(peak, sum([...sidecars, own]));
    if (container.restartPolicy === 'Always') sidecars.push(own);
  }
  const running = sum([...spec.containers.map(requestsOf), ...sidecars]);
  // What the whole pod asks for counts before the sum of its containers.
  const whole = { ...largest(peak, running), ...amountsOf(spec.resources?.requests) };
  return sum([whole, amountsOf(spec.overhead)]);
}

export function sum(amounts: readonly ResourceAmounts[]): ResourceAmounts {
  const total: Record<string, number> = {};
  for (const each of amounts)
    for (const [name, amount] of Object.entries(each)) total[name] = (total[name] ?? 0) + amount;
  return total;
}

export function amountsOf(quantities: Readonly<Record<string, string>> | undefined): ResourceAmounts {
  return Object.fromEntries(
    Object.entries(quantities ?? {}).map(([name, text]) => [name, amountOf(name, text)]),
  );
}

function requestsOf({ resources }: Container): ResourceAmounts {
  return amountsOf(resources?.requests);
}

function amountOf(name: string, text: string): number {
  return Number(quantityAsBigInt(parseQuantity(text), name === 'cpu' ? -3 : 0));
}

function largest(a: ResourceAmounts, b: ResourceAmounts): ResourceAmounts {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return Object.fromEntries([...names].map((name) => [name, Math.max(a[name] ?? 0, b[name] ?? 0)]));
}
