import type { StoreChange } from '../contract.ts';
import { type HistoryQuery, type HistorySlice, recordBytes } from '../journal.ts';

/** Changes in revision order that are dropped from the front. */
export class ChangeList {
  #changes: (StoreChange | undefined)[] = [];
  #start = 0;
  #floor: number;
  #bytes = 0;

  /** Holds every change after `floor`. */
  constructor(floor: number) {
    this.#floor = floor;
  }

  /** Every change after this revision is here. */
  get floor(): number {
    return this.#floor;
  }

  get length(): number {
    return this.#changes.length - this.#start;
  }

  /** Bytes of the values and keys of the changes. */
  get bytes(): number {
    return this.#bytes;
  }

  push(change: StoreChange): void {
    this.#changes.push(change);
    this.#bytes += recordBytes(change);
  }

  /** Takes the oldest change, if it is not after `through`. */
  shift(through = Number.POSITIVE_INFINITY): StoreChange | undefined {
    const change = this.#changes[this.#start];
    if (!change || change.revision > through) return undefined;
    this.#floor = change.revision;
    this.#bytes -= recordBytes(change);
    // Not kept alive until the array is cut.
    this.#changes[this.#start] = undefined;
    this.#start++;
    if (this.#start > 256 && this.#start * 2 > this.#changes.length) {
      this.#changes = this.#changes.slice(this.#start);
      this.#start = 0;
    }
    return change;
  }

  /** At most `limit` changes are looked at. */
  slice(query: HistoryQuery, limit: number): HistorySlice<StoreChange> {
    const items: StoreChange[] = [];
    let index = this.#after(query.after);
    const end = Math.min(this.#changes.length, index + limit);
    let next = query.after;
    for (; index < end; index++) {
      const change = this.#changes[index] as StoreChange;
      if (change.revision > query.through) return { items, next: query.through };
      if (change.key.startsWith(query.prefix)) items.push(change);
      next = change.revision;
    }
    return { items, next: index === this.#changes.length ? query.through : next };
  }

  /** The index of the first change after `revision`. */
  #after(revision: number): number {
    let low = this.#start;
    let high = this.#changes.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#changes[middle] as StoreChange).revision <= revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
