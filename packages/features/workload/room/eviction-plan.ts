import { leastFreeDiskShare } from '@sheaf/api/node/index';
import type { Pod, Volume } from '@sheaf/api/workload/index';
import { formatQuantity, parseQuantity, quantityAsBigInt, quantityOf } from '@sheaf/base';
import { isActive } from '../pods/pod-state.ts';
import type { DiskRoom } from './image-collection.ts';

/** A pod of this node, and what is known to be its own on the disk: its directories. */
export interface PodUse {
  readonly pod: Pod;
  /** By volume. */
  readonly bytes: ReadonlyMap<string, number>;
  /** Something of its volumes is on the host. */
  readonly isThere: boolean;
}

export interface Eviction {
  readonly pod: Pod;
  readonly message: string;
}

/** Pods of this priority on are never ended for the sake of others. */
const criticalPriority = 2_000_000_000;

/** The directories of a pod that are on the disk. */
export function diskDirectories({ spec }: Pod): readonly Volume[] {
  return (spec.volumes ?? []).filter(({ emptyDir }) => emptyDir && emptyDir.medium !== 'Memory');
}

/** Pods that have more in a directory than they said. */
export function planLimitEvictions(uses: readonly PodUse[]): readonly Eviction[] {
  return uses.flatMap(({ pod, bytes }) => {
    if (!isActive(pod)) return [];
    const over = diskDirectories(pod).find(({ name, emptyDir }) => {
      const limit = bytesOf(emptyDir?.sizeLimit);
      return limit !== undefined && limit > 0 && (bytes.get(name) ?? 0) > limit;
    });
    if (!over) return [];
    const limit = String(over.emptyDir?.sizeLimit);
    return [{ pod, message: `Usage of EmptyDir volume "${over.name}" exceeds the limit "${limit}".` }];
  });
}

export function isPressed({ totalBytes, availableBytes }: DiskRoom): boolean {
  return availableBytes < totalBytes * leastFreeDiskShare;
}

/**
 * The pod that is ended because the disk runs full: one at a time, and only one whose end is known to give something back. Those that
 * take more than they asked for go first, of these the less important, of these who takes the most.
 */
export function planPressureEviction(uses: readonly PodUse[], room: DiskRoom): Eviction | undefined {
  // What the last one gives back is waited for.
  if (!isPressed(room) || uses.some(({ pod, isThere }) => isThere && !isActive(pod))) return undefined;
  const [first] = uses
    .filter(({ pod }) => isActive(pod) && (pod.spec.priority ?? 0) < criticalPriority)
    .map((use) => ({ pod: use.pod, used: sumOf(use), excess: sumOf(use) - requestOf(use.pod) }))
    .filter(({ used }) => used > 0)
    .toSorted(
      (a, b) =>
        Number(b.excess > 0) - Number(a.excess > 0) ||
        (a.pod.spec.priority ?? 0) - (b.pod.spec.priority ?? 0) ||
        b.excess - a.excess,
    );
  if (!first) return undefined;
  const threshold = quantityText(room.totalBytes * leastFreeDiskShare);
  const request = quantityText(requestOf(first.pod));
  return {
    pod: first.pod,
    message: `The node was low on resource: ephemeral-storage. Threshold quantity: ${threshold}, available: ${quantityText(room.availableBytes)}. Its emptyDir volumes were using ${quantityText(first.used)}, request is ${request}.`,
  };
}

function sumOf({ bytes }: PodUse): number {
  return [...bytes.values()].reduce((sum, each) => sum + each, 0);
}

function requestOf({ spec }: Pod): number {
  return spec.containers.reduce(
    (sum, { resources }) => sum + (bytesOf(resources?.requests?.['ephemeral-storage']) ?? 0),
    0,
  );
}

function bytesOf(text: string | number | undefined): number | undefined {
  return text === undefined ? undefined : Number(quantityAsBigInt(parseQuantity(String(text)), 0));
}

function quantityText(bytes: number): string {
  return formatQuantity(quantityOf(Math.floor(bytes), 'BinarySI'));
}
