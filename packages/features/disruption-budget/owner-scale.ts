import { type KubeObject, type OwnerReference, parseApiVersion } from '@sheaf/api';
import { isJsonObject, type JsonValue, StatusError } from '@sheaf/base';
import { type Client, DiscoveryReader, type ServedResource } from '@sheaf/client';

/** It cannot be told how many pods there should be. */
export class ScaleUnknown extends Error {
  override readonly name = 'ScaleUnknown';
}

interface Scale {
  readonly uid: string;
  readonly replicas: number;
}

/** Kinds that say in `spec.replicas` how many pods they want. */
const plain: ReadonlySet<string> = new Set([
  '/ReplicationController',
  'apps/Deployment',
  'apps/ReplicaSet',
  'apps/StatefulSet',
]);

/** Asks the controllers of pods how many pods they want. */
export class OwnerScale {
  readonly #client: Client;
  readonly #discovery: DiscoveryReader;

  constructor(client: Client) {
    this.#client = client;
    this.#discovery = new DiscoveryReader(client);
  }

  /** Each controller once; pods without one do not count. @throws ScaleUnknown */
  async sum(pods: readonly KubeObject[], signal: AbortSignal): Promise<number> {
    const known = new Set<string>();
    const scales = new Map<string, number>();
    for (const { metadata } of pods) {
      const owner = controllerOf(metadata.ownerReferences);
      if (!owner || known.has(owner.uid)) continue;
      known.add(owner.uid);
      const scale = await this.#find(owner, metadata.namespace ?? '', signal);
      if (!scale) throw new ScaleUnknown(`found no controllers for pod ${JSON.stringify(metadata.name)}`);
      scales.set(scale.uid, scale.replicas);
    }
    return [...scales.values()].reduce((sum, replicas) => sum + replicas, 0);
  }

  async #find(owner: OwnerReference, namespace: string, signal: AbortSignal): Promise<Scale | undefined> {
    const { group, version } = parseApiVersion(owner.apiVersion);
    const { all } = await this.#discovery.read(signal);
    const resource = all.find(
      (item) => item.group === group && item.version === version && item.kind === owner.kind,
    );
    if (!resource) return undefined;
    const object = await this.#client.find(resource, { namespace, name: owner.name }, signal);
    if (object?.metadata.uid !== owner.uid) return undefined;
    const above = controllerOf(object.metadata.ownerReferences);
    if (owner.kind === 'ReplicaSet' && above?.kind === 'Deployment')
      return this.#find(above, namespace, signal);
    if (!plain.has(`${group}/${owner.kind}`)) return this.#readScale(resource, object, signal);
    return { uid: owner.uid, replicas: replicasOf(object['spec']) ?? 1 };
  }

  async #readScale(
    { group, version, plural }: ServedResource,
    { metadata }: KubeObject,
    signal: AbortSignal,
  ): Promise<Scale | undefined> {
    const { namespace = '', name = '', uid = '' } = metadata;
    const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
    const path = `${root}/namespaces/${namespace}/${plural}/${encodeURIComponent(name)}/scale`;
    try {
      const scale = await this.#client.raw(path, { signal });
      return { uid, replicas: replicasOf(scale['spec']) ?? 0 };
    } catch (error) {
      // It has no scale.
      if (StatusError.is(error, 'NotFound')) return undefined;
      throw error;
    }
  }
}

function controllerOf(owners: readonly OwnerReference[] | undefined): OwnerReference | undefined {
  return owners?.find(({ controller }) => controller === true);
}

function replicasOf(spec: unknown): number | undefined {
  const replicas: JsonValue | undefined = isJsonObject(spec) ? spec['replicas'] : undefined;
  return typeof replicas === 'number' ? replicas : undefined;
}
