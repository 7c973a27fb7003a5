import type { Random } from '@sheaf/base';

/** A range of things that are given out by number, each to one owner at a time. */
export interface Pool {
  readonly size: number;
  /** The numbers below are given out by chance only when all others are taken: they are for those who ask for one. */
  readonly reserved: number;
  keyOf(index: number): string;
  isTaken(key: string): boolean;
}

/** A free key, by chance; `undefined` when there is none. */
export function findFree(pool: Pool, random: Random): string | undefined {
  const { size, reserved } = pool;
  return scan(pool, { from: reserved, to: size }, random) ?? scan(pool, { from: 0, to: reserved }, random);
}

function scan(
  pool: Pool,
  { from, to }: { readonly from: number; readonly to: number },
  random: Random,
): string | undefined {
  const length = to - from;
  if (length <= 0) return undefined;
  const start = random.integer(length);
  for (let step = 0; step < length; step++) {
    const key = pool.keyOf(from + ((start + step) % length));
    if (!pool.isTaken(key)) return key;
  }
  return undefined;
}

/** How many of a range are kept for those who ask: at least 16, at most `most`, else one of `share`. */
export function reservedOf(size: number, share: number, most: number): number {
  if (size <= 16) return 0;
  return Math.min(Math.max(16, Math.floor(size / share)), most);
}
