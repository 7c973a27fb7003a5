import type { KubeObject } from '@sheaf/api';
import type { ObjectChange } from '@sheaf/runtime';
import { type AddressOwner, addressesOf } from './plan.ts';

/** Which Service has which address, as far as is known here. */
export class AddressOwners {
  readonly #owners = new Map<string, AddressOwner>();

  get(address: string): AddressOwner | undefined {
    return this.#owners.get(address);
  }

  follow({ object, old }: ObjectChange<KubeObject>): void {
    if (old) for (const address of addressesOf(old)) this.#release(address, ownerOf(old));
    if (object) for (const address of addressesOf(object)) this.#owners.set(address, ownerOf(object));
  }

  /** Another Service may have it already. */
  #release(address: string, { namespace, name }: AddressOwner): void {
    const known = this.#owners.get(address);
    if (known?.namespace === namespace && known.name === name) this.#owners.delete(address);
  }
}

function ownerOf({ metadata: { namespace = '', name = '' } }: KubeObject): AddressOwner {
  return { namespace, name };
}
