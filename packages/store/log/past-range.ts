import type { StoreRecord } from '../contract.ts';
import type { HistoryLink } from '../journal.ts';
import { compareKeys } from './key-order.ts';

type Previous = HistoryLink['previous'];

/**
 * The records as of an earlier revision: today's, with what changed since put back. `past` holds what each key that
 * changed held then, `undefined` for a key that did not exist.
 */
export function* mergeHistory(
  heads: Iterable<StoreRecord>,
  past: ReadonlyMap<string, Previous>,
  from: string | undefined,
): Generator<Exclude<Previous, undefined>, void> {
  const keys = [...past.keys()].filter(
    (key) => past.get(key) !== undefined && (from === undefined || compareKeys(key, from) >= 0),
  );
  keys.sort(compareKeys);
  let next = 0;
  for (const head of heads) {
    for (; next < keys.length && compareKeys(keys[next] as string, head.key) <= 0; next++) {
      yield past.get(keys[next] as string) as Exclude<Previous, undefined>;
    }
    if (!past.has(head.key)) yield head;
  }
  for (; next < keys.length; next++) yield past.get(keys[next] as string) as Exclude<Previous, undefined>;
}

/** At most `limit` records, and whether there are more. `load` is asked for those that are only a revision. */
export function take(
  records: Iterable<Exclude<Previous, undefined>>,
  limit = Number.POSITIVE_INFINITY,
  load?: (revision: number) => StoreRecord,
): { records: StoreRecord[]; hasMore: boolean } {
  const taken: StoreRecord[] = [];
  for (const record of records) {
    if (taken.length >= limit) return { records: taken, hasMore: true };
    if (typeof record !== 'number') taken.push(record);
    else if (load) taken.push(load(record));
  }
  return { records: taken, hasMore: false };
}
