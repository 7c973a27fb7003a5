import type { Pod, StatefulSet, StatefulSetStatus } from '@sheaf/api/workload/index';
import { withStatus } from '../pods/changed-status.ts';
import { some } from '../pods/counts.ts';
import { claimsOf } from '../pods/ownership.ts';
import { isAvailable } from '../pods/pod-state.ts';
import { isRunningAndReady, ordinalOf, replicasOf, revisionNameOf } from './ordinal-pod.ts';
import type { StatefulSetFacts } from './plan.ts';

/** The set with a status that is right; `undefined` if it has one. */
export function planStatefulSetStatus(
  facts: StatefulSetFacts,
  collisionCount: number,
): StatefulSet | undefined {
  const { set, pods, nowMs } = facts;
  const own = claimsOf(set, pods).owned.filter((pod) => ordinalOf(pod, set) !== undefined);
  const ready = own.filter(isRunningAndReady);
  const available = ready.filter((pod) => isAvailable(pod, set.spec.minReadySeconds ?? 0, nowMs));
  return withStatus(set, {
    observedGeneration: set.metadata.generation ?? 0,
    replicas: own.length,
    ...some('readyReplicas', ready.length),
    ...revisionsOf(facts, { own, ready }),
    collisionCount,
    availableReplicas: available.length,
    ...(set.status?.conditions && { conditions: set.status.conditions }),
  });
}

/** Once every pod is of the new revision and ready, it is the current one. */
function revisionsOf(
  { set, current, update }: StatefulSetFacts,
  { own, ready }: { readonly own: readonly Pod[]; readonly ready: readonly Pod[] },
): Partial<StatefulSetStatus> {
  const of = (name: string): number =>
    own.filter((pod) => revisionNameOf(pod) === name && pod.metadata.deletionTimestamp === undefined).length;
  const updateName = update.metadata.name ?? '';
  const updated = of(updateName);
  const wanted = replicasOf(set);
  const isRolling = set.spec.updateStrategy?.type !== 'OnDelete';
  const isDone = isRolling && [updated, own.length, ready.length].every((count) => count === wanted);
  const currentName = isDone ? updateName : (current.metadata.name ?? '');
  return {
    ...some('currentReplicas', of(currentName)),
    ...some('updatedReplicas', updated),
    currentRevision: currentName,
    updateRevision: updateName,
  };
}
