import type { Waiting } from '@sheaf/api';
import {
  type Amounts,
  allocatableOf,
  findShortages,
  type NodeObject,
  requestsAt,
  requestsOf,
  type Shortage,
  shortageText,
} from '@sheaf/api/node/index';
import { asksOfNodes, nodeMisfitOf, peerMisfitOf } from '@sheaf/api/placement/index';
import type { Overcommit } from '@sheaf/api/setting/index';
import { type Pod, podRequests } from '@sheaf/api/workload/index';
import type { HypervisorCapabilities, MachineObservation } from '@sheaf/ports';
import { asPod } from './placement/as-pod.ts';
import { claimOfPod, heldClaimOf } from './placement/held-claim.ts';
import type { VirtualMachineInstance } from './virtual-machine.ts';

export interface NodeFacts {
  readonly name: string;
  /** As the API has it; no machine waits for it to be made. */
  readonly node: NodeObject | undefined;
  /** Memory that machines may have altogether, for as long as the node does not tell. */
  readonly memoryBytes: number;
  readonly overcommit: Overcommit;
  readonly capabilities: Pick<HypervisorCapabilities, 'hypervisor' | 'parallelStarts'>;
  /** All machines on it. */
  readonly machines: readonly MachineObservation[];
  readonly instances: readonly VirtualMachineInstance[];
  /** Those on it that have not ended. */
  readonly pods?: readonly Pod[];
  /** Those whose start is under way, by their id: they may be among the machines or not be there yet. */
  readonly starting: ReadonlyMap<string, Amounts>;
  /** Those of them that take a processor now; all of them, if absent. */
  readonly underWay?: ReadonlySet<string>;
  /** Of a namespace, by its name; those of one that is not there are none. */
  readonly labelsOfNamespace: (name: string) => Readonly<Record<string, string>>;
}

/** Why an instance cannot be started on a node now. */
export function obstacleOf(instance: VirtualMachineInstance, facts: NodeFacts): Waiting | undefined {
  return (
    unavailable(facts) ??
    unsuitable(instance, facts) ??
    heldClaimOf(instance, peersOf(instance, facts)) ??
    claimOfPod(instance, facts.pods ?? []) ??
    unfit(instance, facts) ??
    queuedOn(facts)
  );
}

function unavailable({ name, capabilities: { hypervisor } }: NodeFacts): Waiting | undefined {
  if (hypervisor.isAvailable) return undefined;
  return {
    reason: 'HypervisorUnavailable',
    text: `No machine can run on this node: ${hypervisor.reason}`,
    nature: 'fault',
    wayOut: hypervisor.wayOut ?? 'see the status of the node',
    object: objectOf(name),
  };
}

/** What the node is, and who is on it, against what the instance asks for. */
function unsuitable(instance: VirtualMachineInstance, facts: NodeFacts): Waiting | undefined {
  const { name, node } = facts;
  if (!node)
    return asksOfNodes(instance.spec)
      ? unschedulable(name, 'no nodes available to schedule pods')
      : undefined;
  const peers = [...peersOf(instance, facts).map(asPod), ...(facts.pods ?? [])];
  const noun = 'machine';
  const misfit =
    nodeMisfitOf(instance.spec, node, noun) ?? peerMisfitOf(asPod(instance), { ...facts, node, peers, noun });
  return misfit && unschedulable(name, `0/1 nodes are available: ${misfit.text}; ${misfit.wayOut}`);
}

/** Those that have a place on the node or are given one now. */
function peersOf({ metadata }: VirtualMachineInstance, facts: NodeFacts): readonly VirtualMachineInstance[] {
  const { machines, starting, instances } = facts;
  const placed = new Set([...starting.keys(), ...machines.filter(isAlive).map(({ id }) => id)]);
  return instances.filter(({ metadata: { uid = '' } }) => uid !== metadata.uid && placed.has(uid));
}

function unfit(instance: VirtualMachineInstance, facts: NodeFacts): Waiting | undefined {
  const shortages = shortagesOf(instance, facts, requestsOf(instance.spec.domain, facts.overcommit));
  return shortages.length === 0 ? undefined : unschedulable(facts.name, shortageText(shortages));
}

function shortagesOf(
  { metadata }: VirtualMachineInstance,
  facts: NodeFacts,
  wanted: Amounts,
): readonly Shortage[] {
  const { node, memoryBytes } = facts;
  const allocatable = { ...allocatableOf(undefined), memoryBytes };
  const room = node?.status?.allocatable ? allocatableOf(node.status.allocatable) : allocatable;
  const others = [...usedBy(facts)].filter(([id]) => id !== metadata.uid).map(([, amounts]) => amounts);
  return findShortages(room, [...others, ...(facts.pods ?? []).map(amountsOf)], wanted);
}

/** One way in which a machine is to grow while it runs. */
export interface Growth {
  readonly resource: Shortage['resource'];
  /** What the machine takes of the node then. */
  readonly amounts: Amounts;
}

/** Why a machine cannot grow now, by what it would grow in. */
export type GrowthObstacles = { readonly [Resource in Growth['resource']]?: Waiting | undefined };

/** Why a machine that runs cannot grow now. */
export function growthObstacleOf(
  instance: VirtualMachineInstance,
  { resource, amounts }: Growth,
  facts: NodeFacts,
): Waiting | undefined {
  const missing = shortagesOf(instance, facts, amounts).filter((each) => each.resource === resource);
  return missing.length === 0 ? undefined : unschedulable(facts.name, shortageText(missing));
}

/** What each machine takes, by its id: what it has grown to, or is growing to now. One that the API does not know takes what is seen of it. */
function usedBy({ machines, instances, starting, overcommit }: NodeFacts): ReadonlyMap<string, Amounts> {
  const known = new Map(instances.map((each) => [each.metadata.uid, each]));
  const used = new Map(starting);
  for (const { id, sockets, memoryBytes } of machines.filter(isAlive)) {
    const seen = { cpu: { sockets }, memory: { guest: memoryBytes } };
    const now = requestsAt(known.get(id)?.spec.domain ?? seen, { sockets, memoryBytes }, overcommit);
    used.set(id, larger(now, used.get(id) ?? now));
  }
  return used;
}

function amountsOf({ spec }: Pod): Amounts {
  const { cpu = 0, memory = 0 } = podRequests(spec);
  return { cpuMillis: cpu, memoryBytes: memory };
}

function larger(one: Amounts, other: Amounts): Amounts {
  return {
    cpuMillis: Math.max(one.cpuMillis, other.cpuMillis),
    memoryBytes: Math.max(one.memoryBytes, other.memoryBytes),
  };
}

function queuedOn(facts: NodeFacts): Waiting | undefined {
  const { name, machines, starting, underWay, capabilities } = facts;
  const ids = new Set(underWay ?? starting.keys());
  for (const { id, state } of machines) if (state === 'starting' && !starting.has(id)) ids.add(id);
  return queuedBehind(ids.size, name, capabilities);
}

/** Why an instance is not started while so many others are being started. */
export function queuedBehind(
  count: number,
  name: string,
  { parallelStarts }: Pick<HypervisorCapabilities, 'parallelStarts'>,
): Waiting | undefined {
  if (count < parallelStarts) return undefined;
  return {
    reason: 'StartQueued',
    text: `${count} other machines are being started, and this node starts ${parallelStarts} at a time`,
    nature: 'transient',
    object: objectOf(name),
  };
}

function isAlive({ state }: MachineObservation): boolean {
  return state !== 'ended';
}

function unschedulable(name: string, text: string): Waiting {
  return { reason: 'Unschedulable', text, nature: 'transient', object: objectOf(name) };
}

function objectOf(name: string): NonNullable<Waiting['object']> {
  return { kind: 'Node', namespace: '', name };
}
