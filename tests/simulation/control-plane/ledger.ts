import type { KubeObject, OwnerReference } from '@sheaf/api';
import { DisposableStore } from '@sheaf/base';
import type { TestServer } from '@sheaf/testkit';
import { recorded } from './kinds.ts';
import { isForeground } from './picture.ts';

/** What has ever been true at the server, in the order of its revisions. */
export class Ledger {
  readonly #foreground = new Set<string>();
  readonly #orphaningSince = new Map<string, number>();
  /** By `DEPENDENT OWNER`: since when the one refers to the other. */
  readonly #referredSince = new Map<string, number>();
  readonly #blocking = new Set<string>();
  #subscriptions = new DisposableStore();

  /** Follows a server; the one before is forgotten. */
  follow({ server }: TestServer): void {
    this.#subscriptions.dispose();
    this.#subscriptions = new DisposableStore();
    for (const { group, plural } of recorded) {
      const store = server.stores.storeOf(group, plural);
      this.#subscriptions.add(
        store.onChange(({ entry, revision }) => {
          if (entry) this.#record(entry.object, revision);
        }),
      );
    }
  }

  wasForeground(uid: string): boolean {
    return this.#foreground.has(uid);
  }

  /** True when the reference is older than the deletion of its owner. */
  isOlderThanOrphaning(dependent: string, owner: string): boolean {
    const referred = this.#referredSince.get(`${dependent} ${owner}`);
    const orphaning = this.#orphaningSince.get(owner);
    return referred !== undefined && orphaning !== undefined && referred < orphaning;
  }

  /** True when the owner's foreground deletion waited for the dependent at some time. */
  wasBlocking(dependent: string, owner: string): boolean {
    return this.#blocking.has(`${dependent} ${owner}`);
  }

  #record(object: KubeObject, revision: number): void {
    const { uid = '', ownerReferences = [] } = object.metadata;
    if (isForeground(object)) this.#foreground.add(uid);
    if (!isOrphaning(object)) this.#orphaningSince.delete(uid);
    else if (!this.#orphaningSince.has(uid)) this.#orphaningSince.set(uid, revision);
    for (const owner of ownerReferences)
      this.#recordReference(owner, { key: `${uid} ${owner.uid}`, revision });
    for (const key of this.#referredSince.keys())
      if (key.startsWith(uid) && !ownerReferences.some((owner) => key.endsWith(owner.uid)))
        this.#referredSince.delete(key);
  }

  #recordReference(owner: OwnerReference, { key, revision }: { key: string; revision: number }): void {
    if (owner.blockOwnerDeletion) this.#blocking.add(key);
    if (!this.#referredSince.has(key)) this.#referredSince.set(key, revision);
  }
}

function isOrphaning({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).includes('orphan');
}
