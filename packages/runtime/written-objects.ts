import type { KubeObject } from '@sheaf/api';
import type { Clock } from '@sheaf/base';
import type { Client, ResourceRef } from '@sheaf/client';
import type { Informer } from './informer.ts';
import { keyOf, type ObjectCache } from './object-cache.ts';

export interface WrittenObjectsOptions<T extends KubeObject> {
  readonly client: Client;
  readonly clock: Clock;
  readonly informer: Informer<T>;
}

interface Written<T> {
  readonly object: T;
  readonly isDeleted: boolean;
  readonly atMs: number;
}

/** A write that the watch has not told of for this long is asked about. */
const doubtMs = 5000;

/**
 * An informer's objects, and what its reader has written since and the watch has not told yet. Who counts objects and makes the
 * missing ones must see those that were made a moment ago.
 */
export class WrittenObjects<T extends KubeObject> {
  readonly #options: WrittenObjectsOptions<T>;
  readonly #written = new Map<string, Written<T>>();

  constructor(options: WrittenObjectsOptions<T>) {
    this.#options = options;
  }

  /** An answer of the server to a write: made, changed, or deleted with a time of grace. */
  note(object: T): void {
    this.#put(object, false);
  }

  /** It is gone, or will be: it does not count any more. */
  noteDeletion(object: T): void {
    this.#put(object, true);
  }

  /** How long until something that the watch has not told of is asked about: look again then. `undefined`: it has told of all. */
  get doubtInMs(): number | undefined {
    const { clock, informer } = this.#options;
    const open = [...this.#written.values()].filter((written) => !isTold(written, informer.cache));
    if (open.length === 0) return undefined;
    return Math.max(0, Math.min(...open.map(({ atMs }) => atMs)) + doubtMs - clock.monotonic());
  }

  /** Those of a namespace, or all of them. */
  async list(namespace: string | undefined, signal: AbortSignal): Promise<T[]> {
    const { cache } = this.#options.informer;
    await this.#settle(signal);
    if (this.#written.size === 0) return cache.list(namespace);
    const objects = cache.list(namespace).filter(({ metadata: { uid = '' } }) => !this.#written.has(uid));
    for (const { object, isDeleted } of this.#written.values())
      if (!isDeleted && (namespace === undefined || object.metadata.namespace === namespace))
        objects.push(object);
    return objects;
  }

  #put(object: T, isDeleted: boolean): void {
    const { uid = '' } = object.metadata;
    this.#written.set(uid, { object, isDeleted, atMs: this.#options.clock.monotonic() });
  }

  async #settle(signal: AbortSignal): Promise<void> {
    const { informer, clock } = this.#options;
    for (const [uid, written] of this.#written) {
      if (isTold(written, informer.cache)) this.#written.delete(uid);
      else if (clock.monotonic() - written.atMs >= doubtMs) await this.#ask(uid, written, signal);
    }
  }

  /** It may have come and gone before its writer heard of it. */
  async #ask(uid: string, { object }: Written<T>, signal: AbortSignal): Promise<void> {
    const { client, informer } = this.#options;
    const resource: ResourceRef<T> = informer.resource;
    const { namespace = '', name = '' } = object.metadata;
    const now = await client.find(resource, { namespace, name }, signal);
    this.#written.delete(uid);
    if (now?.metadata.uid === uid) this.note(now);
    else if (informer.cache.get(keyOf(object))?.metadata.uid === uid) this.noteDeletion(object);
  }
}

function isTold<T extends KubeObject>({ object, isDeleted }: Written<T>, cache: ObjectCache<T>): boolean {
  const cached = cache.get(keyOf(object));
  if (cached === undefined || cached.metadata.uid !== object.metadata.uid) return isDeleted;
  if (isDeleted) return false;
  return versionOf(cached) >= versionOf(object);
}

/** Versions of one resource can be compared (KEP-5504). */
function versionOf({ metadata }: KubeObject): bigint {
  return BigInt(metadata.resourceVersion ?? '0');
}
