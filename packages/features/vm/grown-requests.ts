import { requestsAt } from '@sheaf/api/node/index';
import { formatQuantity, parseQuantity, quantityAsBigInt, quantityOf } from '@sheaf/base';
import type { DomainSpec, QuantityText, ResourceAmounts } from './instance-spec.ts';

/** They are only told for what a machine has no request of, which is left out here. */
const once = { cpu: 100, memory: 100 };

/**
 * The requests of a machine that was started with one size and has another now: a node has to keep more free for it. Without any it
 * is counted by its size.
 */
export function grownRequests(started: DomainSpec, now: DomainSpec): ResourceAmounts | undefined {
  const requests = started.resources?.requests;
  const guest = now.memory?.guest;
  if (!requests || guest === undefined) return undefined;
  const size = { sockets: now.cpu?.sockets ?? 1, memoryBytes: bytesOf(guest) };
  const { cpuMillis, memoryBytes } = requestsAt(started, size, once);
  const grown = { cpu: cpuText(cpuMillis), memory: formatQuantity(quantityOf(memoryBytes, 'BinarySI')) };
  const asked = Object.entries(grown).filter(([name]) => requests[name] !== undefined);
  return { ...requests, ...Object.fromEntries(asked) };
}

function bytesOf(amount: QuantityText): number {
  return Number(quantityAsBigInt(parseQuantity(String(amount))));
}

function cpuText(millis: number): string {
  return formatQuantity({ unscaled: BigInt(millis), scale: -3, format: 'DecimalSI', text: undefined });
}
