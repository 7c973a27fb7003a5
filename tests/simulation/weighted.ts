import type { Random } from '@sheaf/base';

/** Something that may be done or may happen, how often beside others, and its name. */
export type Weighted = readonly [weight: number, name: string, ...rest: readonly unknown[]];

/** One of them, each as often as its weight says. Draws once. */
export function drawWeighted<T extends Weighted>(random: Random, items: readonly T[]): T {
  let choice = random.integer(items.reduce((sum, [weight]) => sum + weight, 0));
  for (const item of items) {
    choice -= item[0];
    if (choice < 0) return item;
  }
  throw new RangeError('there is nothing to draw from');
}
