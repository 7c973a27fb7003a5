import type { KubeObject } from '@sheaf/api';
import { type Disposable, disposable } from '@sheaf/base';
import type { EntryChange } from './entry.ts';
import type { Keyspace } from './keyspace.ts';
import type { LiveChange, LiveView, LiveViews } from './live-view.ts';
import { ResourceStore } from './resource-store.ts';
import { plainTransformer, type Transformer } from './transformer.ts';

/** All resources' stores, made on first use; one for each group and plural, whatever the version. */
export class ResourceStores implements LiveViews {
  readonly #keyspace: Keyspace;
  readonly #transformers: ReadonlyMap<string, Transformer>;
  readonly #stores = new Map<string, ResourceStore>();
  readonly #views = new Map<string, ParsedView>();

  /** `transformers` by `plural` or `plural.group`. */
  constructor(keyspace: Keyspace, transformers: ReadonlyMap<string, Transformer> = new Map()) {
    this.#keyspace = keyspace;
    this.#transformers = transformers;
  }

  get revision(): number {
    return this.#keyspace.revision;
  }

  storeOf(group: string, plural: string): ResourceStore {
    const id = group === '' ? plural : `${plural}.${group}`;
    let store = this.#stores.get(id);
    if (!store) {
      store = new ResourceStore(
        this.#keyspace,
        { group, plural },
        this.#transformers.get(id) ?? plainTransformer,
      );
      this.#stores.set(id, store);
    }
    return store;
  }

  /** The stores in use, for metrics. */
  all(): Iterable<ResourceStore> {
    return this.#stores.values();
  }

  of(group: string, plural: string): LiveView {
    const id = `${group}/${plural}`;
    let view = this.#views.get(id);
    if (!view) {
      view = new ParsedView(this.storeOf(group, plural));
      this.#views.set(id, view);
    }
    return view;
  }

  /** Loads every resource that someone holds a view of; the server does so before it answers. */
  async loadViews(): Promise<void> {
    await Promise.all([...this.#views.values()].map((view) => view.load()));
  }
}

/** A live view that keeps its objects parsed. */
class ParsedView implements LiveView {
  readonly #store: ResourceStore;
  readonly #objects = new Map<string, { readonly revision: number; readonly object: KubeObject }>();
  readonly #listeners = new Set<(change: LiveChange) => void>();
  #version = 0;

  constructor(store: ResourceStore) {
    this.#store = store;
    store.onChange((change) => this.#receive(change));
  }

  get version(): number {
    return this.#version;
  }

  async load(): Promise<void> {
    await this.#store.load();
    this.#version++;
  }

  get(namespace: string, name: string): KubeObject | undefined {
    const entry = this.#store.get({ namespace, name });
    if (!entry) return undefined;
    const id = `${namespace}/${name}`;
    const known = this.#objects.get(id);
    if (known?.revision === entry.revision) return known.object;
    const object = entry.object;
    this.#objects.set(id, { revision: entry.revision, object });
    return object;
  }

  list(namespace?: string): readonly KubeObject[] {
    const objects: KubeObject[] = [];
    for (const entry of this.#store.entries(namespace)) {
      const object = this.get(entry.namespace, entry.name);
      if (object) objects.push(object);
    }
    return objects;
  }

  onChange(listener: (change: LiveChange) => void): Disposable {
    this.#listeners.add(listener);
    return disposable(() => this.#listeners.delete(listener));
  }

  #receive(change: EntryChange): void {
    this.#version++;
    const place = change.entry ?? change.previous;
    if (!place) return;
    if (!change.entry) this.#objects.delete(`${place.namespace}/${place.name}`);
    if (this.#listeners.size === 0) return;
    const told: LiveChange = {
      namespace: place.namespace,
      name: place.name,
      object: change.entry && this.get(place.namespace, place.name),
      previous: change.previous?.object,
    };
    for (const listener of this.#listeners) listener(told);
  }
}
