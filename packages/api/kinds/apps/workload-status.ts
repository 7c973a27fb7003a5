import type { JsonObject } from '@sheaf/base';
import { type FieldError, invalid } from '../../meta/field-error.ts';
import { asJson, type KubeObject } from '../../meta/object.ts';
import { checkNotNegative, type Errors } from '../checks.ts';
import { fieldsAt, numberAt } from '../fields.ts';

/** How the counts in a workload's status go together. */
interface StatusCounts {
  readonly counts: readonly string[];
  /** None of them is more than `replicas`. */
  readonly atMostReplicas: readonly string[];
  /** What `availableReplicas` above `readyReplicas` is told as; nothing for kinds without the two. */
  readonly readyDetail?: string;
}

type CheckStatus = (next: KubeObject, old: KubeObject) => readonly FieldError[];

export const checkDeploymentStatus = statusCheck({
  counts: [
    'observedGeneration',
    'replicas',
    'updatedReplicas',
    'readyReplicas',
    'availableReplicas',
    'unavailableReplicas',
    'terminatingReplicas',
    'collisionCount',
  ],
  atMostReplicas: ['updatedReplicas', 'readyReplicas', 'availableReplicas'],
  readyDetail: 'cannot be greater than readyReplicas',
});

/** ReplicaSets and ReplicationControllers. */
export const checkReplicaStatus = statusCheck({
  counts: [
    'replicas',
    'fullyLabeledReplicas',
    'readyReplicas',
    'availableReplicas',
    'terminatingReplicas',
    'observedGeneration',
  ],
  atMostReplicas: ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'],
  readyDetail: 'cannot be greater than readyReplicas',
});

export const checkStatefulSetStatus = statusCheck({
  counts: [
    'replicas',
    'readyReplicas',
    'currentReplicas',
    'updatedReplicas',
    'availableReplicas',
    'observedGeneration',
    'collisionCount',
  ],
  atMostReplicas: ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'],
  readyDetail: 'cannot be greater than status.readyReplicas',
});

export const checkDaemonSetStatus = statusCheck({
  counts: [
    'currentNumberScheduled',
    'numberMisscheduled',
    'desiredNumberScheduled',
    'numberReady',
    'observedGeneration',
    'updatedNumberScheduled',
    'numberAvailable',
    'numberUnavailable',
    'collisionCount',
  ],
  atMostReplicas: [],
});

function statusCheck({ counts, atMostReplicas, readyDetail }: StatusCounts): CheckStatus {
  return (next, old) => {
    const errors: Errors = [];
    const status = fieldsAt(asJson(next), 'status');
    for (const count of counts) checkNotNegative(errors, `status.${count}`, status[count]);
    for (const count of atMostReplicas)
      checkAtMost(errors, status, {
        count,
        most: 'replicas',
        detail: 'cannot be greater than status.replicas',
      });
    if (readyDetail !== undefined)
      checkAtMost(errors, status, { count: 'availableReplicas', most: 'readyReplicas', detail: readyDetail });
    checkCollisions(errors, status, fieldsAt(asJson(old), 'status'));
    return errors;
  };
}

interface Bound {
  readonly count: string;
  readonly most: string;
  readonly detail: string;
}

function checkAtMost(errors: Errors, status: JsonObject, { count, most, detail }: Bound): void {
  const value = numberAt(status, count) ?? 0;
  if (value > (numberAt(status, most) ?? 0)) errors.push(invalid(`status.${count}`, value, detail));
}

/** How often a name was taken is only ever counted up. */
function checkCollisions(errors: Errors, next: JsonObject, old: JsonObject): void {
  const [now, before] = [numberAt(next, 'collisionCount'), numberAt(old, 'collisionCount')];
  if (before === undefined || (now !== undefined && now >= before)) return;
  errors.push(invalid('status.collisionCount', now ?? 0, 'cannot be decremented'));
}
