import type { OwnerReference } from '@sheaf/api';

const limit = 20_000;

/** Owners that were seen to be gone. A uid never comes back, so what is absent stays absent. */
export class AbsentOwners {
  readonly #keys = new Set<string>();

  has(reference: OwnerReference, namespace: string): boolean {
    return this.#keys.has(keyOf(reference, namespace));
  }

  add(reference: OwnerReference, namespace: string): void {
    if (this.#keys.size >= limit) this.#keys.delete(this.#keys.values().next().value ?? '');
    this.#keys.add(keyOf(reference, namespace));
  }
}

/** Without the version: all versions show the same objects. */
function keyOf({ apiVersion, kind, name, uid }: OwnerReference, namespace: string): string {
  const slash = apiVersion.indexOf('/');
  const group = slash < 0 ? '' : apiVersion.slice(0, slash);
  return `${uid} ${group}/${kind} ${namespace}/${name}`;
}
