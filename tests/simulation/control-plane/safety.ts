import type { ClientRequest } from '@sheaf/client';
import { resources } from '@sheaf/client';
import type { TestServer } from '@sheaf/testkit';
import { kinds } from './kinds.ts';
import type { Ledger } from './ledger.ts';
import { isForeground, type Kept, nameOf, Picture } from './picture.ts';

const objectPath = /^\/apis?\/(?:([^/]+)\/)?v1\/(?:namespaces\/([^/]+)\/)?([^/?]+)\/([^/?]+)$/;

/** What must never be, looked at around each write of the controllers. */
export class Safety {
  readonly violations: string[] = [];
  readonly #ledger: Ledger;
  readonly #server: () => TestServer;

  constructor(ledger: Ledger, server: () => TestServer) {
    this.#ledger = ledger;
    this.#server = server;
  }

  /** Called before a request is carried out; the result is called with its status. */
  watch(request: ClientRequest): ((status: number) => void) | undefined {
    if (request.method === 'DELETE') return this.#watchDelete(request);
    if (request.method === 'PATCH' && request.body?.includes('"finalizers"'))
      return this.#watchRelease(request);
    return undefined;
  }

  /** Nothing with a live owner is deleted, and nothing that never had one. */
  #watchDelete(request: ClientRequest): ((status: number) => void) | undefined {
    const picture = new Picture(this.#server());
    const victim = findTarget(picture, request);
    if (!victim || victim.object.metadata.deletionTimestamp !== undefined) return undefined;
    const references = victim.object.metadata.ownerReferences ?? [];
    if (references.length === 0) return this.#complain(`${nameOf(victim)} was deleted, and had no owners`);
    const owner = references
      .map((reference) => picture.ownerOf(victim, reference))
      .find((item) => item && !this.#goesBefore(victim, item));
    return owner && this.#complain(`${nameOf(victim)} was deleted, but its owner ${nameOf(owner)} lives`);
  }

  /** The owner's own deletion waits, or waited, for the dependent. */
  #goesBefore(dependent: Kept, owner: Kept): boolean {
    const { uid = '' } = owner.object.metadata;
    return (
      this.#ledger.wasForeground(uid) && this.#ledger.wasBlocking(dependent.object.metadata.uid ?? '', uid)
    );
  }

  /** Who is to stay has been released before the owner goes. */
  #watchRelease(request: ClientRequest): ((status: number) => void) | undefined {
    const before = new Picture(this.#server());
    const owner = findTarget(before, request);
    if (!owner?.object.metadata.finalizers?.includes('orphan') || isForeground(owner.object))
      return undefined;
    return (status) => {
      if (status !== 200) return;
      const { uid = '' } = owner.object.metadata;
      for (const dependent of before.all) {
        const isLeft = this.#isLeft(before, dependent, uid);
        if (isLeft)
          this.violations.push(
            `${nameOf(dependent)} lost its owner ${nameOf(owner)}, which was to orphan it`,
          );
      }
    };
  }

  #isLeft(picture: Picture, dependent: Kept, owner: string): boolean {
    const { metadata } = dependent.object;
    if (metadata.deletionTimestamp !== undefined) return false;
    const reference = metadata.ownerReferences?.find(({ uid }) => uid === owner);
    if (!reference || !picture.ownerOf(dependent, reference)) return false;
    return this.#ledger.isOlderThanOrphaning(metadata.uid ?? '', owner);
  }

  #complain(text: string): (status: number) => void {
    return (status) => {
      if (status === 200) this.violations.push(text);
    };
  }
}

function findTarget(picture: Picture, { target }: ClientRequest): Kept | undefined {
  const [, group = '', namespace = '', plural, name] = objectPath.exec(target) ?? [];
  const resource = kinds.find((kind) => kind.plural === plural && kind.group === group);
  if (!resource && plural !== resources.serviceAccounts.plural) return undefined;
  return picture.all.find(
    (kept) =>
      kept.resource.plural === plural &&
      kept.object.metadata.name === name &&
      (kept.object.metadata.namespace ?? '') === namespace,
  );
}
