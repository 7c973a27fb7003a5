import type { KubeObject, OwnerReference } from '@sheaf/api';
import { parseApiVersion } from '@sheaf/api';
import type { ResourceRef } from '@sheaf/client';
import type { TestServer } from '@sheaf/testkit';
import { recorded } from './kinds.ts';

/** An object as the server keeps it now. */
export interface Kept {
  readonly resource: ResourceRef;
  readonly object: KubeObject;
}

/** What the server keeps at one moment, read past all requests. */
export class Picture {
  readonly all: readonly Kept[];
  readonly #byUid = new Map<string, Kept>();

  constructor(server: TestServer) {
    const all: Kept[] = [];
    for (const resource of recorded) {
      const store = server.server.stores.storeOf(resource.group, resource.plural);
      for (const { object } of store.entries(undefined)) all.push({ resource, object });
    }
    this.all = all;
    for (const kept of all) this.#byUid.set(kept.object.metadata.uid ?? '', kept);
  }

  get(uid: string): Kept | undefined {
    return this.#byUid.get(uid);
  }

  of({ plural, group }: ResourceRef): readonly KubeObject[] {
    return this.all
      .filter(({ resource }) => resource.plural === plural && resource.group === group)
      .map(({ object }) => object);
  }

  /** The object that a reference means, if it is there. */
  ownerOf(dependent: Kept, reference: OwnerReference): Kept | undefined {
    const owner = this.get(reference.uid);
    return owner && means(owner, dependent, reference) ? owner : undefined;
  }
}

function means({ resource, object }: Kept, dependent: Kept, reference: OwnerReference): boolean {
  const namespace = resource.namespaced ? (dependent.object.metadata.namespace ?? '') : '';
  return (
    resource.kind === reference.kind &&
    resource.group === parseApiVersion(reference.apiVersion).group &&
    object.metadata.name === reference.name &&
    (object.metadata.namespace ?? '') === namespace
  );
}

export function isForeground({ metadata }: KubeObject): boolean {
  return (
    metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).includes('foregroundDeletion')
  );
}

export function nameOf({ resource, object }: Kept): string {
  const { namespace, name, uid } = object.metadata;
  return `${resource.kind} ${namespace ? `${namespace}/` : ''}${name} (${uid?.slice(0, 8)})`;
}
