import type { MachineEnd } from '@sheaf/ports';
import type { InstanceSpec } from './instance-spec.ts';
import type { VirtualMachineInstance } from './virtual-machine.ts';

/** Where nothing is said, a guest has this long to shut down. */
export const defaultGraceSeconds = 30;

export interface FinalPhase {
  readonly phase: 'Succeeded' | 'Failed';
  readonly reason: string;
  readonly message: string;
  /** The guest must have run, even if nobody saw it. */
  readonly hasRun: boolean;
}

/** What the end of a process means for its instance. */
export function finalPhaseOf(end: MachineEnd | undefined, spec: InstanceSpec): FinalPhase {
  if (!end) return failed('ProcessLost', 'the process has ended and left no cause');
  switch (end.cause) {
    case 'guest-shutdown':
      return {
        phase: 'Succeeded',
        reason: 'GuestShutdown',
        message: 'the guest has shut down',
        hasRun: true,
      };
    case 'guest-panicked':
      return { ...failed('GuestPanicked', `the guest has crashed: ${end.message}`), hasRun: true };
    case 'stopped':
      return stopped(spec);
    case 'process-died':
      return failed('ProcessDied', `the process of the machine has died: ${end.message}`);
    case 'host-restarted':
      return { ...failed('HostRestarted', 'the host was restarted'), hasRun: true };
    case 'start-failed':
      return failed('StartFailed', `the machine could not be started: ${end.message}`);
  }
}

/** A guest that could have shut down by itself, but did not in its time, has failed; one that was not to be asked has not. */
function stopped(spec: InstanceSpec): FinalPhase {
  const wasAsked = graceSecondsOf(spec) > 0 && hasPowerButton(spec);
  if (wasAsked) return failed('Killed', 'the guest did not shut down in time and was ended');
  return {
    phase: 'Succeeded',
    reason: 'Stopped',
    message: 'the machine was ended on request',
    hasRun: false,
  };
}

function failed(reason: string, message: string): FinalPhase {
  return { phase: 'Failed', reason, message, hasRun: false };
}

export function graceSecondsOf({ terminationGracePeriodSeconds }: InstanceSpec): number {
  return terminationGracePeriodSeconds ?? defaultGraceSeconds;
}

/** The spec as it is in force: whoever deletes an instance with a grace of 0 wants it ended at once. */
export function inHaste({ metadata, spec }: VirtualMachineInstance): InstanceSpec {
  return metadata.deletionGracePeriodSeconds === 0 ? { ...spec, terminationGracePeriodSeconds: 0 } : spec;
}

export function hasPowerButton({ domain }: InstanceSpec): boolean {
  return domain.features?.acpi?.enabled !== false;
}
