import type { VirtualMachine, VirtualMachineInstance } from '@sheaf/api/virtualization/index';

/**
 * True if nothing of the machine runs, and nothing will without a change of the machine itself: then its disks can be replaced in one
 * write, which fails if it has been started meanwhile.
 */
export function isOff(machine: VirtualMachine, instance: VirtualMachineInstance | undefined): boolean {
  const { spec, status } = machine;
  if (instance && !isFinal(instance)) return false;
  if ((status?.stateChangeRequests ?? []).length > 0) return false;
  const strategy = spec.runStrategy ?? (spec.running === true ? 'Always' : 'Halted');
  return strategy === 'Halted' || hasStopped(machine, strategy, instance !== undefined);
}

/** By itself, once its strategy has been carried out. One that has failed is about to run again. */
function hasStopped({ status }: VirtualMachine, strategy: string, hasInstance: boolean): boolean {
  const runsAgain = strategy === 'Always' || (strategy === 'RerunOnFailure' && hasInstance);
  return !runsAgain && status?.runStrategy === strategy && status.printableStatus === 'Stopped';
}

function isFinal({ status }: VirtualMachineInstance): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}
