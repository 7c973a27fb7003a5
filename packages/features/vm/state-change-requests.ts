import {
  isAlive,
  isDeleting,
  isFinal,
  type RunStrategy,
  type StateChangeRequest,
  type VirtualMachineInstance,
} from './virtual-machine.ts';

interface Present {
  readonly instance: VirtualMachineInstance | undefined;
  readonly strategy: RunStrategy;
}

/** The requests that are still to be done. One is done when the world shows it: nothing hangs on who did it, or when. */
export function pendingRequests(
  requests: readonly StateChangeRequest[] | undefined,
  present: Present,
): readonly StateChangeRequest[] {
  const [first, ...rest] = requests ?? [];
  if (!first) return [];
  return isDone(first, present) ? pendingRequests(rest, present) : [first, ...rest];
}

function isDone({ action, uid }: StateChangeRequest, { instance, strategy }: Present): boolean {
  // A stop means one instance; with another or none, that one has been stopped.
  if (action === 'Stop') return instance === undefined || uid !== instance.metadata.uid;
  return isAlive(instance) || hasEndedAtOnce(instance, strategy);
}

/**
 * An instance that stays when it has ended, while a start is the first request: it is the one that was asked for, and was over
 * before anybody saw it alive. A start beside one that had ended before asks for its end first.
 */
function hasEndedAtOnce(instance: VirtualMachineInstance | undefined, strategy: RunStrategy): boolean {
  return (strategy === 'Manual' || strategy === 'Once') && isFinal(instance) && !isDeleting(instance);
}

export function isStopRequested(
  [first]: readonly StateChangeRequest[],
  instance: VirtualMachineInstance,
): boolean {
  return first?.action === 'Stop' && first.uid === instance.metadata.uid;
}

export function isStartRequested([first]: readonly StateChangeRequest[]): boolean {
  return first?.action === 'Start';
}

export function isPausedStartRequested([first]: readonly StateChangeRequest[]): boolean {
  return first?.action === 'Start' && first.data?.paused === 'true';
}

/**
 * With the start that a failure asks for under `RerunOnFailure`. It is recorded before the failed instance is removed, so that a
 * crash between the two loses nothing. A user who has asked for a stop gets it.
 */
export function withRerun(
  requests: readonly StateChangeRequest[],
  strategy: RunStrategy,
  instance: VirtualMachineInstance | undefined,
): readonly StateChangeRequest[] {
  if (strategy !== 'RerunOnFailure' || instance?.status?.phase !== 'Failed') return requests;
  const isWanted = !isDeleting(instance) && !isStopRequested(requests, instance);
  return isWanted && !isStartRequested(requests) ? [...requests, { action: 'Start' }] : requests;
}
