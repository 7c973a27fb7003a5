import type { Condition, KubeObject } from '@sheaf/api';
import {
  drainForcedAnnotation,
  drainRequestedAnnotation,
  isSchedulable,
  maintainStatusAnnotation,
  type NodeObject,
  shutdownBootAnnotation,
} from '@sheaf/api/node/index';
import type { VirtualMachine, VirtualMachineInstance } from '@sheaf/api/virtualization/index';
import type { Pod } from '@sheaf/api/workload/index';
import { halted, isHalted, markAnnotation, strategyLabel } from './machine-power.ts';

export interface MaintenanceFacts {
  readonly node: NodeObject;
  readonly machines: readonly VirtualMachine[];
  readonly instances: readonly VirtualMachineInstance[];
  readonly pods?: readonly Pod[];
}

export type MaintenanceStep =
  | { readonly action: 'update-node'; readonly node: NodeObject }
  | { readonly action: 'stop-machine'; readonly machine: VirtualMachine }
  | { readonly action: 'delete-instance'; readonly instance: VirtualMachineInstance }
  | { readonly action: 'evict-pod'; readonly pod: Pod }
  | { readonly action: 'start-machine'; readonly machine: VirtualMachine };

/** All steps may be done again, and in any order. */
export interface MaintenancePlan {
  readonly steps: readonly MaintenanceStep[];
  /** What the node says of it; `undefined`: nothing, since there is no maintenance. */
  readonly condition: Omit<Condition, 'lastTransitionTime'> | undefined;
}

export const maintenanceCondition = 'MaintenanceMode';
const comesBack = new Set(['ShutdownAndRestartAfterEnable', 'ShutdownAndRestartAfterDisable']);
const namesShown = 5;

/** Whether someone has asked for the maintenance of a node, or for the shutdown of its host. */
export function isInMaintenance({ metadata }: NodeObject): boolean {
  const { annotations = {} } = metadata;
  return annotations[drainRequestedAnnotation] === 'true' || maintainStatusAnnotation in annotations;
}

/**
 * Machines that run on a node in maintenance are stopped by what their label says, or all of them when the host is shut down. Those
 * that are to come back are marked with the node, and started when its maintenance is over, whoever looks then. Pods are evicted if what
 * they belong to makes them anew then; others stay until the host is turned off.
 */
export function planMaintenance(facts: MaintenanceFacts): MaintenancePlan {
  const { node } = facts;
  if (isBackFromShutdown(node)) return { steps: [updated(withoutMaintenance(node))], condition: undefined };
  return isInMaintenance(node) ? planStops(facts) : planStarts(facts);
}

/** The boot that was to be ended has ended. */
function isBackFromShutdown({ metadata, status }: NodeObject): boolean {
  const ended = metadata.annotations?.[shutdownBootAnnotation] ?? '';
  const boot = status?.nodeInfo?.bootID ?? '';
  return ended !== '' && boot !== '' && ended !== boot;
}

export function withMaintenance(node: NodeObject, annotations: Readonly<Record<string, string>>): NodeObject {
  const { metadata } = node;
  const wanted = { ...metadata.annotations, [drainRequestedAnnotation]: 'true', ...annotations };
  return { ...node, metadata: { ...metadata, annotations: wanted } };
}

/** The node, open for machines again. */
export function withoutMaintenance(node: NodeObject): NodeObject {
  const {
    [drainRequestedAnnotation]: _requested,
    [drainForcedAnnotation]: _forced,
    [maintainStatusAnnotation]: _status,
    [shutdownBootAnnotation]: _boot,
    ...annotations
  } = node.metadata.annotations ?? {};
  const { unschedulable: _unschedulable, taints = [], ...spec } = node.spec ?? {};
  const kept = taints.filter(
    ({ key }) => key !== 'kubevirt.io/drain' && key !== 'node.kubernetes.io/unschedulable',
  );
  return { ...node, metadata: { ...node.metadata, annotations }, spec: { ...spec, taints: kept } };
}

function planStarts({ node, machines }: MaintenanceFacts): MaintenancePlan {
  const { name } = node.metadata;
  const marked = machines.filter(({ metadata }) => metadata.annotations?.[markAnnotation] === name);
  const steps = marked.map((machine): MaintenanceStep => ({ action: 'start-machine', machine }));
  return { steps, condition: undefined };
}

interface Resident {
  readonly instance: VirtualMachineInstance;
  readonly machine: VirtualMachine | undefined;
}

function planStops(facts: MaintenanceFacts): MaintenancePlan {
  const { node } = facts;
  const residents = residentsOf(facts);
  const policy = policyOf(node);
  const blocked = residents.filter((resident) => !policy.mayStop(resident) && !isEnding(resident));
  const stops = residents
    .filter((resident) => policy.mayStop(resident) && !isEnding(resident))
    .map((resident) => stopOf(resident, policy.comesBack(resident) ? node.metadata.name : undefined));
  const pods = movingPods(facts);
  const evictions = pods
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map((pod): MaintenanceStep => ({ action: 'evict-pod', pod }));
  const next = withStatus(node, residents.length + pods.length === 0 ? 'completed' : 'running');
  return {
    // The node is closed first, so that nothing comes after those that are stopped.
    steps: [...(next === node ? [] : [updated(next)]), ...stops, ...evictions],
    condition: conditionOf(node, { residents, blocked, pods }),
  };
}

interface Policy {
  mayStop(resident: Resident): boolean;
  comesBack(resident: Resident): boolean;
}

function policyOf({ metadata }: NodeObject): Policy {
  const { annotations = {} } = metadata;
  const isShutdown = shutdownBootAnnotation in annotations;
  const isForced = isShutdown || annotations[drainForcedAnnotation] === 'true';
  return {
    mayStop: (resident) => isForced || isStoppable(strategyOf(resident)),
    comesBack: (resident) =>
      isShutdown ? strategyOf(resident) !== 'Shutdown' : comesBack.has(strategyOf(resident)),
  };
}

function isStoppable(strategy: string): boolean {
  return strategy === 'Shutdown' || comesBack.has(strategy);
}

function strategyOf({ machine, instance }: Resident): string {
  const labels = machine?.metadata.labels ?? instance.metadata.labels ?? {};
  return labels[strategyLabel] ?? 'Migrate';
}

function residentsOf({ node, machines, instances }: MaintenanceFacts): readonly Resident[] {
  const { name } = node.metadata;
  return instances
    .filter(({ status }) => status?.nodeName === name && !isFinal(status?.phase))
    .map((instance) => ({ instance, machine: machines.find((machine) => isOwnerOf(machine, instance)) }));
}

/** Those of daemon sets are of the node itself; one that belongs to nothing would be lost. */
function movingPods({ node, pods = [] }: MaintenanceFacts): readonly Pod[] {
  return pods.filter(({ metadata, spec, status }) => {
    const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
    const isMoved = owner !== undefined && owner.kind !== 'DaemonSet';
    return isMoved && spec.nodeName === node.metadata.name && !isFinal(status?.phase);
  });
}

function isFinal(phase: string | undefined): boolean {
  return phase === 'Succeeded' || phase === 'Failed';
}

function isOwnerOf({ metadata }: VirtualMachine, instance: VirtualMachineInstance): boolean {
  return instance.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid) === true;
}

function isEnding({ instance, machine }: Resident): boolean {
  return machine ? isHalted(machine) : instance.metadata.deletionTimestamp !== undefined;
}

function stopOf({ machine, instance }: Resident, comesBackOn: string | undefined): MaintenanceStep {
  return machine
    ? { action: 'stop-machine', machine: halted(machine, comesBackOn) }
    : { action: 'delete-instance', instance };
}

function withStatus(node: NodeObject, status: 'running' | 'completed'): NodeObject {
  if (node.metadata.annotations?.[maintainStatusAnnotation] === status && !isSchedulable(node)) return node;
  const next = withMaintenance(node, { [maintainStatusAnnotation]: status });
  return { ...next, spec: { ...node.spec, unschedulable: true } };
}

function updated(node: NodeObject): MaintenanceStep {
  return { action: 'update-node', node };
}

function conditionOf(
  { metadata: { name = '' } }: NodeObject,
  { residents, blocked, pods }: Draining,
): NonNullable<MaintenancePlan['condition']> {
  const type = maintenanceCondition;
  if (residents.length + pods.length === 0)
    return { type, status: 'True', reason: 'Completed', message: `No machine runs on ${name}` };
  if (blocked.length === 0) {
    const parts = [
      ...(residents.length > 0 ? [`${namesOf(residents.map(objectOf))} to shut down`] : []),
      ...(pods.length > 0 ? [`the pods ${namesOf(pods)} to end; a disruption budget may hold them`] : []),
    ];
    return { type, status: 'False', reason: 'Draining', message: `Waits for ${parts.join(', and for ')}` };
  }
  const message = `${namesOf(blocked.map(objectOf))} would have to move, and there is no other node; needs someone: stop them, label them ${strategyLabel}=Shutdown or ShutdownAndRestartAfterDisable, or stop all: kubectl annotate node ${name} ${drainForcedAnnotation}=true`;
  return { type, status: 'False', reason: 'Blocked', message };
}

interface Draining {
  readonly residents: readonly Resident[];
  readonly blocked: readonly Resident[];
  readonly pods: readonly Pod[];
}

function objectOf({ instance }: Resident): VirtualMachineInstance {
  return instance;
}

function namesOf(objects: readonly KubeObject[]): string {
  const names = objects.map(({ metadata }) => `${metadata.namespace ?? ''}/${metadata.name ?? ''}`);
  const shown = names.toSorted().slice(0, namesShown).join(', ');
  return names.length > namesShown ? `${shown} and ${names.length - namesShown} more` : shown;
}
