import { identityOf, timestampOf, withCondition } from '@sheaf/api';
import type { NodeObject } from '@sheaf/api/node/index';
import type { Pod } from '@sheaf/api/workload/index';
import { type Clock, StatusError } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import { again, done, type ObjectCache, type ReconcileResult } from '@sheaf/runtime';
import { hasEnded } from '../pods/pod-state.ts';

export interface LostPodParts {
  readonly client: Client;
  readonly clock: Clock;
  readonly pods: ObjectCache<Pod>;
  readonly nodes: ObjectCache<NodeObject>;
  /** Of this host. Its node comes back by itself, and its pods are not lost meanwhile. */
  readonly nodeName: string;
  /** Since when a node has been seen missing, by name. Begins anew with each process. */
  readonly missing: Map<string, number>;
}

/** Who deletes a node and means to make it anew has this long. */
const quarantineMs = 40_000;

/** A pod whose node somebody has deleted runs nowhere any more: it fails, and goes, so that its owner may replace it. */
export async function reconcileLostPod(
  parts: LostPodParts,
  key: string,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const { client, clock, nodes, nodeName: own, missing } = parts;
  const pod = parts.pods.get(key);
  const name = pod?.spec.nodeName ?? '';
  if (!pod || name === '' || name === own) return done;
  if (nodes.get(name)) {
    missing.delete(name);
    return done;
  }
  const since = missing.get(name) ?? clock.monotonic();
  missing.set(name, since);
  const leftMs = since + quarantineMs - clock.monotonic();
  if (leftMs > 0) return again(leftMs);
  // What was heard may be late.
  if (await client.find(resources.nodes, { name }, signal)) return again(quarantineMs);
  await remove(parts, pod, signal);
  return done;
}

async function remove({ client, clock }: LostPodParts, pod: Pod, signal: AbortSignal): Promise<void> {
  const { namespace, name, uid } = identityOf(pod);
  try {
    if (!hasEnded(pod)) {
      const lost = {
        type: 'DisruptionTarget',
        status: 'True',
        reason: 'DeletionByPodGC',
        message: 'PodGC: node no longer exists',
      } as const;
      const conditions = withCondition(pod.status?.conditions ?? [], lost, timestampOf(clock));
      const status = { ...pod.status, phase: 'Failed', conditions };
      await client.updateStatus(resources.pods, { ...pod, status }, { signal });
    }
    await client.delete(resources.pods, { namespace, name }, { uid, gracePeriodSeconds: 0, signal });
  } catch (error) {
    if (!StatusError.is(error, 'NotFound')) throw error;
  }
}
