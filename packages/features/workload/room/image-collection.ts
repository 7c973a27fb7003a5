/** An image as the collection looks at it. */
export interface CollectableImage {
  readonly id: string;
  readonly bytes: number;
  /** For how long nobody is known to have needed it; absent: somebody does. */
  readonly unusedMs?: number;
}

export interface DiskRoom {
  readonly totalBytes: number;
  readonly availableBytes: number;
}

/** From this share of the disk on, images are collected, until it is below the other. Those of a kubelet. */
const highShare = 0.85;
const lowShare = 0.8;
/** Who has just ended may come back. */
const leastUnusedMs = 120_000;

export function isRoomShort({ totalBytes, availableBytes }: DiskRoom): boolean {
  return totalBytes > 0 && totalBytes - availableBytes >= totalBytes * highShare;
}

/** How much has to go. */
export function wantedBytes({ totalBytes, availableBytes }: DiskRoom): number {
  return Math.max(0, Math.ceil(totalBytes - availableBytes - totalBytes * lowShare));
}

/** Which images go: unused for the longest first, of these the largest, and no more than are needed. */
export function planCollection(
  images: readonly CollectableImage[],
  bytes: number,
): readonly CollectableImage[] {
  const candidates = images
    .filter(({ unusedMs = 0 }) => unusedMs >= leastUnusedMs)
    .toSorted((a, b) => (b.unusedMs ?? 0) - (a.unusedMs ?? 0) || b.bytes - a.bytes || (a.id < b.id ? -1 : 1));
  let sum = 0;
  return candidates.filter((image) => {
    if (sum >= bytes) return false;
    sum += image.bytes;
    return true;
  });
}

/** Since when images have been seen unused. It begins anew with each process: an image is rather kept too long than missed. */
export class UnusedImages {
  readonly #since = new Map<string, number>();

  /** Takes a look into account. @returns how long each unused image has been so */
  look(unusedIds: readonly string[], nowMs: number): ReadonlyMap<string, number> {
    for (const id of this.#since.keys()) if (!unusedIds.includes(id)) this.#since.delete(id);
    for (const id of unusedIds) if (!this.#since.has(id)) this.#since.set(id, nowMs);
    return new Map([...this.#since].map(([id, sinceMs]) => [id, nowMs - sinceMs]));
  }

  forget(): void {
    this.#since.clear();
  }
}
