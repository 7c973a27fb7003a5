import { findCondition } from '@sheaf/api';
import { claimNameOf } from './instance-spec.ts';
import {
  isDeleting,
  isFinal,
  type PrintableStatus,
  type RunStrategy,
  type StartFailure,
  type VirtualMachine,
  type VirtualMachineInstance,
} from './virtual-machine.ts';
import type { ClaimFact, ClaimFacts } from './volume-facts.ts';

export interface StatusView {
  readonly machine: VirtualMachine;
  readonly instance: VirtualMachineInstance | undefined;
  readonly strategy: RunStrategy;
  readonly claims: ClaimFacts;
  readonly startFailure: StartFailure | undefined;
  /** An instance is being made in this pass. */
  readonly isStarting: boolean;
  /** The instance is being removed in this pass. */
  readonly isStopping: boolean;
}

/** From the first to the last; what is true first is shown, although others may be true as well. */
const inOrder: readonly (readonly [PrintableStatus, (view: StatusView) => boolean])[] = [
  ['Terminating', ({ machine }) => isDeleting(machine)],
  ['Stopping', ({ instance, isStopping }) => isUnfinished(instance) && (isDeleting(instance) || isStopping)],
  ['Migrating', ({ instance }) => instance?.status?.migrationState?.completed === false],
  ['Paused', ({ instance }) => isRunning(instance) && hasCondition(instance, 'Paused', 'True')],
  ['Running', ({ instance }) => isRunning(instance)],
  [
    'ErrorPvcNotFound',
    ({ instance }) => hasCondition(instance, 'Synchronized', 'False', 'FailedPvcNotFound'),
  ],
  ['DataVolumeError', (view) => hasClaim(view, 'failed')],
  ['ErrorUnschedulable', ({ instance }) => hasCondition(instance, 'PodScheduled', 'False', 'Unschedulable')],
  ['ErrImagePull', ({ instance }) => hasCondition(instance, 'Synchronized', 'False', 'ErrImagePull')],
  ['Provisioning', (view) => hasClaim(view, 'preparing')],
  ['WaitingForVolumeBinding', (view) => isToRun(view) && hasClaim(view, 'unbound')],
  ['Starting', ({ instance, isStarting }) => (instance ? !isFinal(instance) : isStarting)],
  ['CrashLoopBackOff', ({ startFailure }) => startFailure !== undefined],
  ['Stopped', ({ instance }) => instance === undefined || isFinal(instance)],
  ['WaitingForReceiver', ({ strategy }) => strategy === 'WaitAsReceiver'],
];

export function printableStatusOf(view: StatusView): PrintableStatus {
  return inOrder.find(([, isTrue]) => isTrue(view))?.[0] ?? 'Unknown';
}

function isUnfinished(instance: VirtualMachineInstance | undefined): boolean {
  return instance !== undefined && !isFinal(instance);
}

function isRunning(instance: VirtualMachineInstance | undefined): boolean {
  return instance?.status?.phase === 'Running';
}

function hasCondition(
  instance: VirtualMachineInstance | undefined,
  type: string,
  ...[status, reason]: readonly [status: 'True' | 'False', reason?: string]
): boolean {
  const condition = findCondition(instance?.status?.conditions, type);
  return condition?.status === status && (reason === undefined || condition.reason === reason);
}

function hasClaim({ machine, claims }: StatusView, state: ClaimFact['state']): boolean {
  const volumes = machine.spec.template.spec.volumes ?? [];
  return volumes.some((volume) => claims.get(claimNameOf(volume) ?? '')?.state === state);
}

function isToRun({ strategy, instance, isStarting }: StatusView): boolean {
  if (strategy === 'Always') return true;
  return isStarting || isUnfinished(instance);
}
