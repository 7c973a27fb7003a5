import { type Condition, findCondition } from '@sheaf/api';
import { toError } from '@sheaf/base';
import type { EventRecorder, RecordedEvent } from '@sheaf/runtime';
import type { InstanceStep } from './instance-plan.ts';
import type { MachineStep } from './plan.ts';
import {
  hasEverRun,
  type InstanceStatus,
  isDeleting,
  type VirtualMachine,
  type VirtualMachineInstance,
  type VirtualMachineStatus,
} from './virtual-machine.ts';
import { instanceResource, machineResource } from './vm-resources.ts';

type Told = Omit<RecordedEvent, 'about'>;

/** Where KubeVirt and Kubernetes have a name for it. */
const knownReasons: Readonly<Record<string, string>> = {
  Unschedulable: 'FailedScheduling',
  StepFailed: 'SyncFailed',
};
/** Waits that nobody needs to be told of: they are over in moments, or are shown as progress. */
const quietReasons: ReadonlySet<string> = new Set(['StartQueued', 'VolumePreparing', 'VolumeBusy']);

export interface InstanceChange {
  readonly before: VirtualMachineInstance;
  readonly status: InstanceStatus;
  readonly step: InstanceStep;
}

/**
 * What happened to an instance, from what its status says now and did not say before: told once, by whoever wrote the status, and
 * not again by a process that starts later.
 */
export function eventsOfInstance(change: InstanceChange): readonly Told[] {
  return [...phaseEvents(change), ...shutdownEvents(change), ...waitEvents(change)];
}

function phaseEvents({ before, status }: InstanceChange): readonly Told[] {
  const next = { ...before, status };
  return [...(hasEverRun(next) && !hasEverRun(before) ? startEvents : []), ...endEvents(before, next)];
}

const startEvents: readonly Told[] = [
  { type: 'Normal', reason: 'Created', message: 'VirtualMachineInstance defined.' },
  { type: 'Normal', reason: 'Started', message: 'VirtualMachineInstance started.' },
];

function endEvents(before: VirtualMachineInstance, next: VirtualMachineInstance): readonly Told[] {
  const phase = next.status?.phase;
  if (phase === before.status?.phase) return [];
  if (phase === 'Failed') return failureEvents(next);
  if (phase !== 'Succeeded') return [];
  return [{ type: 'Normal', reason: 'Stopped', message: 'The VirtualMachineInstance was shut down.' }];
}

function failureEvents(instance: VirtualMachineInstance): readonly Told[] {
  const { message = '' } = findCondition(instance.status?.conditions, 'Ready') ?? {};
  const cause: Told = { type: 'Warning', reason: 'SyncFailed', message };
  const crash: Told = {
    type: 'Warning',
    reason: 'Stopped',
    message: 'The VirtualMachineInstance crashed.',
  };
  if (hasEverRun(instance)) return [cause, crash];
  // One that was taken back before it ran has not failed at anything.
  return isDeleting(instance) ? [] : [cause];
}

function shutdownEvents({ before, status, step }: InstanceChange): readonly Told[] {
  const isAsked = step.action === 'press-power-button' || step.action === 'resume';
  const isTold = reasonOf(before.status, 'Ready') === 'PodTerminating';
  if (!isAsked || isTold || reasonOf(status, 'Ready') !== 'PodTerminating') return [];
  return [{ type: 'Normal', reason: 'ShuttingDown', message: 'Signaled Graceful Shutdown' }];
}

/** What says that something is waited for, and how. */
const waits = { Synchronized: 'False', HotVCPUChange: 'True', HotMemoryChange: 'True' };

function waitEvents({ before, status }: InstanceChange): readonly Told[] {
  return Object.entries(waits).flatMap(([type, value]): readonly Told[] => {
    const waiting = findCondition(status.conditions, type);
    if (waiting?.status !== value || waiting.reason === reasonOf(before.status, type)) return [];
    const { reason = '', message = '' } = waiting;
    if (quietReasons.has(reason)) return [];
    return [{ type: 'Warning', reason: knownReasons[reason] ?? reason, message }];
  });
}

function reasonOf(
  status: { readonly conditions?: readonly Condition[] | undefined } | undefined,
  type: string,
) {
  return findCondition(status?.conditions, type)?.reason;
}

/** What was done to the process of an instance. */
export function eventsOfInstanceStep({ action }: InstanceStep): readonly Told[] {
  return action === 'end' ? [{ type: 'Normal', reason: 'Deleted', message: 'Signaled Deletion' }] : [];
}

/** Why a machine cannot be had as it is written, when that is new. */
export function eventsOfMachine(before: VirtualMachine, status: VirtualMachineStatus): readonly Told[] {
  const failure = findCondition(status.conditions, 'Failure');
  if (failure?.status !== 'True' || failure.reason === reasonOf(before.status, 'Failure')) return [];
  return [{ type: 'Warning', reason: failure.reason ?? '', message: failure.message ?? '' }];
}

/** What came of a step that makes or removes an instance; `error`: it could not be taken. */
export function eventsOfMachineStep(
  step: MachineStep,
  machine: VirtualMachine,
  error?: unknown,
): readonly Told[] {
  const text = error === undefined ? undefined : toError(error).message;
  const { name = '' } = machine.metadata;
  switch (step.action) {
    case 'create-instance':
      return [
        outcome(
          'Create',
          `Started the virtual machine by creating the new virtual machine instance ${name}`,
          text && `Error creating virtual machine instance: ${text}`,
        ),
      ];
    case 'delete-instance':
      return [
        outcome(
          'Delete',
          `Stopped the virtual machine by deleting the virtual machine instance ${step.uid}`,
          text && `Error deleting virtual machine instance ${name}: ${text}`,
        ),
      ];
    default:
      return [];
  }
}

function outcome(what: 'Create' | 'Delete', success: string, failure: string | undefined): Told {
  return failure === undefined
    ? { type: 'Normal', reason: `Successful${what}`, message: success }
    : { type: 'Warning', reason: `Failed${what}`, message: failure };
}

/** Writes them down; never fails and is never waited for. */
export function tell(
  recorder: Pick<EventRecorder, 'record'>,
  object: VirtualMachine | VirtualMachineInstance,
  events: readonly Told[],
): void {
  const { namespace = '', name = '', uid = '' } = object.metadata;
  const resource = 'template' in object.spec ? machineResource : instanceResource;
  for (const event of events) recorder.record({ about: { resource, namespace, name, uid }, ...event });
}
