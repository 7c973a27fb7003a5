import { findCondition } from '@sheaf/api';
import { conflict, forbidden, type Refused } from './lifecycle-refusal.ts';
import { hasPowerButton } from './machine-end.ts';
import type { VirtualMachine, VirtualMachineInstance } from './virtual-machine.ts';

/** What is done to the process of a machine; its state is looked at afterwards, never remembered. */
export interface ProcessAction {
  readonly isAccepted: true;
  readonly action: 'pause' | 'resume' | 'reset' | 'reboot-by-agent';
}

export type ProcessAnswer = ProcessAction | Refused;

/** `PUT …/virtualmachineinstances/NAME/pause`. */
export function requestPause(instance: VirtualMachineInstance): ProcessAnswer {
  if (!isRunning(instance)) return refusal(instance, 'VM is not running; start it first');
  if (instance.spec.livenessProbe !== undefined)
    return forbidden(
      'virtualmachineinstance',
      nameOf(instance),
      'Pausing VMIs with LivenessProbe is currently not supported; remove the probe and restart the machine',
    );
  if (isPaused(instance)) return refusal(instance, 'VMI is already paused; nothing is to be done');
  if (instance.status?.migrationState?.completed === false)
    return refusal(
      instance,
      `Cannot pause VM '${nameOf(instance)}' because it is currently being migrated; wait for its end`,
    );
  return { isAccepted: true, action: 'pause' };
}

/** `PUT …/virtualmachineinstances/NAME/unpause`. */
export function requestUnpause(
  instance: VirtualMachineInstance,
  machine: VirtualMachine | undefined,
): ProcessAnswer {
  if (machine?.status?.snapshotInProgress !== undefined)
    return conflict('virtualmachine', nameOf(instance), 'VM snapshot is in progress; wait for its end');
  if (!isRunning(instance)) return refusal(instance, 'VMI is not running; start the machine');
  if (!isPaused(instance)) return refusal(instance, 'VMI is not paused; nothing is to be done');
  return { isAccepted: true, action: 'resume' };
}

/** `PUT …/virtualmachineinstances/NAME/softreboot`. */
export function requestSoftReboot(instance: VirtualMachineInstance): ProcessAnswer {
  if (!isRunning(instance)) return refusal(instance, 'VM is not running; start it instead');
  if (isPaused(instance)) return refusal(instance, 'VMI is paused; unpause it first');
  if (findCondition(instance.status?.conditions, 'AgentConnected')?.status === 'True')
    return { isAccepted: true, action: 'reboot-by-agent' };
  return hasPowerButton(instance.spec)
    ? refusal(instance, 'VMI has no agent connected; start the guest agent, or restart the machine')
    : refusal(
        instance,
        'VMI neither have the agent connected nor the ACPI feature enabled; restart the machine',
      );
}

/** `PUT …/virtualmachineinstances/NAME/reset`. */
export function requestReset(instance: VirtualMachineInstance): ProcessAnswer {
  return isRunning(instance)
    ? { isAccepted: true, action: 'reset' }
    : refusal(
        instance,
        `Failed to reset non-running VMI with phase ${instance.status?.phase ?? 'Pending'}; start it`,
      );
}

function isRunning({ status }: VirtualMachineInstance): boolean {
  return status?.phase === 'Running';
}

function isPaused({ status }: VirtualMachineInstance): boolean {
  return findCondition(status?.conditions, 'Paused')?.status === 'True';
}

function nameOf({ metadata }: VirtualMachineInstance): string {
  return metadata.name ?? '';
}

function refusal(instance: VirtualMachineInstance, text: string): Refused {
  return conflict('virtualmachineinstance', nameOf(instance), text);
}
