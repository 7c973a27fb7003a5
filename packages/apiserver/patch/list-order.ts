import { isJsonObject, type JsonValue, ownField } from '@sheaf/base';

/** What identifies an item: its merge key's value, or, without a merge key, the item itself. Equal ones are equal strings. */
export function identityOf(item: JsonValue, mergeKey: string): string {
  if (mergeKey === '') return scalarText(item);
  return isJsonObject(item) ? scalarText(ownField(item, mergeKey)) : 'none';
}

function scalarText(value: JsonValue | undefined): string {
  return value === undefined ? 'none' : JSON.stringify(value);
}

export interface ListOrder {
  /** The order that items of the patch take. */
  readonly patchOrder: readonly JsonValue[];
  /** The order that all other items have. */
  readonly liveOrder: readonly JsonValue[];
  readonly mergeKey: string;
}

/**
 * Puts a merged list in order: items of the patch in the patch's order, items that only the live list had in theirs, and the two
 * interleaved so that a live item stays before the patch items it was before.
 */
export function orderList(merged: readonly JsonValue[], order: ListOrder): JsonValue[] {
  const { mergeKey } = order;
  const patchRanks = ranksOf(order.patchOrder, mergeKey);
  const liveRanks = ranksOf(order.liveOrder, mergeKey);
  const rankIn = (ranks: ReadonlyMap<string, number>) => (item: JsonValue) =>
    ranks.get(identityOf(item, mergeKey)) ?? -1;
  const patchRank = rankIn(patchRanks);
  const liveRank = rankIn(liveRanks);
  const fromPatch = merged.filter((item) => patchRank(item) >= 0);
  const fromLive = merged.filter((item) => patchRank(item) < 0);
  fromPatch.sort((a, b) => patchRank(a) - patchRank(b));
  fromLive.sort((a, b) => liveRank(a) - liveRank(b));
  return interleave(fromLive, fromPatch, liveRank);
}

function ranksOf(list: readonly JsonValue[], mergeKey: string): Map<string, number> {
  const ranks = new Map<string, number>();
  for (const [index, item] of list.entries()) {
    const identity = identityOf(item, mergeKey);
    if (!ranks.has(identity)) ranks.set(identity, index);
  }
  return ranks;
}

/** Takes the live item when both are known and it comes first in the live list, else the patch item. */
function interleave(
  fromLive: readonly JsonValue[],
  fromPatch: readonly JsonValue[],
  liveRank: (item: JsonValue) => number,
): JsonValue[] {
  const ordered: JsonValue[] = [];
  let next = 0;
  for (const item of fromPatch) {
    const rank = liveRank(item);
    while (rank >= 0 && next < fromLive.length && isBefore(liveRank(fromLive[next] as JsonValue), rank)) {
      ordered.push(fromLive[next++] as JsonValue);
    }
    ordered.push(item);
  }
  return [...ordered, ...fromLive.slice(next)];
}

function isBefore(rank: number, other: number): boolean {
  return rank >= 0 && rank < other;
}
