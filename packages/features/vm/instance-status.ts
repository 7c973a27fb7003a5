import { type Condition, type Waiting, waitingCondition, withCondition } from '@sheaf/api';
import { formatQuantity, quantityOf } from '@sheaf/base';
import type { MachineObservation, MachineSpec } from '@sheaf/ports';
import type { GuestInterface } from './guest-report.ts';
import type { InstanceView } from './instance-plan.ts';
import { claimNameOf, isHotpluggable } from './instance-spec.ts';
import {
  type InstanceInterfaceStatus,
  type InstancePhase,
  type InstanceStatus,
  type InstanceVolumeStatus,
  isDeleting,
  isFinal,
} from './virtual-machine.ts';

/** Phases in which it belongs to no node. */
const unplaced: ReadonlySet<InstancePhase> = new Set(['Pending', 'Scheduling']);

type Claim = Omit<Condition, 'lastTransitionTime'>;

/** What is to be seen of an instance. */
export function planInstanceStatus(view: InstanceView): InstanceStatus {
  const { facts, phase, final } = view;
  const { instance, observation, preparation, nodeName } = facts;
  const old = instance.status ?? {};
  if (isFinal(instance)) return old;
  const spec = preparation.state === 'ready' ? preparation.spec : undefined;
  return {
    ...old,
    phase,
    phaseTransitionTimestamps: planTransitions(view),
    ...(final ? { reason: final.reason } : {}),
    conditions: planConditions(view),
    nodeName: unplaced.has(phase) ? old.nodeName : nodeName,
    ...sizesOf(spec, observation, old),
    ...guestOf(view),
    volumeStatus: volumesOf(view),
  };
}

/** Each phase once, when it was first seen; a guest that must have run gets its `Running`, although nobody saw it. */
function planTransitions({
  facts,
  phase,
  final,
  now,
}: InstanceView): InstanceStatus['phaseTransitionTimestamps'] {
  const old = facts.instance.status?.phaseTransitionTimestamps ?? [];
  const entered: readonly InstancePhase[] = final?.hasRun === true ? ['Running', phase] : [phase];
  const fresh = entered.filter((name) => !old.some((entry) => entry.phase === name));
  return [...old, ...fresh.map((name) => ({ phase: name, phaseTransitionTimestamp: now }))];
}

function planConditions(view: InstanceView): readonly Condition[] {
  const claims = [
    readyOf(view),
    synchronizedOf(view),
    scheduledOf(view),
    provisioningOf(view),
    pausedOf(view),
    agentOf(view),
    migratableOf(view),
    appliedOf(view),
    growingOf('HotVCPUChange', view.facts.growth?.cpu),
    growingOf('HotMemoryChange', view.facts.growth?.memory),
  ];
  const wanted = claims.filter((claim) => claim !== undefined);
  const types = new Set([...wanted.map(({ type }) => type)]);
  const old = view.facts.instance.status?.conditions ?? [];
  const kept = old.filter(({ type }) => types.has(type) || !managed.has(type));
  return wanted.reduce<readonly Condition[]>((all, claim) => withCondition(all, claim, view.now), kept);
}

const managed: ReadonlySet<string> = new Set([
  'Ready',
  'Synchronized',
  'PodScheduled',
  'Provisioning',
  'Paused',
  'AgentConnected',
  'LiveMigratable',
  'FieldsApplied',
  'HotVCPUChange',
  'HotMemoryChange',
]);

function readyOf({ facts, phase, final, waiting }: InstanceView): Claim {
  const claim = { type: 'Ready', status: 'False' } as const;
  if (final) return { ...claim, reason: final.reason, message: final.message };
  if (waiting) return waitingCondition(claim, waiting);
  if (isDeleting(facts.instance))
    return { ...claim, reason: 'PodTerminating', message: 'the guest has been asked to shut down' };
  if (phase !== 'Running')
    return { ...claim, reason: 'GuestNotRunning', message: 'Guest VM is not reported as running' };
  const stalled = stalledOf(facts.observation);
  return stalled ? waitingCondition(claim, stalled) : { type: 'Ready', status: 'True' };
}

function stalledOf(observation: MachineObservation | undefined): Waiting | undefined {
  if (observation?.state === 'paused')
    return {
      reason: 'Paused',
      text: 'The processors of the machine stand still',
      nature: 'fault',
      wayOut: 'unpause the machine',
    };
  if (observation?.state !== 'unresponsive') return undefined;
  return {
    reason: 'Unresponsive',
    text: 'The process of the machine does not answer; it may be waiting for its disks',
    nature: 'transient',
  };
}

function synchronizedOf({ waiting }: InstanceView): Claim | undefined {
  return waiting && waitingCondition({ type: 'Synchronized', status: 'False' }, waiting);
}

function scheduledOf({ waiting }: InstanceView): Claim | undefined {
  if (waiting?.reason !== 'Unschedulable') return undefined;
  return waitingCondition({ type: 'PodScheduled', status: 'False' }, waiting);
}

function provisioningOf({ waiting }: InstanceView): Claim | undefined {
  if (waiting?.reason !== 'VolumePreparing') return undefined;
  return waitingCondition({ type: 'Provisioning', status: 'True' }, waiting);
}

function pausedOf({ facts, phase }: InstanceView): Claim | undefined {
  if (phase !== 'Running' || facts.observation?.state !== 'paused') return undefined;
  return { type: 'Paused', status: 'True', reason: 'PausedByUser', message: 'VMI was paused by user' };
}

function agentOf({ facts }: InstanceView): Claim | undefined {
  return facts.observation?.isAgentConnected === true
    ? { type: 'AgentConnected', status: 'True' }
    : undefined;
}

function migratableOf({ facts, phase }: InstanceView): Claim | undefined {
  if (phase !== 'Running') return undefined;
  const { isAvailable, reason, wayOut } = facts.liveMigration;
  if (isAvailable) return { type: 'LiveMigratable', status: 'True' };
  const message = wayOut === undefined ? reason : `${reason}; ${wayOut}`;
  return { type: 'LiveMigratable', status: 'False', reason: 'LiveMigrationUnavailable', message };
}

function appliedOf({ facts: { preparation } }: InstanceView): Claim | undefined {
  if (preparation.state !== 'ready' || preparation.warnings.length === 0) return undefined;
  const message = preparation.warnings.join('; ');
  return { type: 'FieldsApplied', status: 'False', reason: 'FieldsWithoutEffect', message };
}

/** KubeVirt has it for as long as a change of size is under way: here that is over at once, unless there is no room. */
function growingOf(type: string, waiting: Waiting | undefined): Claim | undefined {
  return waiting && waitingCondition({ type, status: 'True' }, waiting);
}

function sizesOf(
  spec: MachineSpec | undefined,
  observation: MachineObservation | undefined,
  old: InstanceStatus,
): Partial<InstanceStatus> {
  if (!spec) return {};
  const machine = { type: spec.machineType };
  if (!observation) return { machine };
  const current = bytesText(observation.memoryBytes);
  return {
    machine,
    currentCPUTopology: {
      sockets: observation.sockets,
      cores: spec.cpu.cores,
      threads: spec.cpu.threads,
    },
    memory: {
      guestAtBoot: old.memory?.guestAtBoot ?? current,
      guestCurrent: current,
      guestRequested: bytesText(spec.memory.bytes),
    },
  };
}

function bytesText(bytes: number): string {
  return formatQuantity(quantityOf(bytes, 'BinarySI'));
}

/** What the guest said last stays until it says something else, or ends. */
function guestOf({ facts, phase }: InstanceView): Partial<InstanceStatus> {
  const { guest, preparation, instance } = facts;
  if (phase !== 'Running') return { interfaces: undefined, guestOSInfo: undefined };
  if (preparation.state === 'waiting') return {};
  const reported = guest?.interfaces ?? [];
  const interfaces = preparation.spec.nics.map((nic) => interfaceOf(nic, findInterface(reported, nic.mac)));
  return {
    interfaces: interfaces.length > 0 ? interfaces : undefined,
    guestOSInfo: guest?.os ?? instance.status?.guestOSInfo,
  };
}

function findInterface(reported: readonly GuestInterface[], mac: string): GuestInterface | undefined {
  return reported.find((each) => each.mac === mac.toLowerCase());
}

function interfaceOf(
  nic: { readonly name: string; readonly mac: string; readonly carrier?: 'up' | 'down' },
  seen: GuestInterface | undefined,
): InstanceInterfaceStatus {
  const addresses = seen?.ips ?? [];
  return {
    name: nic.name,
    mac: nic.mac,
    ipAddress: addresses[0],
    ipAddresses: addresses.length > 0 ? addresses : undefined,
    interfaceName: seen?.name,
    infoSource: seen ? 'domain, guest-agent' : 'domain',
    linkState: nic.carrier ?? 'up',
  };
}

function volumesOf({ facts }: InstanceView): readonly InstanceVolumeStatus[] | undefined {
  const { instance, observation } = facts;
  const volumes = instance.spec.volumes ?? [];
  const attached = new Set((observation?.devices ?? []).map(({ name }) => name));
  const list = volumes.map((volume): InstanceVolumeStatus => {
    const claimName = claimNameOf(volume);
    return {
      name: volume.name,
      target: '',
      phase: attached.has(volume.name) ? 'Ready' : 'Pending',
      ...(claimName === undefined ? {} : { persistentVolumeClaimInfo: { claimName } }),
      ...(isHotpluggable(volume) ? { hotplugVolume: {} } : {}),
    };
  });
  return list.length > 0 ? list : undefined;
}
