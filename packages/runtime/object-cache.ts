import type { KubeObject } from '@sheaf/api';
import type { ObjectChange } from './informer.ts';

/** `namespace/name`, or `name` at cluster scope: the only thing a reconcile is told. */
export function keyOf(object: Pick<KubeObject, 'metadata'>): string {
  const { namespace, name = '' } = object.metadata;
  return namespace ? `${namespace}/${name}` : name;
}

export function parseKey(key: string): { namespace: string; name: string } {
  const slash = key.indexOf('/');
  return slash < 0
    ? { namespace: '', name: key }
    : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

/** The objects that an informer knows, by key. */
export class ObjectCache<T extends KubeObject> {
  #objects = new Map<string, T>();

  get size(): number {
    return this.#objects.size;
  }

  get(key: string): T | undefined {
    return this.#objects.get(key);
  }

  list(namespace?: string): T[] {
    const all = [...this.#objects.values()];
    return namespace === undefined ? all : all.filter((object) => object.metadata.namespace === namespace);
  }

  put(object: T): ObjectChange<T> {
    const key = keyOf(object);
    const old = this.#objects.get(key);
    this.#objects.set(key, object);
    return { object, old };
  }

  remove(object: T): ObjectChange<T> {
    const key = keyOf(object);
    const old = this.#objects.get(key) ?? object;
    this.#objects.delete(key);
    return { object: undefined, old };
  }

  /** Takes a complete state; returns what it changes. */
  replace(objects: readonly T[]): ObjectChange<T>[] {
    const before = this.#objects;
    this.#objects = new Map(objects.map((object) => [keyOf(object), object]));
    const changes: ObjectChange<T>[] = [];
    for (const [key, object] of this.#objects) {
      const old = before.get(key);
      if (old?.metadata.resourceVersion !== object.metadata.resourceVersion) changes.push({ object, old });
    }
    for (const [key, old] of before) if (!this.#objects.has(key)) changes.push({ object: undefined, old });
    return changes;
  }
}
