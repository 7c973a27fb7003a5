import type { KubeObject } from '@sheaf/api';
import {
  type Clock,
  type Disposable,
  disposable,
  type Logger,
  StatusError,
  sleep,
  toError,
} from '@sheaf/base';
import type { Client, ListQuery, ResourceRef } from '@sheaf/client';
import { ObjectCache } from './object-cache.ts';

/** Which objects of a resource, and how much of each. */
export type Selection = Pick<ListQuery, 'namespace' | 'labelSelector' | 'fieldSelector' | 'metadataOnly'>;

export interface InformerOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly selection?: Selection;
}

/** One change as handlers see it: the object now, and as it was. A gone object has only `old`. */
export interface ObjectChange<T extends KubeObject> {
  readonly object: T | undefined;
  readonly old: T | undefined;
}

const firstRetryMs = 200;
const longestRetryMs = 30_000;
/** A watch that ends sooner has not helped; opening it again at once would be a busy loop. */
const shortestWatchMs = 1000;

/**
 * A local copy of a resource, kept by list and watch. Handlers are told of every object at least once in its newest
 * state; states in between may be left out. Objects are shared and must not be changed.
 */
export class Informer<T extends KubeObject = KubeObject> {
  readonly resource: ResourceRef<T>;
  readonly cache = new ObjectCache<T>();
  readonly #options: InformerOptions;
  readonly #handlers = new Set<(change: ObjectChange<T>) => void>();
  readonly #lifetime = new AbortController();
  readonly #synced: Promise<void>;
  #markSynced: () => void = () => {};
  #isSynced = false;
  #running: Promise<void> | undefined;

  constructor(resource: ResourceRef<T>, options: InformerOptions) {
    this.resource = resource;
    this.#options = options;
    this.#synced = new Promise((resolve) => {
      this.#markSynced = resolve;
    });
  }

  get isSynced(): boolean {
    return this.#isSynced;
  }

  /** Resolves when the first complete state has been handed to the handlers, or the informer has been stopped. */
  synced(): Promise<void> {
    return this.#synced;
  }

  /** A handler added late is told of what is there at once. */
  onChange(handler: (change: ObjectChange<T>) => void): Disposable {
    this.#handlers.add(handler);
    for (const object of this.cache.list()) handler({ object, old: undefined });
    return disposable(() => this.#handlers.delete(handler));
  }

  start(): void {
    this.#running ??= this.#run();
  }

  async stop(): Promise<void> {
    this.#lifetime.abort(new Error('the informer stops'));
    await this.#running;
    // Who still waits for a first state must not wait for ever.
    this.#markSynced();
  }

  async #run(): Promise<void> {
    const { signal } = this.#lifetime;
    let version: string | undefined;
    let failures = 0;
    while (!signal.aborted) {
      try {
        version ??= await this.#listAll();
        failures = 0;
        version = await this.#followFor(version);
      } catch (error) {
        if (signal.aborted) return;
        version =
          StatusError.is(error) && error.code === 410 ? undefined : this.#versionAfter(error, version);
        await this.#pause(failures++, error);
      }
    }
  }

  /** After a broken stream the watch goes on from the last version; anything else is listed anew. */
  #versionAfter(error: unknown, version: string | undefined): string | undefined {
    return StatusError.is(error) ? undefined : (this.#lastVersion ?? version);
  }

  #lastVersion: string | undefined;

  async #listAll(): Promise<string> {
    const { client, selection } = this.#options;
    const { items: listed, resourceVersion } = await client.list(this.resource, {
      ...selection,
      limit: 500,
      signal: this.#lifetime.signal,
    });
    const items = selection?.metadataOnly ? listed.map((item) => withoutBookkeeping(item)) : listed;
    for (const change of this.cache.replace(items)) this.#tell(change);
    this.#lastVersion = resourceVersion;
    this.#isSynced = true;
    this.#markSynced();
    return resourceVersion;
  }

  async #followFor(from: string): Promise<string> {
    const { clock } = this.#options;
    const begun = clock.monotonic();
    const version = await this.#follow(from);
    const restMs = shortestWatchMs - (clock.monotonic() - begun);
    if (restMs > 0) await sleep(clock, restMs, this.#lifetime.signal).catch(() => undefined);
    return version;
  }

  async #follow(from: string): Promise<string> {
    const { client, selection } = this.#options;
    let version = from;
    const watch = client.watch(this.resource, {
      ...selection,
      resourceVersion: from,
      signal: this.#lifetime.signal,
    });
    for await (const { type, object: received } of watch) {
      version = received.metadata.resourceVersion ?? version;
      this.#lastVersion = version;
      if (type === 'BOOKMARK') continue;
      const object = selection?.metadataOnly ? withoutBookkeeping(received) : received;
      const change = type === 'DELETED' ? this.cache.remove(object) : this.cache.put(object);
      if (change) this.#tell(change);
    }
    return version;
  }

  #tell(change: ObjectChange<T>): void {
    for (const handler of this.#handlers) handler(change);
  }

  async #pause(failures: number, error: unknown): Promise<void> {
    const { clock, logger } = this.#options;
    const delayMs = Math.min(longestRetryMs, firstRetryMs * 2 ** Math.min(failures, 10));
    const { group, plural } = this.resource;
    logger.debug('watch interrupted', { group, resource: plural, delayMs, cause: toError(error) });
    // Stopping ends the pause; the loop sees it.
    await sleep(clock, delayMs, this.#lifetime.signal).catch(() => undefined);
  }
}

/**
 * Who set which field is most of an object's metadata, and nobody who asks for metadata of everything wants it. A copy:
 * an object that loses a field is kept as a hash table, which takes several times the memory.
 */
function withoutBookkeeping<T extends KubeObject>(object: T): T {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
