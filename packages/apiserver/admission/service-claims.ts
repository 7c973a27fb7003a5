import type { KubeObject } from '@sheaf/api';
import type { LiveChange, LiveView } from '../storage/live-view.ts';
import { integerAt, objectAt, objectsAt, textsAt } from './object-field.ts';

/**
 * What cluster addresses and node ports are taken: by the Services that are there, which alone decide, and for a moment
 * by writes under way. There is no ledger that could disagree with the Services.
 */
export class ServiceClaims {
  readonly #view: LiveView;
  readonly #taken = new Map<string, number>();
  readonly #claimsOf = new Map<string, readonly string[]>();
  #isRead = false;

  constructor(view: LiveView) {
    this.#view = view;
    view.onChange((change) => {
      if (this.#isRead) this.#follow(change);
    });
  }

  /** `key`: an address, or the decimal text of a port. */
  has(key: string): boolean {
    if (!this.#isRead) this.#read();
    return this.#taken.has(key);
  }

  /** Takes a key until the returned function is called. */
  reserve(key: string): () => void {
    this.#add(key);
    return () => this.#drop(key);
  }

  /** The view is complete when the first Service comes. */
  #read(): void {
    this.#isRead = true;
    for (const object of this.#view.list()) {
      const { namespace = '', name = '' } = object.metadata;
      this.#follow({ namespace, name, object, previous: undefined });
    }
  }

  #follow({ namespace, name, object }: LiveChange): void {
    const id = `${namespace}/${name}`;
    const claims = object ? claimsOf(object) : [];
    for (const key of claims) this.#add(key);
    for (const key of this.#claimsOf.get(id) ?? []) this.#drop(key);
    if (object) this.#claimsOf.set(id, claims);
    else this.#claimsOf.delete(id);
  }

  #add(key: string): void {
    this.#taken.set(key, (this.#taken.get(key) ?? 0) + 1);
  }

  #drop(key: string): void {
    const count = this.#taken.get(key) ?? 0;
    if (count > 1) this.#taken.set(key, count - 1);
    else this.#taken.delete(key);
  }
}

function claimsOf(service: KubeObject): readonly string[] {
  const spec = objectAt(service, 'spec');
  const addresses = textsAt(spec, 'clusterIPs').filter((ip) => ip !== 'None');
  const ports = objectsAt(spec, 'ports').map((port) => integerAt(port, 'nodePort'));
  const claimed = new Set([...ports, integerAt(spec, 'healthCheckNodePort')]);
  claimed.delete(0);
  return [...addresses, ...[...claimed].map(String)];
}
