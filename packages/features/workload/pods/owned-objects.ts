import { type KubeObject, type OwnerReference, toApiVersion } from '@sheaf/api';
import type { JsonObject } from '@sheaf/base';
import { type Clock, StatusError } from '@sheaf/base';
import { type Client, type ResourceRef } from '@sheaf/client';
import { type Informer, WrittenObjects } from '@sheaf/runtime';
import { adoptionPatch, controllerReference, releasePatch } from './ownership.ts';

export interface OwnedObjectsOptions<T extends KubeObject> {
  readonly client: Client;
  readonly clock: Clock;
  readonly informer: Informer<T>;
  /** What its objects carry until their owner has done with them. */
  readonly finalizer?: string;
}

export interface Owner {
  readonly object: KubeObject;
  readonly resource: ResourceRef;
}

/** Objects of one resource as the controllers that own them read and write them. What they wrote they see at once. */
export class OwnedObjects<T extends KubeObject> {
  readonly #client: Client;
  readonly #resource: ResourceRef<T>;
  readonly #written: WrittenObjects<T>;
  readonly #finalizer: string | undefined;

  constructor(options: OwnedObjectsOptions<T>) {
    this.#client = options.client;
    this.#resource = options.informer.resource;
    this.#written = new WrittenObjects(options);
    this.#finalizer = options.finalizer;
  }

  /** See `WrittenObjects`. */
  get doubtInMs(): number | undefined {
    return this.#written.doubtInMs;
  }

  list(namespace: string, signal: AbortSignal): Promise<T[]> {
    return this.#written.list(namespace, signal);
  }

  /** @throws StatusError as the server refuses it */
  async create(object: T, signal: AbortSignal): Promise<T> {
    const made = await this.#client.create(this.#resource, object, { signal });
    this.#written.note(made);
    return made;
  }

  /** @throws StatusError Conflict if it has been changed since it was read */
  async update(object: T, signal: AbortSignal): Promise<T> {
    const next = await this.#client.update(this.#resource, object, { signal });
    this.#written.note(next);
    return next;
  }

  /** This very object; one that is gone is deleted. True if that was done now. */
  async delete(object: T, signal: AbortSignal): Promise<boolean> {
    const { namespace = '', name = '', uid = '' } = object.metadata;
    try {
      const options = { uid, propagationPolicy: 'Background', signal } as const;
      const left = await this.#client.delete(this.#resource, { namespace, name }, options);
      if (left.metadata.uid === uid && isStillThere(left)) this.#written.note(left as T);
      else this.#written.noteDeletion(object);
      return true;
    } catch (error) {
      if (!isGone(error)) throw error;
      this.#written.noteDeletion(object);
      return false;
    }
  }

  /** Makes objects without a controller its own. */
  async adopt(owner: Owner, objects: readonly T[], signal: AbortSignal): Promise<void> {
    const { metadata } = owner.object;
    const { namespace = '', name = '' } = metadata;
    // Not on the word of a cache: what is adopted by an owner that is gone goes with it.
    const now = await this.#client.find(owner.resource, { namespace, name }, signal);
    if (now?.metadata.uid !== metadata.uid || now?.metadata.deletionTimestamp !== undefined) return;
    const reference = referenceTo(owner);
    await this.#patchMany(objects, (uid) => adoptionPatch(uid, reference, this.#finalizer), signal);
  }

  async release(owner: Owner, objects: readonly T[], signal: AbortSignal): Promise<void> {
    const { uid: ownerUid = '' } = owner.object.metadata;
    await this.#patchMany(objects, (uid) => releasePatch(uid, ownerUid, this.#finalizer), signal);
  }

  async #patchMany(
    objects: readonly T[],
    patchOf: (uid: string) => JsonObject,
    signal: AbortSignal,
  ): Promise<void> {
    for (const object of objects) {
      const { namespace = '', name = '', uid = '' } = object.metadata;
      const patch = { type: 'strategic', body: patchOf(uid), signal } as const;
      try {
        this.#written.note(await this.#client.patch(this.#resource, { namespace, name }, patch));
      } catch (error) {
        if (!StatusError.is(error, 'NotFound')) throw error;
        this.#written.noteDeletion(object);
      }
    }
  }
}

/** As the one controller of what it makes. */
export function referenceTo({ object, resource: { group, version, kind } }: Owner): OwnerReference {
  return controllerReference(object, { apiVersion: toApiVersion(group, version), kind });
}

/** The answer to a deletion may show what is gone already. */
function isStillThere({ metadata }: KubeObject): boolean {
  const { finalizers = [], deletionGracePeriodSeconds = 0 } = metadata;
  return finalizers.length > 0 || deletionGracePeriodSeconds > 0;
}

/** There is no such object any more, or another one of its name. */
function isGone(error: unknown): boolean {
  return StatusError.is(error, 'NotFound') || StatusError.is(error, 'Conflict');
}
