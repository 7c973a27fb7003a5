import type { EntryChange } from './entry.ts';

/** The newest changes of a resource, kept so that watches can begin a little in the past without going to disk. */
export class ChangeWindow {
  readonly #capacity: number;
  #changes: EntryChange[] = [];
  #first = 0;
  /** Every change after this revision is in the window. */
  #floor: number;

  constructor(floor: number, capacity: number) {
    this.#floor = floor;
    this.#capacity = capacity;
  }

  get floor(): number {
    return this.#floor;
  }

  add(change: EntryChange): void {
    this.#changes.push(change);
    if (this.#changes.length - this.#first <= this.#capacity) return;
    this.#floor = (this.#changes[this.#first] as EntryChange).revision;
    this.#first++;
    if (this.#first < this.#capacity) return;
    this.#changes = this.#changes.slice(this.#first);
    this.#first = 0;
  }

  /** Changes with a revision above `revision`, which must not be below the floor. */
  after(revision: number): readonly EntryChange[] {
    let low = this.#first;
    let high = this.#changes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#changes[middle] as EntryChange).revision <= revision) low = middle + 1;
      else high = middle;
    }
    return this.#changes.slice(low);
  }
}
