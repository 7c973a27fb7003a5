import { type Condition, findCondition } from '@sheaf/api';
import type { VirtualMachine, VirtualMachineInstance } from '@sheaf/api/virtualization/index';
import { resources } from '@sheaf/client';
import { isDeleting, nameOf } from '../objects.ts';
import type { GoalFacts } from './goals.ts';

/** Every machine is where its run strategy wants it, or says why not. */
export function machineComplaints(facts: GoalFacts): readonly string[] {
  const { objects } = facts;
  const machines = objects.all(resources.virtualMachines);
  const instances = objects.all(resources.virtualMachineInstances);
  return [
    ...machines.flatMap((machine) =>
      prefixed(nameOf(resources.virtualMachines, machine), machineComplaint(machine, instances, facts)),
    ),
    ...instances.flatMap((instance) =>
      prefixed(nameOf(resources.virtualMachineInstances, instance), instanceComplaint(instance, facts)),
    ),
  ];
}

function prefixed(name: string, complaint: string | undefined): readonly string[] {
  return complaint === undefined ? [] : [`${name} ${complaint}`];
}

type Strategy = 'Always' | 'Halted' | 'Manual' | 'RerunOnFailure' | 'Once' | 'WaitAsReceiver';

function strategyOf({ spec }: VirtualMachine): Strategy {
  return (spec.runStrategy as Strategy | undefined) ?? (spec.running === true ? 'Always' : 'Halted');
}

function machineComplaint(
  machine: VirtualMachine,
  instances: readonly VirtualMachineInstance[],
  { nowMs }: GoalFacts,
): string | undefined {
  if (isDeleting(machine)) return 'is being deleted and does not go';
  if (isSaid(machine, 'Failure', 'True')) return undefined;
  const isWaiting = isBackingOff(machine, nowMs);
  if (hasRequests(machine) && !isWaiting) return 'has a request that is not done';
  const own = instances.find(({ metadata }) =>
    metadata.ownerReferences?.some(({ uid }) => uid === machine.metadata.uid),
  );
  if (own) return withInstance(strategyOf(machine), own);
  return isWaiting ? undefined : withoutInstance(strategyOf(machine), machine);
}

function hasRequests({ status }: VirtualMachine): boolean {
  return (status?.stateChangeRequests ?? []).length > 0;
}

function isBackingOff({ status }: VirtualMachine, nowMs: number): boolean {
  return Date.parse(status?.startFailure?.retryAfterTimestamp ?? '') > nowMs;
}

function isSaid(object: VirtualMachine | VirtualMachineInstance, type: string, status: string): boolean {
  const conditions = object.status?.conditions as readonly Condition[] | undefined;
  const condition = findCondition(conditions, type);
  return condition?.status === status && (condition.message ?? '') !== '';
}

function withInstance(strategy: Strategy, instance: VirtualMachineInstance): string | undefined {
  if (strategy === 'Halted') return 'is to be halted and has an instance';
  if (isFinal(instance) && (strategy === 'Always' || strategy === 'RerunOnFailure'))
    return `runs ${strategy} and has an instance that is ${instance.status?.phase}`;
  return undefined;
}

function isFinal({ status }: VirtualMachineInstance): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

function withoutInstance(strategy: Strategy, { status }: VirtualMachine): string | undefined {
  if (strategy === 'Always') return 'is to run always and has no instance';
  const startsOnce = strategy === 'RerunOnFailure' || strategy === 'Once';
  if (startsOnce && status?.runStrategy !== strategy) return `is to run ${strategy} and was not started`;
  return undefined;
}

function instanceComplaint(instance: VirtualMachineInstance, { world }: GoalFacts): string | undefined {
  if (isDeleting(instance)) return 'is being deleted and does not go';
  const process = world.host.machines.get(instance.metadata.uid ?? '')?.process;
  if (isFinal(instance)) return process ? 'has ended and has a process' : undefined;
  if (instance.status?.phase === 'Running') return runningComplaint(instance, process !== undefined);
  if (isSaid(instance, 'Synchronized', 'False')) return undefined;
  return `is ${instance.status?.phase} and does not say what for`;
}

function runningComplaint(instance: VirtualMachineInstance, hasProcess: boolean): string | undefined {
  if (!hasProcess) return 'runs and has no process';
  const ready = findCondition(instance.status?.conditions as readonly Condition[] | undefined, 'Ready');
  if (ready?.status === 'True' || isSaid(instance, 'Ready', 'False')) return undefined;
  return 'runs, is not ready and does not say why';
}
