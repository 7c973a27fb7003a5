import type { KubeObject } from '@sheaf/api';
import type { PersistentVolumeClaim, Pod } from '@sheaf/api/workload/index';
import { StatusError } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import { done, type ObjectCache, type ReconcileResult } from '@sheaf/runtime';
import { planEphemeralVolumes } from './plan.ts';

export interface EphemeralVolumeParts {
  readonly client: Client;
  readonly pods: ObjectCache<Pod>;
  readonly claims: Pick<ObjectCache<KubeObject>, 'get'>;
  readonly tell: (pod: Pod, message: string) => void;
}

/** Makes the claims of one pod's generic ephemeral volumes, by its key. */
export async function reconcileEphemeralVolumes(
  { client, pods, claims, tell }: EphemeralVolumeParts,
  key: string,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const pod = pods.get(key);
  if (!pod) return done;
  for (const step of planEphemeralVolumes(pod, (name) => claims.get(`${pod.metadata.namespace}/${name}`)))
    if (step.action === 'tell') tell(pod, step.message);
    else await createIfMissing(client, step.claim, signal);
  return done;
}

/** Whose the one is that is there already, the watch of claims tells. */
async function createIfMissing(
  client: Client,
  claim: PersistentVolumeClaim,
  signal: AbortSignal,
): Promise<void> {
  try {
    await client.create(resources.persistentVolumeClaims, claim, { signal });
  } catch (error) {
    if (!StatusError.is(error, 'AlreadyExists')) throw error;
  }
}
