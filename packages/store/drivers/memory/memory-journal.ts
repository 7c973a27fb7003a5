import { type StoreChange, StoreFault, type StoreRecord } from '../../contract.ts';
import {
  type HistoryLink,
  type HistoryQuery,
  type HistorySlice,
  type Journal,
  recordBytes,
  type SweepQuery,
  type SweepStep,
} from '../../journal.ts';
import { ChangeList } from '../../log/change-list.ts';

const stepChanges = 256;

/** Keeps changes in memory; asynchronous in microtasks only. */
export class MemoryJournal implements Journal {
  readonly #changes: ChangeList;

  constructor(revision: number) {
    this.#changes = new ChangeList(revision);
  }

  async append(changes: readonly StoreChange[]): Promise<void> {
    for (const change of changes) this.#changes.push(change);
  }

  changes(query: HistoryQuery): HistorySlice<StoreChange> {
    return this.#changes.slice(query, stepChanges);
  }

  links(query: HistoryQuery): HistorySlice<HistoryLink> {
    return this.#changes.slice(query, stepChanges);
  }

  load(revision: number): StoreRecord {
    throw new RangeError(`links of a memory journal hold records; asked for ${revision}`);
  }

  sweep(query: SweepQuery): SweepStep {
    let freedBytes = 0;
    let freedRevisions = 0;
    for (
      let change = this.#changes.shift(query.through);
      change;
      change = this.#changes.shift(query.through)
    ) {
      if (change.previous) {
        freedBytes += recordBytes({ key: change.key, value: change.previous.value });
        freedRevisions++;
      }
      if (!change.value) {
        freedBytes += recordBytes(change);
        freedRevisions++;
      }
    }
    return { next: query.through, freedBytes, freedRevisions };
  }

  soon(task: () => void): void {
    queueMicrotask(task);
  }

  async backup(path: string): Promise<void> {
    throw new StoreFault('io', `a memory store cannot be backed up to ${path}`, 'Use a store on disk.');
  }

  async close(): Promise<void> {}
}
