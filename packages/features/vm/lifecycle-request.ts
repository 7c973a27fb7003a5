import { conflict, malformed, type Refused } from './lifecycle-refusal.ts';
import { isStopRequested, pendingRequests } from './state-change-requests.ts';
import {
  isFinal,
  type RunStrategy,
  runStrategyOf,
  type StateChangeRequest,
  type VirtualMachine,
  type VirtualMachineInstance,
} from './virtual-machine.ts';

/** One write of an accepted request; made under the resource version of the object that it was decided on. */
export type LifecycleWrite =
  | { readonly target: 'machine'; readonly object: VirtualMachine }
  | { readonly target: 'machine-status'; readonly object: VirtualMachine }
  | { readonly target: 'instance'; readonly object: VirtualMachineInstance };

export interface Accepted {
  readonly isAccepted: true;
  /** In this order; what is done of them when one fails is no half of a thing, only less of a hurry. */
  readonly writes: readonly LifecycleWrite[];
}

/** 202, or the error that the client gets. */
export type LifecycleAnswer = Accepted | Refused;

export interface LifecycleTarget {
  readonly machine: VirtualMachine;
  readonly instance: VirtualMachineInstance | undefined;
}

/** `PUT …/virtualmachines/NAME/start`. */
export function requestStart(
  target: LifecycleTarget,
  options: { readonly paused?: boolean },
): LifecycleAnswer {
  const { machine, instance } = target;
  if (isActive(instance)) return refusal(machine, 'VM is already running; nothing is to be done');
  const start: StateChangeRequest =
    options.paused === true ? { action: 'Start', data: { paused: 'true' } } : { action: 'Start' };
  const strategy = runStrategyOf(machine.spec);
  switch (strategy) {
    case 'Halted':
      // The strategy changes with the request, so that the start is a paused one.
      return options.paused === true ? withRequests(target, [start]) : accepted(withRunning(machine, true));
    case 'Manual':
    case 'RerunOnFailure':
      return requestManualStart(target, strategy, start);
    case 'Always':
    case 'Once':
    case 'WaitAsReceiver':
      return refusal(
        machine,
        `${strategy} does not support manual start requests; it starts by itself, see its conditions for what it waits for`,
      );
  }
}

function requestManualStart(
  target: LifecycleTarget,
  strategy: RunStrategy,
  start: StateChangeRequest,
): LifecycleAnswer {
  const { machine, instance } = target;
  if (!instance || !isFinal(instance)) return withRequests(target, [start]);
  const hasFailed = instance.status?.phase === 'Failed' && !isStopRequested(requestsOf(machine), instance);
  if (strategy === 'RerunOnFailure' && hasFailed)
    return refusal(
      machine,
      `${strategy} does not support starting VM from failed state; it is being started again by itself`,
    );
  return withRequests(target, [stopOf(instance), start]);
}

/** `PUT …/virtualmachines/NAME/stop`. */
export function requestStop(
  { machine, instance }: LifecycleTarget,
  { gracePeriod }: { readonly gracePeriod?: number },
): LifecycleAnswer {
  if (gracePeriod !== undefined && gracePeriod < 0) return negativeGrace();
  const running = isFinal(instance) ? undefined : instance;
  const haste = hasteOf(running, gracePeriod);
  const strategy = runStrategyOf(machine.spec);
  if (stopsBySpec.has(strategy)) return accepted(...haste, withRunning(machine, false));
  if (!running) return refusal(machine, 'VM is not running; nothing is to be stopped');
  if (strategy === 'Halted' && !isShorter(gracePeriod, running))
    return refusal(
      machine,
      'Halted only supports manual stop requests with a shorter graceperiod; it is shutting down already',
    );
  return prepended(haste, withRequests({ machine, instance }, [stopOf(running)]));
}

/** Strategies under which a stop has to change the strategy, or it would start again. */
const stopsBySpec: ReadonlySet<RunStrategy> = new Set(['Always', 'Once', 'WaitAsReceiver']);

function negativeGrace(): Refused {
  return malformed('gracePeriod has to be greater or equal to 0; 0 ends it at once');
}

function hasteOf(
  running: VirtualMachineInstance | undefined,
  gracePeriod: number | undefined,
): readonly LifecycleWrite[] {
  return running && gracePeriod !== undefined ? [withGrace(running, gracePeriod)] : [];
}

function stopOf({ metadata }: VirtualMachineInstance): StateChangeRequest {
  return { action: 'Stop', uid: metadata.uid ?? '' };
}

function isShorter(gracePeriod: number | undefined, { spec }: VirtualMachineInstance): boolean {
  const current = spec.terminationGracePeriodSeconds;
  return gracePeriod !== undefined && (current === undefined || gracePeriod < current);
}

/** `PUT …/virtualmachines/NAME/restart`. */
export function requestRestart(
  { machine, instance }: LifecycleTarget,
  { gracePeriodSeconds }: { readonly gracePeriodSeconds?: number },
): LifecycleAnswer {
  const misuse = graceMisuseOf(gracePeriodSeconds);
  if (misuse) return misuse;
  const strategy = runStrategyOf(machine.spec);
  if (strategy === 'Halted' || strategy === 'Once')
    return refusal(
      machine,
      `RunStategy ${strategy} does not support manual restart requests; stop it and choose another run strategy`,
    );
  if (!instance) return refusal(machine, 'VM is not running: Halted; start it instead');
  const haste = gracePeriodSeconds === 0 && !isFinal(instance) ? [withGrace(instance, 0)] : [];
  return prepended(haste, withRequests({ machine, instance }, [stopOf(instance), { action: 'Start' }]));
}

function graceMisuseOf(seconds: number | undefined): Refused | undefined {
  if (seconds === undefined || seconds === 0) return undefined;
  if (seconds < 0) return negativeGrace();
  return malformed(
    'For force restart, only gracePeriod=0 is supported for now; leave it out to shut down gracefully',
  );
}

function isActive(instance: VirtualMachineInstance | undefined): boolean {
  return instance?.status?.phase !== undefined && !isFinal(instance);
}

/** A second request has to wait for the first; a stop alone takes the place of all others. */
function withRequests(target: LifecycleTarget, requests: readonly StateChangeRequest[]): LifecycleAnswer {
  const { machine } = target;
  const isLoneStop = requests.length === 1 && requests[0]?.action === 'Stop';
  if (unfinished(target).length > 0 && !isLoneStop)
    return refusal(
      machine,
      'unable to complete request: stop/start already underway; wait until it is done, or stop the machine',
    );
  const status = { ...machine.status, stateChangeRequests: requests, startFailure: undefined };
  return accepted({ target: 'machine-status', object: { ...machine, status } });
}

/** What is still to be done of what was asked for. An instance that has ended is stopped, although its record is there yet. */
function unfinished({ machine, instance }: LifecycleTarget): readonly StateChangeRequest[] {
  const present = { instance, strategy: runStrategyOf(machine.spec) };
  const pending = pendingRequests(requestsOf(machine), present);
  const isStopped = instance !== undefined && isFinal(instance) && isStopRequested(pending, instance);
  return isStopped ? pending.slice(1) : pending;
}

function requestsOf({ status }: VirtualMachine): readonly StateChangeRequest[] {
  return status?.stateChangeRequests ?? [];
}

function withRunning(machine: VirtualMachine, running: boolean): LifecycleWrite {
  const wanted =
    machine.spec.runStrategy === undefined
      ? { running }
      : { runStrategy: running ? ('Always' as const) : ('Halted' as const) };
  return { target: 'machine', object: { ...machine, spec: { ...machine.spec, ...wanted } } };
}

function withGrace(instance: VirtualMachineInstance, seconds: number): LifecycleWrite {
  const spec = { ...instance.spec, terminationGracePeriodSeconds: seconds };
  return { target: 'instance', object: { ...instance, spec } };
}

function accepted(...writes: readonly LifecycleWrite[]): Accepted {
  return { isAccepted: true, writes };
}

function prepended(writes: readonly LifecycleWrite[], answer: LifecycleAnswer): LifecycleAnswer {
  return answer.isAccepted ? accepted(...writes, ...answer.writes) : answer;
}

function refusal(machine: VirtualMachine, text: string): Refused {
  return conflict('virtualmachine', machine.metadata.name ?? '', text);
}
