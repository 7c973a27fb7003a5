import type { Disposable } from '@sheaf/base';
import type { Store, StoreChange } from '@sheaf/store';

/** Where a resource's objects lie: `/registry/GROUP/RESOURCE/NAMESPACE/NAME`, the namespace left out at cluster scope. */
export function resourcePrefix(group: string, plural: string): string {
  return `/registry/${group === '' ? 'core' : group}/${plural}/`;
}

export function placeOf(key: string, prefix: string): { namespace: string; name: string } {
  const rest = key.slice(prefix.length);
  const slash = rest.indexOf('/');
  return slash < 0
    ? { namespace: '', name: rest }
    : { namespace: rest.slice(0, slash), name: rest.slice(slash + 1) };
}

/**
 * The one subscription to the store. It hands each change to the resource it belongs to, in order, and knows the
 * newest revision that everybody has seen.
 */
export class Keyspace {
  readonly store: Store;
  readonly #listeners = new Map<string, (change: StoreChange) => void>();
  readonly #progress = new Set<(revision: number) => void>();
  #subscription: Disposable | undefined;
  #revision: number;

  private constructor(store: Store) {
    this.store = store;
    this.#revision = store.revision;
  }

  static async open(store: Store): Promise<Keyspace> {
    const keyspace = new Keyspace(store);
    keyspace.#subscription = await store.watch({ prefix: '/registry/', after: store.revision }, (change) =>
      keyspace.#dispatch(change),
    );
    return keyspace;
  }

  /** The newest revision of the whole store that all listeners have been told. */
  get revision(): number {
    return this.#revision;
  }

  listen(prefix: string, listener: (change: StoreChange) => void): void {
    this.#listeners.set(prefix, listener);
  }

  forget(prefix: string): void {
    this.#listeners.delete(prefix);
  }

  /** Resolves with true when `revision` has been reached, with false when `signal` aborts first. */
  waitFor(revision: number, signal: AbortSignal): Promise<boolean> {
    if (this.#revision >= revision) return Promise.resolve(true);
    return new Promise((resolve) => {
      const settle = (reached: boolean): void => {
        this.#progress.delete(onProgress);
        signal.removeEventListener('abort', onAbort);
        resolve(reached);
      };
      const onProgress = (current: number): void => {
        if (current >= revision) settle(true);
      };
      const onAbort = (): void => settle(false);
      if (signal.aborted) return resolve(false);
      this.#progress.add(onProgress);
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  close(): void {
    this.#subscription?.dispose();
  }

  #dispatch(change: StoreChange): void {
    this.#revision = change.revision;
    this.#listeners.get(prefixOf(change.key))?.(change);
    for (const listener of this.#progress) listener(change.revision);
  }
}

/** `/registry/GROUP/RESOURCE/` of a key. */
function prefixOf(key: string): string {
  const groupEnd = key.indexOf('/', '/registry/'.length);
  return key.slice(0, key.indexOf('/', groupEnd + 1) + 1);
}
