import type { KubeObject } from '@sheaf/api';
import type { LiveChange, LiveView, LiveViews } from '@sheaf/apiserver/storage/live-view';
import { type Disposable, disposable } from '@sheaf/base';

/** One change as watchers are told of it; the last state of an object that has gone carries the revision of its end. */
export interface KeptChange {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly revision: number;
  readonly object: KubeObject;
}

interface Place {
  readonly namespace: string;
  readonly name: string;
}

/** The objects of one resource, and every change of them since the beginning. */
export class KeptKind implements LiveView {
  readonly changes: KeptChange[] = [];
  readonly #objects: Map<string, KubeObject>;
  readonly #listeners = new Set<(change: LiveChange) => void>();
  readonly #watchers = new Set<(change: KeptChange) => void>();
  #inOrder: readonly KubeObject[] | undefined;
  #version = 0;

  constructor(objects: readonly KubeObject[]) {
    this.#objects = new Map(objects.map((object) => [keyOf(placeOf(object)), object]));
  }

  get version(): number {
    return this.#version;
  }

  get(namespace: string, name: string): KubeObject | undefined {
    return this.#objects.get(keyOf({ namespace, name }));
  }

  list(namespace?: string): readonly KubeObject[] {
    this.#inOrder ??= [...this.#objects.entries()]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([, object]) => object);
    if (namespace === undefined) return this.#inOrder;
    return this.#inOrder.filter(({ metadata }) => (metadata.namespace ?? '') === namespace);
  }

  onChange(listener: (change: LiveChange) => void): Disposable {
    this.#listeners.add(listener);
    return disposable(() => this.#listeners.delete(listener));
  }

  watch(watcher: (change: KeptChange) => void): Disposable {
    this.#watchers.add(watcher);
    return disposable(() => this.#watchers.delete(watcher));
  }

  /** Only for `KeptObjects`, which counts revisions. */
  take(place: Place, change: KeptChange): void {
    const key = keyOf(place);
    const previous = this.#objects.get(key);
    const isGone = change.type === 'DELETED';
    if (isGone) this.#objects.delete(key);
    else this.#objects.set(key, change.object);
    this.#inOrder = undefined;
    this.#version++;
    this.changes.push(change);
    const told = { ...place, object: isGone ? undefined : change.object, previous };
    for (const listener of this.#listeners) listener(told);
    for (const watcher of this.#watchers) watcher(change);
  }
}

/** What a lean server keeps: the objects of its template, and what has become of them. */
export class KeptObjects implements LiveViews {
  readonly firstRevision: number;
  readonly #first: ReadonlyMap<string, readonly KubeObject[]>;
  readonly #kinds = new Map<string, KeptKind>();
  #revision: number;

  /** `first`: objects by `GROUP/PLURAL`. */
  constructor(first: ReadonlyMap<string, readonly KubeObject[]>, revision: number) {
    this.#first = first;
    this.firstRevision = revision;
    this.#revision = revision;
  }

  get revision(): number {
    return this.#revision;
  }

  /** All objects as they are now, for others to begin with. */
  state(): ReadonlyMap<string, readonly KubeObject[]> {
    const now = new Map(this.#first);
    for (const [id, kind] of this.#kinds) now.set(id, kind.list());
    return now;
  }

  of(group: string, plural: string): KeptKind {
    const id = `${group}/${plural}`;
    let kind = this.#kinds.get(id);
    if (!kind) {
      kind = new KeptKind(this.#first.get(id) ?? []);
      this.#kinds.set(id, kind);
    }
    return kind;
  }

  /** Keeps a new state of an object, which belongs to the kept objects from now on. */
  put(kind: KeptKind, object: KubeObject): KubeObject {
    const place = placeOf(object);
    const isNew = kind.get(place.namespace, place.name) === undefined;
    const revision = ++this.#revision;
    object.metadata.resourceVersion = String(revision);
    kind.take(place, { type: isNew ? 'ADDED' : 'MODIFIED', revision, object });
    return object;
  }

  remove(kind: KeptKind, last: KubeObject): void {
    const revision = ++this.#revision;
    const object = { ...last, metadata: { ...last.metadata, resourceVersion: String(revision) } };
    kind.take(placeOf(last), { type: 'DELETED', revision, object });
  }
}

function placeOf({ metadata: { namespace = '', name = '' } }: KubeObject): Place {
  return { namespace, name };
}

function keyOf({ namespace, name }: Place): string {
  return namespace === '' ? name : `${namespace}/${name}`;
}
