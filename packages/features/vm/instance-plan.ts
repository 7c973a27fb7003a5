import { timestampOf, type Waiting } from '@sheaf/api';
import type { Capability, MachineObservation, MachineSpec } from '@sheaf/ports';
import { type DeviceStep, planDevices } from './device-changes.ts';
import type { GuestReport } from './guest-report.ts';
import { planInstanceStatus } from './instance-status.ts';
import { type FinalPhase, finalPhaseOf, graceSecondsOf, hasPowerButton, inHaste } from './machine-end.ts';
import type { GrowthObstacles } from './node-room.ts';
import { keepStepFailure } from './step-failure.ts';
import {
  type InstancePhase,
  type InstanceStatus,
  isDeleting,
  isFinal,
  machineFinalizer,
  processFinalizer,
  type VirtualMachineInstance,
} from './virtual-machine.ts';

/** What a machine is to be made of, or why that cannot be said yet. */
export type Preparation =
  | { readonly state: 'ready'; readonly spec: MachineSpec; readonly warnings: readonly string[] }
  | { readonly state: 'waiting'; readonly waiting: Waiting };

/** Everything that decides about one instance; read anew for each pass. */
export interface InstanceFacts {
  readonly instance: VirtualMachineInstance;
  /** False: the virtual machine that made it is gone, so nobody else lets go of it. */
  readonly hasOwner: boolean;
  readonly observation: MachineObservation | undefined;
  readonly preparation: Preparation;
  readonly nodeName: string;
  /** Why this node has no room for it, or no time to start it. */
  readonly obstacle: Waiting | undefined;
  /** Why this node has no room for it to grow; without: it has. */
  readonly growth?: GrowthObstacles;
  readonly guest: GuestReport | undefined;
  readonly liveMigration: Capability;
  readonly nowMs: number;
}

export type InstanceStep =
  | { readonly action: 'none' }
  | { readonly action: 'start'; readonly spec: MachineSpec }
  | { readonly action: 'resume' }
  | { readonly action: 'press-power-button' }
  | { readonly action: 'end' }
  | { readonly action: 'forget' }
  /** Nothing of it is left on the host. */
  | { readonly action: 'release'; readonly finalizers: readonly string[] }
  | DeviceStep;

/** As with machines: the status is written first, then the step is taken, and both may be done again. */
export interface InstancePlan {
  readonly status: InstanceStatus;
  readonly step: InstanceStep;
  readonly recheckMs: number | undefined;
}

/** What a pass finds out about an instance before it decides. */
export interface InstanceView {
  readonly facts: InstanceFacts;
  readonly phase: InstancePhase;
  readonly final: FinalPhase | undefined;
  readonly waiting: Waiting | undefined;
  readonly now: string;
}

const none: InstanceStep = { action: 'none' };
const waitMs = 10_000;
/** How often a guest that is to shut down is asked: some do not listen while they boot. */
const askAgainMs = 10_000;
const startingMs = 1_000;
/** A place in the queue is free as soon as another start is over. */
const queuedMs = 1_000;
/** A new instance that waits for its turn no longer than this is not said to wait: that it starts is said in a moment. */
const quietQueueMs = 2_000;

/** The next step of an instance towards its process, and what its status is to say. */
export function planInstance(facts: InstanceFacts): InstancePlan {
  if (isElsewhere(facts)) return { status: facts.instance.status ?? {}, step: none, recheckMs: undefined };
  if (isBrieflyQueued(facts)) return { status: facts.instance.status ?? {}, step: none, recheckMs: queuedMs };
  const view = viewOf(facts);
  const step = planStep(view);
  const status = keepStepFailure(planInstanceStatus(view), facts.instance.status, step);
  return { status, step, recheckMs: recheckOf(view, step) };
}

/** A node touches only what is on it or on none. */
function isElsewhere({ instance, nodeName }: InstanceFacts): boolean {
  const node = instance.status?.nodeName;
  return node !== undefined && node !== '' && node !== nodeName;
}

function isBrieflyQueued({ instance, obstacle, observation, nowMs }: InstanceFacts): boolean {
  const { metadata, status } = instance;
  if (obstacle?.reason !== 'StartQueued' || observation || status?.phase || isDeleting(instance))
    return false;
  return nowMs - Date.parse(metadata.creationTimestamp ?? '') < quietQueueMs;
}

function viewOf(facts: InstanceFacts): InstanceView {
  const final = finalOf(facts);
  const waiting = waitingOf(facts);
  const now = timestampOf({ now: () => facts.nowMs });
  return { facts, final, waiting, now, phase: final?.phase ?? phaseOf(facts, waiting) };
}

/** Why it is not started, if it is to be. */
function waitingOf({ instance, observation, preparation, obstacle }: InstanceFacts): Waiting | undefined {
  const isBegun = observation !== undefined && observation.state !== 'starting';
  if (isBegun || isFinal(instance) || isDeleting(instance)) return undefined;
  return preparation.state === 'waiting' ? preparation.waiting : obstacle;
}

/** How it ended, if it ended with this pass. */
function finalOf({ instance, observation }: InstanceFacts): FinalPhase | undefined {
  if (isFinal(instance)) return undefined;
  if (observation)
    return observation.state === 'ended' ? finalPhaseOf(observation.end, inHaste(instance)) : undefined;
  if (instance.status?.phase === 'Running')
    return {
      phase: 'Failed',
      reason: 'ProcessLost',
      message: 'its process is not there any more',
      hasRun: true,
    };
  if (!isDeleting(instance)) return undefined;
  return {
    phase: 'Failed',
    reason: 'DeletedBeforeStart',
    message: 'it was deleted before it ran',
    hasRun: false,
  };
}

function phaseOf(facts: InstanceFacts, waiting: Waiting | undefined): InstancePhase {
  const { instance, observation, preparation } = facts;
  const old = instance.status?.phase;
  if (old !== undefined && isFinal(instance)) return old;
  if (observation) return isUp(observation, instance) ? 'Running' : 'Scheduled';
  if (old === 'Scheduled' || !waiting) return 'Scheduled';
  return preparation.state === 'ready' ? 'Scheduling' : 'Pending';
}

/**
 * A machine is born with its processors standing. It counts as running once they have run, or when it was to be born that way;
 * until then a pause is nobody's wish.
 */
function isUp({ state }: MachineObservation, { status, spec }: VirtualMachineInstance): boolean {
  if (status?.phase === 'Running' || state === 'running') return true;
  return state === 'paused' && spec.startStrategy === 'Paused';
}

function planStep(view: InstanceView): InstanceStep {
  const { phase, facts } = view;
  if (phase === 'Succeeded' || phase === 'Failed') return planRemoval(facts);
  if (isDeleting(facts.instance)) return planShutdown(view);
  // A start that has not got through has been left in the middle: nobody but this pass is in it.
  const isBegun = facts.observation !== undefined && facts.observation.state !== 'starting';
  return isBegun ? planPresent(facts.observation, view) : planStart(view);
}

function planStart({ waiting, facts: { preparation } }: InstanceView): InstanceStep {
  return waiting || preparation.state === 'waiting' ? none : { action: 'start', spec: preparation.spec };
}

function planPresent(observation: MachineObservation, { phase, facts }: InstanceView): InstanceStep {
  if (observation.state === 'paused' && phase !== 'Running') return { action: 'resume' };
  if (observation.state !== 'running' || facts.preparation.state === 'waiting') return none;
  return planDevices(withinRoom(facts.preparation.spec, observation, facts.growth), observation) ?? none;
}

/** It stays as large as it is where there is no room for more. */
function withinRoom(
  spec: MachineSpec,
  { sockets, memoryBytes }: MachineObservation,
  growth: GrowthObstacles = {},
): MachineSpec {
  return {
    ...spec,
    ...(growth.cpu ? { cpu: { ...spec.cpu, sockets } } : {}),
    ...(growth.memory ? { memory: { ...spec.memory, bytes: memoryBytes } } : {}),
  };
}

/** The phase is recorded by now, so its cause need not be kept; a process that still runs is ended, whatever made it final. */
function planRemoval({ instance, observation, hasOwner }: InstanceFacts): InstanceStep {
  if (observation) return { action: observation.state === 'ended' ? 'forget' : 'end' };
  if (!isDeleting(instance)) return none;
  const { finalizers = [] } = instance.metadata;
  const kept = finalizers.filter(
    (name) => name !== processFinalizer && (hasOwner || name !== machineFinalizer),
  );
  return kept.length < finalizers.length ? { action: 'release', finalizers: kept } : none;
}

function planShutdown({ facts, phase }: InstanceView): InstanceStep {
  const { instance, observation } = facts;
  const isNeverAsked = phase !== 'Running' || !hasPowerButton(instance.spec);
  if (isNeverAsked || graceLeftMs(facts) <= 0) return { action: 'end' };
  // A guest whose processors stand cannot hear the button.
  if (observation?.state === 'paused') return { action: 'resume' };
  return observation?.state === 'running' ? { action: 'press-power-button' } : none;
}

function graceLeftMs({ instance, nowMs }: InstanceFacts): number {
  const asked = Date.parse(instance.metadata.deletionTimestamp ?? '');
  return asked + graceSecondsOf(inHaste(instance)) * 1000 - nowMs;
}

function recheckOf(view: InstanceView, step: InstanceStep): number | undefined {
  const { facts, phase, waiting } = view;
  if (phase === 'Succeeded' || phase === 'Failed') return undefined;
  if (isDeleting(facts.instance)) return Math.max(0, Math.min(askAgainMs, graceLeftMs(facts)));
  if (waiting) return waiting.reason === 'StartQueued' ? queuedMs : waitMs;
  return step.action === 'none' ? idleRecheckOf(facts) : undefined;
}

function idleRecheckOf({ growth = {}, observation }: InstanceFacts): number | undefined {
  if (growth.cpu ?? growth.memory) return waitMs;
  return observation?.state === 'starting' ? startingMs : undefined;
}
