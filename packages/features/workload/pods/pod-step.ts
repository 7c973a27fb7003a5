import type { Pod } from '@sheaf/api/workload/index';
import type { Owner } from './owned-objects.ts';
import type { OwnedPods, PodOrder } from './owned-pods.ts';

/** What every owner of pods can do about them in one pass. */
export type PodStep =
  | { readonly action: 'none' }
  | { readonly action: 'adopt' | 'release' | 'delete'; readonly pods: readonly Pod[] }
  | { readonly action: 'create'; readonly orders: readonly PodOrder[] };

export async function takePodStep(
  pods: OwnedPods,
  { owner, step }: { readonly owner: Owner; readonly step: PodStep },
  signal: AbortSignal,
): Promise<void> {
  switch (step.action) {
    case 'none':
      return;
    case 'adopt':
      return pods.adopt(owner, step.pods, signal);
    case 'release':
      return pods.release(owner, step.pods, signal);
    case 'delete':
      return pods.deleteMany(owner, step.pods, signal);
    case 'create':
      return pods.createMany(owner, step.orders, signal);
  }
}
