import { findCondition, waitingCondition, withCondition } from '@sheaf/api';
import type { InstanceStep } from './instance-plan.ts';
import type { InstanceStatus } from './virtual-machine.ts';

const type = 'Synchronized';
const reason = 'StepFailed';

export interface StepFailure {
  readonly step: InstanceStep;
  readonly error: Error;
  readonly now: string;
}

/** The status with the reason why a step could not be taken; the very same if it says so already. */
export function withStepFailure(status: InstanceStatus, { step, error, now }: StepFailure): InstanceStatus {
  const waiting = {
    reason,
    text: `The step ${step.action} has failed: ${error.message}`,
    nature: 'transient',
  } as const;
  const old = status.conditions ?? [];
  const conditions = withCondition(old, waitingCondition({ type, status: 'False' }, waiting), now);
  return conditions === old ? status : { ...status, conditions };
}

/** A failure stays to be seen while its step is still to be taken: a status that comes and goes with each try helps nobody. */
export function keepStepFailure(
  status: InstanceStatus,
  old: InstanceStatus | undefined,
  step: InstanceStep,
): InstanceStatus {
  const failure = findCondition(old?.conditions, type);
  if (step.action === 'none' || failure?.reason !== reason) return status;
  const others = (status.conditions ?? []).filter((condition) => condition.type !== type);
  const place = (old?.conditions ?? []).findIndex((condition) => condition.type === type);
  return { ...status, conditions: others.toSpliced(place, 0, failure) };
}
