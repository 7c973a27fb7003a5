import { parseApiVersion } from '@sheaf/api';
import type { ServedResource, ServerResources } from '@sheaf/client';

/** Finds the resource that an owner reference means. */
export class OwnerKinds {
  readonly #byVersion = new Map<string, ServedResource>();
  readonly #byGroup = new Map<string, ServedResource>();

  constructor({ all }: ServerResources) {
    for (const resource of all) {
      if (!resource.verbs.includes('get')) continue;
      const { group, version, kind } = resource;
      setFirst(this.#byVersion, `${group}/${version}/${kind}`, resource);
      setFirst(this.#byGroup, `${group}/${kind}`, resource);
    }
  }

  /** A version that is not served any more still means the same objects. */
  find(apiVersion: string, kind: string): ServedResource | undefined {
    const { group, version } = parseApiVersion(apiVersion);
    return this.#byVersion.get(`${group}/${version}/${kind}`) ?? this.#byGroup.get(`${group}/${kind}`);
  }
}

function setFirst<V>(map: Map<string, V>, key: string, value: V): void {
  if (!map.has(key)) map.set(key, value);
}
