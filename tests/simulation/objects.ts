import type { KubeObject } from '@sheaf/api';
import type { ResourceRef } from '@sheaf/client';
import type { KeptServer } from './kept-servers.ts';

interface Known {
  readonly server: KeptServer;
  readonly version: number;
  readonly byUid: ReadonlyMap<string, KubeObject>;
}

/** What the server keeps now, read past all requests. */
export class Objects {
  readonly #server: () => KeptServer;
  readonly #known = new Map<string, Known>();

  constructor(server: () => KeptServer) {
    this.#server = server;
  }

  all<T extends KubeObject>(resource: ResourceRef<T>): readonly T[] {
    return [...this.#byUid(resource).values()] as T[];
  }

  get<T extends KubeObject>(resource: ResourceRef<T>, uid: string): T | undefined {
    return this.#byUid(resource).get(uid) as T | undefined;
  }

  #byUid({ group, plural }: ResourceRef): ReadonlyMap<string, KubeObject> {
    const server = this.#server();
    const view = server.views.of(group, plural);
    const known = this.#known.get(plural);
    if (known?.server === server && known.version === view.version) return known.byUid;
    const byUid = new Map(view.list().map((object) => [object.metadata.uid ?? '', object]));
    this.#known.set(plural, { server, version: view.version, byUid });
    return byUid;
  }
}

export function nameOf({ kind }: Pick<ResourceRef, 'kind'>, { metadata }: KubeObject): string {
  const { namespace, name, uid } = metadata;
  return `${kind} ${namespace ? `${namespace}/` : ''}${name} (${uid?.slice(0, 8)})`;
}

export function isDeleting({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined;
}
