import type { KubeObject } from '@sheaf/api';
import type { Disposable } from '@sheaf/base';
import { DiscoveryReader, preferredResources, type ServedResource } from '@sheaf/client';
import type { Informer, Manager, ObjectChange } from '@sheaf/runtime';

const measured: ReadonlySet<string> = new Set(['pods', 'services', 'persistentvolumeclaims']);

interface Source {
  readonly resource: ServedResource;
  readonly informer: Informer;
  readonly subscription: Disposable;
}

/** The objects that quotas are about, watched from the time when they are asked for first. */
export class TrackedObjects implements Disposable {
  readonly #manager: Manager;
  readonly #discovery: DiscoveryReader;
  readonly #onChange: (namespace: string) => void;
  readonly #sources = new Map<string, Source>();

  /** `onChange`: the use of that namespace may be another now. */
  constructor(manager: Manager, onChange: (namespace: string) => void) {
    this.#manager = manager;
    this.#discovery = new DiscoveryReader(manager.client);
    this.#onChange = onChange;
  }

  /** Begins to watch; true when all that is served of them is known completely. */
  async follow(groupResources: ReadonlySet<string>, signal: AbortSignal): Promise<boolean> {
    const served = preferredResources(await this.#discovery.read(signal), ['list', 'watch']);
    let isKnown = true;
    for (const name of groupResources) {
      const resource = served.find((item) => item.namespaced && nameOf(item) === name);
      if (!resource) this.#end(name);
      else isKnown = this.#follow(name, resource) && isKnown;
    }
    return isKnown;
  }

  list(groupResource: string, namespace: string): readonly KubeObject[] | undefined {
    return this.#sources.get(groupResource)?.informer.cache.list(namespace);
  }

  dispose(): void {
    for (const { subscription } of this.#sources.values()) subscription.dispose();
    this.#sources.clear();
  }

  #follow(name: string, resource: ServedResource): boolean {
    const selection = measured.has(name) ? {} : { metadataOnly: true };
    const informer = this.#manager.informer(resource, selection);
    const source = this.#sources.get(name);
    // Others may have ended the informer with its kind, and the kind has come back.
    if (source?.informer !== informer) {
      source?.subscription.dispose();
      const subscription = informer.onChange((change) => this.#tell(name, change));
      this.#sources.set(name, { resource, informer, subscription });
    }
    return informer.isSynced;
  }

  #end(name: string): void {
    this.#sources.get(name)?.subscription.dispose();
    this.#sources.delete(name);
  }

  #tell(name: string, { object, old }: ObjectChange<KubeObject>): void {
    const isSame = object !== undefined && object.metadata.uid === old?.metadata.uid;
    if (isSame && !measured.has(name)) return;
    this.#onChange((object ?? old)?.metadata.namespace ?? '');
  }
}

function nameOf({ group, plural }: ServedResource): string {
  return group === '' ? plural : `${plural}.${group}`;
}
