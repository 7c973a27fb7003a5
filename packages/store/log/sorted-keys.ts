import { compareKeys } from './key-order.ts';

const chunkLimit = 512;

/** A sorted set of keys in chunks: adding one moves at most a chunk, walking on needs no search. */
export class SortedKeys {
  #chunks: string[][] = [];

  /** `keys` are each given once, in any order. */
  static of(keys: string[]): SortedKeys {
    const sorted = new SortedKeys();
    keys.sort(compareKeys);
    for (let start = 0; start < keys.length; start += chunkLimit / 2) {
      sorted.#chunks.push(keys.slice(start, start + chunkLimit / 2));
    }
    return sorted;
  }

  /** Adds a key that is not there. */
  add(key: string): void {
    const at = Math.max(0, this.#chunkOf(key));
    const chunk = this.#chunks[at];
    if (!chunk) {
      this.#chunks.push([key]);
      return;
    }
    chunk.splice(lowerBound(chunk, key), 0, key);
    if (chunk.length > chunkLimit) this.#chunks.splice(at + 1, 0, chunk.splice(chunkLimit / 2));
  }

  delete(key: string): void {
    const at = this.#chunkOf(key);
    const chunk = this.#chunks[at];
    if (!chunk) return;
    const index = lowerBound(chunk, key);
    if (chunk[index] !== key) return;
    chunk.splice(index, 1);
    if (chunk.length === 0) this.#chunks.splice(at, 1);
  }

  /** The keys greater than or equal to `from`, in order. The set must not change meanwhile. */
  *walk(from: string): Generator<string, void> {
    let at = Math.max(0, this.#chunkOf(from));
    let index = lowerBound(this.#chunks[at] ?? [], from);
    for (let chunk = this.#chunks[at]; chunk; chunk = this.#chunks[++at]) {
      for (; index < chunk.length; index++) yield chunk[index] as string;
      index = 0;
    }
  }

  /** The last chunk whose first key is not above `key`, or -1. */
  #chunkOf(key: string): number {
    let low = 0;
    let high = this.#chunks.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (compareKeys(this.#chunks[middle]?.[0] as string, key) <= 0) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }
}

function lowerBound(chunk: readonly string[], key: string): number {
  let low = 0;
  let high = chunk.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compareKeys(chunk[middle] as string, key) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
