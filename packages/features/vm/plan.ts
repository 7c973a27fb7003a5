import { type KubeObject, timestampOf, type Waiting } from '@sheaf/api';
import { type JsonObject, jsonEqual } from '@sheaf/base';
import { typeRefsOf } from './instance-types/expand-machine.ts';
import type { LiveAbilities } from './live-size.ts';
import { type LiveUpdate, planLiveUpdate } from './live-update.ts';
import { planMachineConditions } from './machine-conditions.ts';
import { withMemoryGiven } from './memory-start.ts';
import { newInstance, newRevision } from './new-instance.ts';
import { printableStatusOf } from './printable-status.ts';
import { backOffLeftMs, planStartFailure } from './start-failure.ts';
import { isStartRequested, isStopRequested, pendingRequests, withRerun } from './state-change-requests.ts';
import {
  generationAnnotation,
  type InstanceTemplate,
  isAlive,
  isControlledBy,
  isDeleting,
  isFinal,
  machineFinalizer,
  madeUnderAnnotation,
  type RunStrategy,
  runStrategyOf,
  type StartFailure,
  type StateChangeRequest,
  type VirtualMachine,
  type VirtualMachineInstance,
  type VirtualMachineSpec,
  type VirtualMachineStatus,
} from './virtual-machine.ts';
import type { ClaimFacts } from './volume-facts.ts';
import { pendingVolumeRequests, withVolumeRequests } from './volume-request.ts';

/** Everything that decides about one virtual machine; read anew for each pass. */
export interface MachineFacts {
  readonly machine: VirtualMachine;
  /** The instance of its name, whoever made it. */
  readonly instance: VirtualMachineInstance | undefined;
  /** What the machine was like when its newest instance was made, with the types of then as they are now. */
  readonly startedSpec: VirtualMachineSpec | undefined;
  readonly claims: ClaimFacts;
  readonly abilities: LiveAbilities;
  /** Its template with its instance type and preference; absent: it has none of them. */
  readonly expansion?: TemplateExpansion | undefined;
  /** Why a volume that it brings along cannot be had. */
  readonly volumeFault: Waiting | undefined;
  readonly nowMs: number;
  /** From 0 to below 1. */
  readonly jitter: number;
}

export type TemplateExpansion = { readonly template: InstanceTemplate } | { readonly waiting: Waiting };

export type MachineStep =
  | { readonly action: 'none' }
  | { readonly action: 'update-machine'; readonly machine: VirtualMachine }
  | {
      readonly action: 'create-instance';
      readonly instance: VirtualMachineInstance;
      readonly revision: KubeObject;
    }
  | { readonly action: 'delete-instance'; readonly uid: string; readonly isHasty?: boolean }
  | { readonly action: 'update-instance'; readonly instance: VirtualMachineInstance };

/**
 * The status is written first, then the step is taken: what the status records is never lost with what the step removes. Both
 * may be done again, and by a process that knows nothing of this one.
 */
export interface MachinePlan {
  readonly status: VirtualMachineStatus;
  readonly step: MachineStep;
  /** When to look again although nothing has changed. */
  readonly recheckMs: number | undefined;
}

interface View {
  readonly facts: MachineFacts;
  readonly machine: VirtualMachine;
  readonly strategy: RunStrategy;
  /** Its own instance. */
  readonly instance: VirtualMachineInstance | undefined;
  readonly requests: readonly StateChangeRequest[];
  readonly startFailure: StartFailure | undefined;
  readonly backOffMs: number;
  readonly live: LiveUpdate | undefined;
  readonly fault: Waiting | undefined;
}

const none: MachineStep = { action: 'none' };
/** What stands against a volume may be mended without a word to the machine. */
const volumeRetryMs = 10_000;

/** The next step of a virtual machine towards what its run strategy wants, and what its status is to say. */
export function planVirtualMachine(facts: MachineFacts): MachinePlan {
  const view = viewOf(facts);
  const step = planStep(view);
  return { step, status: planStatus(view, step), recheckMs: recheckOf(view) };
}

function recheckOf({ backOffMs, facts }: View): number | undefined {
  if (backOffMs > 0) return backOffMs;
  return facts.volumeFault || typeFaultOf(facts) ? volumeRetryMs : undefined;
}

function viewOf(facts: MachineFacts): View {
  const { machine, nowMs, jitter } = facts;
  const strategy = runStrategyOf(machine.spec);
  const instance = facts.instance && isControlledBy(facts.instance, machine) ? facts.instance : undefined;
  const pending = pendingRequests(machine.status?.stateChangeRequests, { instance, strategy });
  const startFailure = planStartFailure(machine.status?.startFailure, { strategy, instance, nowMs, jitter });
  return {
    facts,
    machine,
    strategy,
    instance,
    requests: withRerun(pending, strategy, instance),
    startFailure,
    backOffMs: instance ? 0 : backOffLeftMs(startFailure, nowMs),
    live: liveUpdateOf(facts, instance),
    fault: faultOf(facts, instance),
  };
}

function typeFaultOf({ expansion }: MachineFacts): Waiting | undefined {
  return expansion && 'waiting' in expansion ? expansion.waiting : undefined;
}

/** The machine as it is to run. */
function expandedOf({ machine, expansion }: MachineFacts): VirtualMachine {
  if (!expansion || !('template' in expansion)) return machine;
  return { ...machine, spec: { ...machine.spec, template: expansion.template } };
}

function liveUpdateOf(
  facts: MachineFacts,
  instance: VirtualMachineInstance | undefined,
): LiveUpdate | undefined {
  const { startedSpec, abilities } = facts;
  if (!instance || !startedSpec || !isAlive(instance) || typeFaultOf(facts)) return undefined;
  const change = {
    started: startedSpec.template.spec,
    wanted: expandedOf(facts).spec.template.spec,
    instance: instance.spec,
    seen: {
      sockets: instance.status?.currentCPUTopology?.sockets,
      guest: instance.status?.memory?.guestCurrent,
    },
  };
  return planLiveUpdate(change, abilities);
}

function faultOf(facts: MachineFacts, instance: VirtualMachineInstance | undefined): Waiting | undefined {
  const { machine, instance: found, volumeFault } = facts;
  const { namespace = '', name = '' } = machine.metadata;
  if (found && !instance)
    return {
      reason: 'InstanceNotControlled',
      text: 'An instance of this name belongs to something else',
      nature: isDeleting(found) ? 'transient' : 'fault',
      wayOut: 'delete that instance, or give the virtual machine another name',
      object: { kind: 'VirtualMachineInstance', namespace, name },
    };
  if (runStrategyOf(machine.spec) !== 'WaitAsReceiver') return typeFaultOf(facts) ?? volumeFault;
  return {
    reason: 'MigrationTargetUnsupported',
    text: 'No virtual machine can be received from another cluster here',
    nature: 'fault',
    wayOut: 'choose another run strategy, such as RerunOnFailure',
  };
}

function planStep(view: View): MachineStep {
  const { machine, instance, facts } = view;
  if (isDeleting(machine)) return planDeletion(view);
  if (!machine.metadata.finalizers?.includes(machineFinalizer))
    return { action: 'update-machine', machine: withFinalizer(machine) };
  if (facts.instance && !instance) return none;
  const step = planByStrategy(view);
  return step.action === 'none' ? planUpkeep(view) : step;
}

function planDeletion({ machine, instance }: View): MachineStep {
  const isOrphaning = machine.metadata.finalizers?.includes('orphan') === true;
  if (instance && !isOrphaning) return isHasty(machine) ? removalInHaste(instance) : removalOf(instance);
  const finalizers = (machine.metadata.finalizers ?? []).filter((name) => name !== machineFinalizer);
  if (finalizers.length === machine.metadata.finalizers?.length) return none;
  return { action: 'update-machine', machine: { ...machine, metadata: { ...machine.metadata, finalizers } } };
}

/** It is deleted with a grace of 0. */
function isHasty({ metadata }: KubeObject): boolean {
  return metadata.deletionGracePeriodSeconds === 0;
}

/** One that is shutting down already is told that there is no time for it any more. */
function removalInHaste(instance: VirtualMachineInstance): MachineStep {
  if (isFinal(instance) || isHasty(instance)) return removalOf(instance);
  return { action: 'delete-instance', uid: instance.metadata.uid ?? '', isHasty: true };
}

interface Wishes {
  readonly isStartRequested: boolean;
  readonly isStopRequested: boolean;
  /** The strategy has had what it wants when it is taken up. */
  readonly isCarriedOut: boolean;
  readonly isFinal: boolean;
}

/** Whether a strategy wants an instance where there is none. */
const wantsStart: Readonly<Record<RunStrategy, (wishes: Wishes) => boolean>> = {
  Always: () => true,
  RerunOnFailure: ({ isStartRequested, isCarriedOut }) => isStartRequested || !isCarriedOut,
  Once: ({ isStartRequested, isCarriedOut }) => isStartRequested || !isCarriedOut,
  Manual: ({ isStartRequested }) => isStartRequested,
  Halted: ({ isStartRequested }) => isStartRequested,
  WaitAsReceiver: () => false,
};

/** Whether a strategy wants the instance that is there to go. */
const wantsEnd: Readonly<Record<RunStrategy, (wishes: Wishes) => boolean>> = {
  Always: ({ isStopRequested, isFinal }) => isStopRequested || isFinal,
  RerunOnFailure: ({ isStopRequested, isFinal }) => isStopRequested || isFinal,
  // Asked for under another strategy, and promised then.
  Once: ({ isStopRequested }) => isStopRequested,
  Manual: ({ isStopRequested }) => isStopRequested,
  Halted: () => true,
  WaitAsReceiver: () => false,
};

function wishesOf({ machine, instance, requests, strategy }: View): Wishes {
  return {
    isStartRequested: isStartRequested(requests),
    isStopRequested: instance !== undefined && isStopRequested(requests, instance),
    isCarriedOut: machine.status?.runStrategy === strategy,
    isFinal: isFinal(instance),
  };
}

function removalOf(instance: VirtualMachineInstance): MachineStep {
  return isFinal(instance) && isDeleting(instance) ? released(instance) : deleted(instance);
}

function planByStrategy(view: View): MachineStep {
  const { strategy, instance, machine } = view;
  const wishes = wishesOf(view);
  if (instance) return wantsEnd[strategy](wishes) ? deleted(instance) : none;
  if (!wantsStart[strategy](wishes)) return none;
  // A start under Halted is a change of strategy.
  if (strategy === 'Halted') return { action: 'update-machine', machine: withStart(machine) };
  return planStart(view);
}

function planStart({ facts, machine, requests, backOffMs }: View): MachineStep {
  if (backOffMs > 0 || typeFaultOf(facts)) return none;
  return {
    action: 'create-instance',
    instance: newInstance(expandedOf(facts), requests),
    revision: newRevision(machine),
  };
}

/** What is done when the run strategy wants nothing: records are closed, and changes carried to the running instance. */
function planUpkeep(view: View): MachineStep {
  const { machine, instance, live } = view;
  if (instance && isFinal(instance)) return released(instance);
  const changed = withMemoryGiven(machine, instance) ?? withVolumeRequests(machine);
  if (changed) return { action: 'update-machine', machine: changed };
  if (!instance || !live) return none;
  return planInstanceUpdate(machine, instance, live);
}

function planInstanceUpdate(
  machine: VirtualMachine,
  instance: VirtualMachineInstance,
  { spec, restartFields }: LiveUpdate,
): MachineStep {
  const { annotations = {} } = instance.metadata;
  const generation = String(machine.metadata.generation ?? 1);
  const nextGeneration =
    restartFields.length > 0 ? (annotations[generationAnnotation] ?? generation) : generation;
  const isSame =
    annotations[generationAnnotation] === nextGeneration &&
    jsonEqual(instance.spec as unknown as JsonObject, spec as unknown as JsonObject);
  if (isSame) return none;
  const metadata = {
    ...instance.metadata,
    annotations: { ...annotations, [generationAnnotation]: nextGeneration },
  };
  return { action: 'update-instance', instance: { ...instance, metadata, spec } };
}

/** Its end is recorded by now: nothing holds it any more. */
function released(instance: VirtualMachineInstance): MachineStep {
  const { finalizers = [] } = instance.metadata;
  if (!finalizers.includes(machineFinalizer)) return none;
  const metadata = {
    ...instance.metadata,
    finalizers: finalizers.filter((name) => name !== machineFinalizer),
  };
  return { action: 'update-instance', instance: { ...instance, metadata } };
}

function deleted(instance: VirtualMachineInstance): MachineStep {
  return isDeleting(instance) ? none : { action: 'delete-instance', uid: instance.metadata.uid ?? '' };
}

function withFinalizer(machine: VirtualMachine): VirtualMachine {
  const finalizers = [...(machine.metadata.finalizers ?? []), machineFinalizer];
  return { ...machine, metadata: { ...machine.metadata, finalizers } };
}

function withStart(machine: VirtualMachine): VirtualMachine {
  const { runStrategy } = machine.spec;
  const wanted = runStrategy === undefined ? { running: true } : { runStrategy: 'Always' as const };
  return { ...machine, spec: { ...machine.spec, ...wanted } };
}

function planStatus(view: View, step: MachineStep): VirtualMachineStatus {
  const { machine, instance, strategy, requests, startFailure, facts } = view;
  const old = machine.status ?? {};
  const volumeRequests = pendingVolumeRequests(machine);
  const now = timestampOf({ now: () => facts.nowMs });
  const conditions = planMachineConditions(old.conditions ?? [], {
    instance,
    fault: view.fault,
    isChanging: step.action === 'update-machine',
    restartRequired: restartTextOf(view),
    now,
  });
  return {
    ...old,
    created: instance !== undefined,
    ready: conditions.some(({ type, status }) => type === 'Ready' && status === 'True'),
    printableStatus: printableStatusOf({
      machine,
      instance,
      strategy,
      claims: facts.claims,
      startFailure,
      isStarting: step.action === 'create-instance',
      isStopping: step.action === 'delete-instance',
    }),
    conditions,
    stateChangeRequests: requests.length > 0 ? requests : undefined,
    volumeRequests: volumeRequests.length > 0 ? volumeRequests : undefined,
    startFailure,
    runStrategy: planCarriedOut(view),
    ...generationsOf(view),
    ...typeRefsOf(machine),
  };
}

/**
 * A strategy that wants a start when it is taken up is carried out only by an instance that runs, or one that was made under it:
 * if the start has to wait, for whatever reason and however long, the difference to the spec stays and it comes later.
 */
function planCarriedOut(view: View): RunStrategy | undefined {
  const { machine, instance, strategy } = view;
  const old = machine.status?.runStrategy;
  if (strategy === 'RerunOnFailure' || strategy === 'Once')
    return isAlive(instance) || hasCarriedOut(view) ? strategy : old;
  return old !== undefined || instance !== undefined ? strategy : undefined;
}

function hasCarriedOut({ machine, instance, strategy }: View): boolean {
  // One that Halted has ended was made before: whoever starts the machine now means another one.
  const isOfBefore = machine.status?.runStrategy === 'Halted' && isDeleting(instance);
  return !isOfBefore && instance?.metadata.annotations?.[madeUnderAnnotation] === strategy;
}

function generationsOf({ machine, instance }: View): Partial<VirtualMachineStatus> {
  const generation = instance?.metadata.annotations?.[generationAnnotation];
  if (generation === undefined) return {};
  return { observedGeneration: Number(generation), desiredGeneration: machine.metadata.generation ?? 1 };
}

function restartTextOf({ live }: View): string | undefined {
  if (!live || live.restartFields.length === 0) return undefined;
  const fields = live.restartFields.map((field) => `spec.${field}`).join(', ');
  return `a non-live-updatable field was changed in the template spec: ${fields}; restart the machine to apply it`;
}
