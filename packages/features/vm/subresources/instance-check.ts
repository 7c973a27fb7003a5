import { findCondition } from '@sheaf/api';
import { badRequest, type StatusError } from '@sheaf/base';
import { conflict } from '../lifecycle-refusal.ts';
import type { VirtualMachineInstance } from '../virtual-machine.ts';

/** Why something cannot be had of an instance as it is; `undefined` if it can. */
export type InstanceCheck = (instance: VirtualMachineInstance) => StatusError | undefined;

/** 400, not 409: `virtctl console` asks again on a 400 until the machine runs, and gives up on everything else. */
const notRunning = 'VMI is not running; start the machine';

export function checkConsole({ metadata, spec, status }: VirtualMachineInstance): StatusError | undefined {
  if (spec.domain.devices.autoattachSerialConsole === false)
    return badRequest(
      'No serial consoles are present; remove autoattachSerialConsole: false and restart the machine',
    );
  if (status?.phase === 'Failed')
    return refusal(metadata.name, 'VMI is in failed status; start the machine again');
  return status?.phase === 'Running' ? undefined : badRequest(notRunning);
}

export function checkScreen({ spec, status }: VirtualMachineInstance): StatusError | undefined {
  if (spec.domain.devices.autoattachGraphicsDevice === false)
    return badRequest(
      'No graphics devices are present; remove autoattachGraphicsDevice: false and restart the machine',
    );
  return status?.phase === 'Running' ? undefined : badRequest(notRunning);
}

export function checkPort(instance: VirtualMachineInstance): StatusError | undefined {
  const { metadata, status } = instance;
  if (isPaused(instance)) return refusal(metadata.name, 'VMI is paused; unpause it first');
  const phase = status?.phase ?? 'Pending';
  if (phase === 'Running') return undefined;
  return badRequest(
    `Unable to connect to VirtualMachineInstance because phase is ${phase} instead of Running; start the machine`,
  );
}

/** What the agent in the guest is asked for. */
export function checkAgent({ metadata, status }: VirtualMachineInstance): StatusError | undefined {
  if (status?.phase !== 'Running') return refusal(metadata.name, notRunning);
  if (findCondition(status.conditions, 'AgentConnected')?.status === 'True') return undefined;
  const text = 'VMI does not have guest agent connected; install and start qemu-guest-agent in the guest';
  return refusal(metadata.name, text);
}

export function checkRunning({ metadata, status }: VirtualMachineInstance): StatusError | undefined {
  return status?.phase === 'Running' ? undefined : refusal(metadata.name, notRunning);
}

function isPaused({ status }: VirtualMachineInstance): boolean {
  return findCondition(status?.conditions, 'Paused')?.status === 'True';
}

function refusal(name: string | undefined, text: string): StatusError {
  return conflict('virtualmachineinstance', name ?? '', text).error;
}
