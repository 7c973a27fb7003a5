import type { KubeObject } from '@sheaf/api';
import { StatusError } from '@sheaf/base';
import { type Client, refOf, type ServedResource } from '@sheaf/client';
import type { GraphNode } from './owner-graph.ts';

/** Resources looked at in parallel, and objects of one of them. */
const concurrency = 8;

export interface OrphanInput {
  readonly owner: GraphNode;
  readonly resources: readonly ServedResource[];
}

/**
 * Takes the references to `owner` from everything that has one. Reads the server and not the graph: a dependent that
 * is not known yet would lose its owner later, and be deleted for it.
 */
export async function releaseDependents(
  client: Client,
  { owner, resources }: OrphanInput,
  signal: AbortSignal,
): Promise<void> {
  const isCluster = owner.namespace === '';
  const candidates = resources.filter((resource) => isCluster || resource.namespaced);
  await inParallel(candidates, async (resource) => {
    const query = { metadataOnly: true, signal, ...(isCluster ? {} : { namespace: owner.namespace }) };
    const dependents = (await client.list(resource, query)).items.filter((object) =>
      object.metadata.ownerReferences?.some(({ uid }) => uid === owner.uid),
    );
    await inParallel(dependents, (dependent) =>
      release(client, { resource, dependent, owner: owner.uid }, signal),
    );
  });
}

interface ReleaseInput {
  readonly resource: ServedResource;
  readonly dependent: KubeObject;
  readonly owner: string;
}

async function release(client: Client, input: ReleaseInput, signal: AbortSignal): Promise<void> {
  const { resource, dependent, owner } = input;
  const { uid = '', resourceVersion = '', ownerReferences = [] } = dependent.metadata;
  const kept = ownerReferences.filter((reference) => reference.uid !== owner).map((item) => ({ ...item }));
  const body = { metadata: { uid, resourceVersion, ownerReferences: kept } };
  try {
    await client.patch(resource, refOf(dependent), { type: 'merge', body, signal });
  } catch (error) {
    if (!StatusError.is(error, 'NotFound') || error.details?.name !== dependent.metadata.name) throw error;
  }
}

async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = [...items];
  const worker = async (): Promise<void> => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, queue.length) }, () => worker()));
}
