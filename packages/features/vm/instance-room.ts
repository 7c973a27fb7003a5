import type { KubeObject, Waiting } from '@sheaf/api';
import {
  type Amounts,
  type MachineSize,
  type NodeObject,
  requestsAt,
  requestsOf,
} from '@sheaf/api/node/index';
import { type Overcommit, overcommitConfig, readSetting } from '@sheaf/api/setting/index';
import type { Setting } from '@sheaf/api/virtualization/index';
import type { Pod } from '@sheaf/api/workload/index';
import type { Hypervisor, MachineObservation } from '@sheaf/ports';
import type { ObjectCache } from '@sheaf/runtime';
import {
  type Growth,
  type GrowthObstacles,
  growthObstacleOf,
  type NodeFacts,
  obstacleOf,
  queuedBehind,
} from './node-room.ts';
import type { StartLedger } from './start-ledger.ts';
import type { VirtualMachineInstance } from './virtual-machine.ts';

export interface RoomParts {
  readonly hypervisor: Hypervisor;
  readonly instances: ObjectCache<VirtualMachineInstance>;
  readonly nodes: ObjectCache<NodeObject>;
  readonly namespaces: ObjectCache<KubeObject>;
  /** Absent: no pods run here. */
  readonly pods?: ObjectCache<Pod>;
  readonly settings: ObjectCache<Setting>;
  readonly starts: StartLedger;
  readonly nodeName: string;
  /** Memory that machines may have altogether, in bytes, for as long as the node does not tell. */
  readonly memoryBytes: () => number;
}

/**
 * Why the node does not take an instance now. If it does, the place is the instance's from this moment on, until `starts.end` is
 * called for it.
 */
export async function takeRoom(
  parts: RoomParts,
  instance: VirtualMachineInstance,
  signal: AbortSignal,
): Promise<Waiting | undefined> {
  const { hypervisor, starts, nodeName } = parts;
  if (isElsewhere(instance, nodeName)) return undefined;
  // Those that wait do not look at all machines each time to learn that they wait.
  const queued = starts.size > 0 ? queuedBehind(starts.size, nodeName, hypervisor.capabilities()) : undefined;
  if (queued) return queued;
  const amounts = requestsOf(instance.spec.domain, overcommitOf(parts));
  return judged(parts, { instance, amounts, judge: (facts) => obstacleOf(instance, facts) }, signal);
}

/** What a machine that runs is to become, and is. */
export interface Resizing {
  readonly instance: VirtualMachineInstance;
  readonly wanted: MachineSize;
  readonly observation: MachineObservation;
}

/**
 * Takes the room for the next way in which a machine grows, until `starts.end` is called for it: processors go before memory, and
 * what is in the way of one is not in the way of the other.
 */
export async function takeGrowth(
  parts: RoomParts,
  { instance, wanted, observation }: Resizing,
  signal: AbortSignal,
): Promise<GrowthObstacles> {
  const { sockets, memoryBytes } = observation;
  const overcommit = overcommitOf(parts);
  const take = (resource: Growth['resource'], size: MachineSize): Promise<Waiting | undefined> => {
    const growth = { resource, amounts: requestsAt(instance.spec.domain, size, overcommit) };
    const judge = (facts: NodeFacts): Waiting | undefined => growthObstacleOf(instance, growth, facts);
    return judged(parts, { instance, amounts: growth.amounts, judge }, signal);
  };
  const cpu =
    wanted.sockets > sockets ? await take('cpu', { sockets: wanted.sockets, memoryBytes }) : undefined;
  const isNext = wanted.memoryBytes > memoryBytes && (cpu !== undefined || wanted.sockets <= sockets);
  const memory = isNext ? await take('memory', { sockets, memoryBytes: wanted.memoryBytes }) : undefined;
  return { cpu, memory };
}

interface Judgement {
  readonly instance: VirtualMachineInstance;
  readonly amounts: Amounts;
  readonly judge: (facts: NodeFacts) => Waiting | undefined;
}

function judged(
  parts: RoomParts,
  { instance, amounts, judge }: Judgement,
  signal: AbortSignal,
): Promise<Waiting | undefined> {
  const { hypervisor, instances, nodes, namespaces, starts, nodeName } = parts;
  const start = { id: instance.metadata.uid ?? '', amounts };
  return starts.begin(start, {
    look: () => hypervisor.list(signal),
    judge: (machines, starting, underWay) =>
      judge({
        name: nodeName,
        node: nodes.get(nodeName),
        memoryBytes: parts.memoryBytes(),
        overcommit: overcommitOf(parts),
        capabilities: hypervisor.capabilities(),
        machines,
        instances: instances.list(),
        pods: podsOn(parts),
        starting,
        underWay,
        labelsOfNamespace: (name) => namespaces.get(name)?.metadata.labels ?? {},
      }),
  });
}

function podsOn({ pods, nodeName }: RoomParts): readonly Pod[] {
  const all = pods?.list() ?? [];
  return all.filter(
    ({ spec, status }) =>
      spec.nodeName === nodeName && status?.phase !== 'Succeeded' && status?.phase !== 'Failed',
  );
}

function overcommitOf({ settings }: RoomParts): Overcommit {
  return readSetting(overcommitConfig, settings.get(overcommitConfig.name));
}

/** It is not started here, so it takes no place. */
function isElsewhere({ status }: VirtualMachineInstance, nodeName: string): boolean {
  return status?.nodeName !== undefined && status.nodeName !== '' && status.nodeName !== nodeName;
}
