import type { DaemonSet } from '@sheaf/api/workload/index';
import { withStatus } from '../pods/changed-status.ts';
import { some } from '../pods/counts.ts';
import { isReady } from '../pods/pod-state.ts';
import { type DaemonSetFacts, isPodAvailable, isUpdated, type NodePlace, placesOf } from './plan.ts';

/** The set with a status that is right; `undefined` if it has one. */
export function planDaemonSetStatus(facts: DaemonSetFacts, collisionCount: number): DaemonSet | undefined {
  const { set } = facts;
  const places = placesOf(facts);
  const wanted = places.filter(({ verdict }) => verdict.shouldRun);
  const count = (claim: (place: NodePlace) => boolean): number => wanted.filter(claim).length;
  const available = count(({ pods }) => pods.some((pod) => isPodAvailable(pod, facts)));
  return withStatus(set, {
    currentNumberScheduled: count(({ pods }) => pods.length > 0),
    numberMisscheduled: places.filter(({ verdict, pods }) => !verdict.shouldRun && pods.length > 0).length,
    desiredNumberScheduled: wanted.length,
    numberReady: count(({ pods }) => pods.some(isReady)),
    observedGeneration: set.metadata.generation ?? 0,
    ...some(
      'updatedNumberScheduled',
      count(({ pods }) => pods.some((pod) => isUpdated(pod, facts))),
    ),
    ...some('numberAvailable', available),
    ...some('numberUnavailable', wanted.length - available),
    ...some('collisionCount', collisionCount),
    ...(set.status?.conditions && { conditions: set.status.conditions }),
  });
}
