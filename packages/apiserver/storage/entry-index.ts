import type { Entry } from './entry.ts';

interface Bucket {
  /** Sorted when someone walks; names of deleted entries stay for a while. Moving names at each change would cost more. */
  names: string[];
  /** Names that came since, in the order of their coming. */
  fresh: string[];
  readonly entries: Map<string, Entry>;
}

/** The newest entries of one resource, by namespace and name, in the order of their store keys. */
export class EntryIndex {
  /** Sorted as `namespace/`, which is how store keys sort. */
  readonly #namespaces: string[] = [];
  readonly #buckets = new Map<string, Bucket>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(namespace: string, name: string): Entry | undefined {
    return this.#buckets.get(namespace)?.entries.get(name);
  }

  set(entry: Entry): void {
    const bucket = this.#bucketOf(entry.namespace);
    if (!bucket.entries.has(entry.name)) {
      bucket.fresh.push(entry.name);
      this.#size++;
      // What comes and goes without being listed must not pile up.
      if (bucket.names.length + bucket.fresh.length > 2 * bucket.entries.size + 256) sortedNames(bucket);
    }
    bucket.entries.set(entry.name, entry);
  }

  delete(namespace: string, name: string): void {
    const bucket = this.#buckets.get(namespace);
    if (!bucket?.entries.delete(name)) return;
    this.#size--;
    if (bucket.entries.size > 0) return;
    this.#buckets.delete(namespace);
    this.#namespaces.splice(position(this.#namespaces, namespace, withSlash), 1);
  }

  /** Entries in key order, of one namespace or of all (`namespace` undefined), beginning after the given place. */
  *entries(
    namespace?: string,
    after?: { readonly namespace: string; readonly name: string },
  ): Generator<Entry> {
    const spaces = namespace === undefined ? this.#namespaces : [namespace];
    const first = after && namespace === undefined ? position(spaces, after.namespace, withSlash) : 0;
    for (let index = first; index < spaces.length; index++) {
      const bucket = this.#buckets.get(spaces[index] as string);
      if (bucket) yield* bucketEntries(bucket, after?.namespace === spaces[index] ? after?.name : undefined);
    }
  }

  /** All entries at once; cheaper than the generator where every one is wanted. */
  all(namespace?: string): Entry[] {
    const result: Entry[] = [];
    for (const space of namespace === undefined ? this.#namespaces : [namespace]) {
      const bucket = this.#buckets.get(space);
      if (bucket) for (const name of sortedNames(bucket)) result.push(bucket.entries.get(name) as Entry);
    }
    return result;
  }

  #bucketOf(namespace: string): Bucket {
    let bucket = this.#buckets.get(namespace);
    if (!bucket) {
      bucket = { names: [], fresh: [], entries: new Map() };
      this.#buckets.set(namespace, bucket);
      this.#namespaces.splice(position(this.#namespaces, namespace, withSlash), 0, namespace);
    }
    return bucket;
  }
}

function* bucketEntries(bucket: Bucket, after: string | undefined): Generator<Entry> {
  const names = sortedNames(bucket);
  let index = after === undefined ? 0 : position(names, after, identity);
  if (after !== undefined && names[index] === after) index++;
  for (; index < names.length; index++) {
    const entry = bucket.entries.get(names[index] as string);
    if (entry) yield entry;
  }
}

/** The names of all entries, in order. */
function sortedNames(bucket: Bucket): readonly string[] {
  const { fresh, entries } = bucket;
  if (fresh.length > 0) {
    // Two sorted runs are merged in one pass by the sort; a name that went and came again is there twice.
    bucket.names = bucket.names.concat(fresh.sort()).sort();
    bucket.fresh = [];
  }
  if (bucket.names.length !== entries.size)
    bucket.names = bucket.names.filter((name, index, all) => entries.has(name) && name !== all[index - 1]);
  return bucket.names;
}

function identity(text: string): string {
  return text;
}

function withSlash(namespace: string): string {
  return `${namespace}/`;
}

/** The index of the first item that is not less than `wanted`. */
function position(items: readonly string[], wanted: string, order: (item: string) => string): number {
  const target = order(wanted);
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (order(items[middle] as string) < target) low = middle + 1;
    else high = middle;
  }
  return low;
}
