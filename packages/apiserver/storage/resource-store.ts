import type { KubeObject } from '@sheaf/api';
import { type Disposable, disposable } from '@sheaf/base';
import { RevisionConflict, type StoreChange, type StoreRecord } from '@sheaf/store';
import { ChangeWindow } from './change-window.ts';
import { Entry, EntryChange } from './entry.ts';
import { EntryIndex } from './entry-index.ts';
import { type Keyspace, placeOf, resourcePrefix } from './keyspace.ts';
import { toStoredBytes } from './object-bytes.ts';
import type { Transformer } from './transformer.ts';

/** Changes kept in memory for each resource. */
const windowCapacity = 1000;

export interface Place {
  readonly namespace: string;
  readonly name: string;
}

/** What an attempt to change an entry wants: new content, its end, or nothing. */
export type Attempt = { readonly write: KubeObject } | { readonly remove: true } | { readonly keep: true };

export interface AttemptResult {
  /** The entry as it is now; after a removal, its last state under the revision of the removal. */
  readonly entry: Entry;
  /** The entry that the attempt saw. */
  readonly before: Entry;
  readonly outcome: 'written' | 'removed' | 'unchanged';
}

/**
 * The objects of one resource: read from memory, written through the store's optimistic lock. Memory changes only
 * when the store says so, before the writer is told.
 */
export class ResourceStore {
  readonly group: string;
  readonly plural: string;
  readonly #prefix: string;
  readonly #keyspace: Keyspace;
  readonly #transformer: Transformer;
  readonly #index = new EntryIndex();
  readonly #listeners = new Set<(change: EntryChange) => void>();
  #window: ChangeWindow | undefined;
  #loading: Promise<void> | undefined;
  #early: StoreChange[] = [];
  #lastChange = 0;

  constructor(
    keyspace: Keyspace,
    resource: { readonly group: string; readonly plural: string },
    transformer: Transformer,
  ) {
    this.group = resource.group;
    this.plural = resource.plural;
    this.#prefix = resourcePrefix(resource.group, resource.plural);
    this.#keyspace = keyspace;
    this.#transformer = transformer;
  }

  /** The revision that the whole server has seen: the `resourceVersion` of a list made now. */
  get revision(): number {
    return this.#keyspace.revision;
  }

  /** The revision of the newest change of this resource; a snapshot since then is still the present. */
  get lastChange(): number {
    return this.#lastChange;
  }

  get size(): number {
    return this.#index.size;
  }

  get isLoaded(): boolean {
    return this.#window !== undefined;
  }

  /** Reads the resource into memory, once. Everything else needs it done. */
  load(): Promise<void> {
    this.#loading ??= this.#load().catch((error: unknown) => {
      this.#loading = undefined;
      throw error;
    });
    return this.#loading;
  }

  get(place: Place): Entry | undefined {
    return this.#index.get(place.namespace, place.name);
  }

  entries(namespace: string | undefined, after?: Place): Iterable<Entry> {
    return after ? this.#index.entries(namespace, after) : this.#index.all(namespace);
  }

  /** Entries as of an older revision, in key order. @throws RevisionCompacted, FutureRevision */
  async entriesAt(
    revision: number,
    query: { readonly namespace: string | undefined; readonly after?: Place; readonly limit?: number },
  ): Promise<{ entries: Entry[]; hasMore: boolean }> {
    const prefix = query.namespace === undefined ? this.#prefix : `${this.#prefix}${query.namespace}/`;
    const from = query.after ? `${this.#keyOf(query.after)}\u0000` : undefined;
    const result = await this.#keyspace.store.range({
      prefix,
      revision,
      ...(from ? { from } : {}),
      ...(query.limit ? { limit: query.limit } : {}),
    });
    return { entries: result.records.map((record) => this.#entryOf(record)), hasMore: result.hasMore };
  }

  /**
   * Calls `listener` with each change after `revision`, in order, first those that have been. Resolves when the
   * listener has been told of all past changes. @throws RevisionCompacted
   */
  async watch(revision: number, listener: (change: EntryChange) => void): Promise<Disposable> {
    const window = this.#window;
    if (window && revision >= window.floor) {
      for (const change of window.after(revision)) listener(change);
      // A revision that has not happened yet is waited for.
      if (revision <= this.revision) return this.onChange(listener);
      return this.onChange((change) => {
        if (change.revision > revision) listener(change);
      });
    }
    return this.#keyspace.store.watch({ prefix: this.#prefix, after: revision }, (change) =>
      listener(this.#changeOf(change)),
    );
  }

  /** Every change from now on. */
  onChange(listener: (change: EntryChange) => void): Disposable {
    this.#listeners.add(listener);
    return disposable(() => this.#listeners.delete(listener));
  }

  /** @throws RevisionConflict when the name is taken */
  async create(place: Place, object: KubeObject): Promise<Entry> {
    const key = this.#keyOf(place);
    const stored = toStoredBytes(object);
    const revision = await this.#keyspace.store.commit({
      key,
      value: this.#transformer.seal(stored, key),
      expected: 0,
    });
    return this.#committed(place, revision, stored);
  }

  /**
   * Asks `attempt` what to make of the current entry and does it, again from the newest state whenever someone else
   * was faster. Resolves with `undefined` when there is no such entry. `attempt` refuses by throwing.
   */
  async change(
    place: Place,
    attempt: (current: Entry) => Attempt | Promise<Attempt>,
  ): Promise<AttemptResult | undefined> {
    for (;;) {
      const current = this.get(place);
      if (!current) return undefined;
      const wanted = await attempt(current);
      if ('keep' in wanted) return { entry: current, before: current, outcome: 'unchanged' };
      const done = await this.#commit(current, wanted);
      if (done) return done;
    }
  }

  /** One try. `undefined`: someone else was faster. */
  async #commit(
    current: Entry,
    wanted: { readonly write: KubeObject } | { readonly remove: true },
  ): Promise<AttemptResult | undefined> {
    const stored = 'write' in wanted ? toStoredBytes(wanted.write) : undefined;
    if (stored && Buffer.compare(current.stored, stored) === 0)
      return { entry: current, before: current, outcome: 'unchanged' };
    const key = this.#keyOf(current);
    const value = stored && this.#transformer.seal(stored, key);
    try {
      const revision = await this.#keyspace.store.commit({ key, value, expected: current.revision });
      if (!stored) return { entry: current.at(revision), before: current, outcome: 'removed' };
      return { entry: this.#committed(current, revision, stored), before: current, outcome: 'written' };
    } catch (error) {
      if (error instanceof RevisionConflict) return undefined;
      throw error;
    }
  }

  #committed(place: Place, revision: number, stored: Uint8Array): Entry {
    const entry = this.get(place);
    // Someone may already have written again.
    if (entry?.revision === revision) return entry;
    return new Entry(place, revision, stored);
  }

  async #load(): Promise<void> {
    this.#keyspace.listen(this.#prefix, (change) => this.#receive(change));
    const result = await this.#keyspace.store.range({ prefix: this.#prefix });
    for (const record of result.records) {
      this.#index.set(this.#entryOf(record));
      this.#lastChange = Math.max(this.#lastChange, record.revision);
    }
    // A deletion leaves no record, so the past as a whole counts as changed up to here.
    this.#lastChange = Math.max(this.#lastChange, result.revision);
    this.#window = new ChangeWindow(result.revision, windowCapacity);
    const early = this.#early.filter((change) => change.revision > result.revision);
    this.#early = [];
    for (const change of early) this.#receive(change);
  }

  #receive(change: StoreChange): void {
    if (!this.#window) {
      this.#early.push(change);
      return;
    }
    const { namespace, name } = placeOf(change.key, this.#prefix);
    const made = this.#changeOf(change, this.#index.get(namespace, name));
    if (made.entry) this.#index.set(made.entry);
    else this.#index.delete(namespace, name);
    this.#lastChange = change.revision;
    this.#window.add(made);
    for (const listener of this.#listeners) listener(made);
    made.forgetFrames();
  }

  #changeOf(change: StoreChange, known?: Entry): EntryChange {
    const entry =
      change.value && this.#entryOf({ key: change.key, value: change.value, revision: change.revision });
    const previous = known ?? (change.previous && this.#entryOf({ ...change.previous, key: change.key }));
    return new EntryChange(change.revision, entry, previous);
  }

  #entryOf(record: StoreRecord): Entry {
    const plain = this.#transformer.open(record.value, record.key);
    return new Entry(placeOf(record.key, this.#prefix), record.revision, plain);
  }

  #keyOf(place: Place): string {
    return place.namespace === ''
      ? `${this.#prefix}${place.name}`
      : `${this.#prefix}${place.namespace}/${place.name}`;
  }
}
