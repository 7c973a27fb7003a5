import type { KubeObject } from '@sheaf/api';
import type { LiveView } from '@sheaf/apiserver/storage/live-view';
import type { ResourceRef } from '@sheaf/client';
import type { KeptServer } from './kept-servers.ts';

interface Known {
  readonly server: KeptServer;
  readonly view: LiveView;
  readonly version: number;
  readonly all: readonly KubeObject[];
  readonly byUid: ReadonlyMap<string, KubeObject>;
}

/** What the server keeps now, read past all requests. */
export class Objects {
  readonly #server: () => KeptServer;
  readonly #known = new Map<ResourceRef, Known>();

  constructor(server: () => KeptServer) {
    this.#server = server;
  }

  /** The same list as long as nothing of the kind changes. */
  all<T extends KubeObject>(resource: ResourceRef<T>): readonly T[] {
    return this.#know(resource).all as T[];
  }

  get<T extends KubeObject>(resource: ResourceRef<T>, uid: string): T | undefined {
    return this.#know(resource).byUid.get(uid) as T | undefined;
  }

  #know(resource: ResourceRef): Known {
    const server = this.#server();
    const known = this.#known.get(resource);
    if (known?.server === server && known.version === known.view.version) return known;
    const view = known?.server === server ? known.view : server.views.of(resource.group, resource.plural);
    const all = view.list();
    const byUid = new Map(all.map((object) => [object.metadata.uid ?? '', object]));
    const next = { server, view, version: view.version, all, byUid };
    this.#known.set(resource, next);
    return next;
  }
}

export function nameOf({ kind }: Pick<ResourceRef, 'kind'>, { metadata }: KubeObject): string {
  const { namespace, name, uid } = metadata;
  return `${kind} ${namespace ? `${namespace}/` : ''}${name} (${uid?.slice(0, 8)})`;
}

export function isDeleting({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined;
}
