import type { Job, Pod } from '@sheaf/api/workload/index';
import { type Client, resources } from '@sheaf/client';
import { done, keyOf, type ObjectCache, type ReconcileResult } from '@sheaf/runtime';
import type { OwnedPods } from '../pods/owned-pods.ts';
import { controllerOf } from '../pods/ownership.ts';
import { isTracked, trackingFinalizer } from './job-pod.ts';

export interface OrphanPodParts {
  readonly client: Client;
  readonly jobs: ObjectCache<Job>;
  readonly pods: OwnedPods;
}

/** Nobody counts a pod whose job is gone, or that is nobody's any more: nothing keeps it then. */
export async function reconcileOrphanPod(
  parts: OrphanPodParts,
  key: string,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const namespace = key.slice(0, key.indexOf('/'));
  const pod = (await parts.pods.list(namespace, signal)).find((each) => keyOf(each) === key);
  if (!pod || !isTracked(pod) || (await hasJob(parts, pod, signal))) return done;
  await free(parts.pods, [pod], signal);
  return done;
}

/** Lets pods go whose ends have been noted. */
export async function free(pods: OwnedPods, tracked: readonly Pod[], signal: AbortSignal): Promise<void> {
  for (const pod of tracked) {
    const finalizers = (pod.metadata.finalizers ?? []).filter((name) => name !== trackingFinalizer);
    await pods.updateIfThere({ ...pod, metadata: { ...pod.metadata, finalizers } }, signal);
  }
}

/** Not on the word of a cache alone: a job that is not known yet still counts. */
async function hasJob({ client, jobs }: OrphanPodParts, pod: Pod, signal: AbortSignal): Promise<boolean> {
  const controller = controllerOf(pod);
  if (!controller) return false;
  if (controller.kind !== 'Job') return true;
  const { namespace = '' } = pod.metadata;
  const { name, uid } = controller;
  if (jobs.get(`${namespace}/${name}`)?.metadata.uid === uid) return true;
  const now = await client.find(resources.jobs, { namespace, name }, signal);
  return now?.metadata.uid === uid;
}
