import type { StoreRecord } from '../contract.ts';
import { recordBytes } from '../journal.ts';
import { compareKeys } from './key-order.ts';
import { SortedKeys } from './sorted-keys.ts';

/**
 * The newest record of every key that exists. The records are the ones handed out, with the very array the writer
 * committed: whoever keeps them shares the memory.
 */
export class HeadIndex {
  readonly #records: Map<string, StoreRecord>;
  /** Sorted on the first walk: most of a start's cost would be sorting keys nobody has asked for yet. */
  #sorted: SortedKeys | undefined;
  #bytes = 0;

  /** Takes `records` over. */
  constructor(records: Map<string, StoreRecord>) {
    this.#records = records;
    for (const record of records.values()) this.#bytes += recordBytes(record);
  }

  get size(): number {
    return this.#records.size;
  }

  /** Bytes of keys and values. */
  get bytes(): number {
    return this.#bytes;
  }

  get(key: string): StoreRecord | undefined {
    return this.#records.get(key);
  }

  set(record: StoreRecord): void {
    const old = this.#records.get(record.key);
    this.#records.set(record.key, record);
    this.#bytes += recordBytes(record);
    if (old) this.#bytes -= recordBytes(old);
    else this.#sorted?.add(record.key);
  }

  delete(key: string): void {
    const old = this.#records.get(key);
    if (!old) return;
    this.#records.delete(key);
    this.#sorted?.delete(key);
    this.#bytes -= recordBytes(old);
  }

  /** Records whose key begins with `prefix` and is not below `from`, in key order. The index must not change meanwhile. */
  *walk(prefix: string, from: string | undefined): Generator<StoreRecord, void> {
    this.#sorted ??= SortedKeys.of([...this.#records.keys()]);
    const start = from !== undefined && compareKeys(from, prefix) > 0 ? from : prefix;
    for (const key of this.#sorted.walk(start)) {
      if (!key.startsWith(prefix)) return;
      yield this.#records.get(key) as StoreRecord;
    }
  }
}
