import type { NodeCondition, NodeObject } from '@sheaf/api/node/index';
import { nodeMisfitOf, type Placeable, peerMisfitOf } from '@sheaf/api/placement/index';
import { amountsOf, type Pod, podRequests, type ResourceAmounts, sum } from '@sheaf/api/workload/index';
import { hasEnded } from '../pods/pod-state.ts';

/** A claim that a pod names. */
export interface ClaimFacts {
  readonly name: string;
  readonly isThere: boolean;
  readonly isBound: boolean;
  /** It gets its volume only when somebody uses it. */
  readonly waitsForUser: boolean;
  /** Of a generic ephemeral volume: it is made by the name that it must have. */
  readonly isMadeForPod?: boolean;
  /** Why the claim of that name is not the pod's. */
  readonly foreignText?: string;
}

export interface SchedulingFacts {
  readonly pod: Pod;
  readonly nodes: readonly NodeObject[];
  /** All pods that have a node. */
  readonly assigned: readonly Pod[];
  /** What machines take of a node, and what they are to other tenants of it. */
  readonly machinesOn: (nodeName: string) => {
    readonly used: ResourceAmounts;
    readonly peers: readonly Placeable[];
  };
  readonly labelsOfNamespace: (name: string) => Readonly<Record<string, string>>;
  readonly claims: readonly ClaimFacts[];
}

export type SchedulingStep =
  /** It has a node, has ended, is on its way out, or is somebody else's. */
  | { readonly action: 'none' }
  | { readonly action: 'bind'; readonly nodeName: string }
  /** It is deleted without ever having had a node: nobody else will say that it is over. */
  | { readonly action: 'end' }
  /** No node takes it now. */
  | {
      readonly action: 'wait';
      readonly reason: 'Unschedulable' | 'SchedulingGated';
      readonly message: string;
      /** Less important pods may be in the way. */
      readonly isForRoom?: boolean;
    };

const schedulerName = 'default-scheduler';

/** Where a pod goes: of the nodes that take it, the one with the most room. */
export function planScheduling(facts: SchedulingFacts): SchedulingStep {
  const { pod, nodes } = facts;
  if (isGivenUp(pod)) return { action: 'end' };
  if (!isMine(pod)) return { action: 'none' };
  if ((pod.spec.schedulingGates ?? []).length > 0)
    return {
      action: 'wait',
      reason: 'SchedulingGated',
      message: 'Scheduling is blocked due to non-empty scheduling gates',
    };
  const claim = facts.claims.map(claimObstacle).find((text) => text !== undefined);
  if (nodes.length === 0 || claim !== undefined)
    return unschedulable(
      nodes.length === 0
        ? 'no nodes available to schedule pods'
        : `0/${nodes.length} nodes are available: ${claim}.`,
    );
  const judged = nodes.map((node) => ({ node, obstacles: obstaclesOf(facts, node) }));
  const fitting = judged.filter(({ obstacles }) => obstacles.length === 0).map(({ node }) => node);
  const best = fitting.toSorted((a, b) => freeShare(facts, b) - freeShare(facts, a) || byName(a, b))[0];
  if (best) return { action: 'bind', nodeName: best.metadata.name ?? '' };
  return { ...unschedulable(refusal(judged.map(({ obstacles }) => obstacles))), isForRoom: true };
}

function isGivenUp(pod: Pod): boolean {
  return pod.metadata.deletionTimestamp !== undefined && !pod.spec.nodeName && !hasEnded(pod);
}

function isMine(pod: Pod): boolean {
  const { metadata, spec } = pod;
  if (spec.nodeName || hasEnded(pod)) return false;
  return metadata.deletionTimestamp === undefined && (spec.schedulerName ?? schedulerName) === schedulerName;
}

function unschedulable(message: string): Extract<SchedulingStep, { action: 'wait' }> {
  return { action: 'wait', reason: 'Unschedulable', message };
}

function claimObstacle({ name, isThere, isBound, ...claim }: ClaimFacts): string | undefined {
  const { foreignText, isMadeForPod, waitsForUser } = claim;
  if (!isThere && isMadeForPod)
    return `waiting for ephemeral volume controller to create the persistentvolumeclaim "${name}"`;
  if (!isThere) return `persistentvolumeclaim "${name}" not found`;
  if (foreignText !== undefined) return foreignText;
  return isBound || waitsForUser ? undefined : 'pod has unbound immediate PersistentVolumeClaims';
}

/** Why a node does not take a pod, in the words of the scheduler. */
export function obstaclesOf(facts: SchedulingFacts, node: NodeObject): readonly string[] {
  const { pod, labelsOfNamespace } = facts;
  const unable = conditionOf(node, 'ContainersRunnable');
  if (unable?.status === 'False')
    return [`node(s) cannot run containers: ${unable.message ?? unable.reason}`];
  const peers = [...podsOn(facts, node), ...facts.machinesOn(node.metadata.name ?? '').peers];
  const misfit =
    nodeMisfitOf(pod.spec, node, 'pod') ?? peerMisfitOf(pod, { node, peers, labelsOfNamespace, noun: 'pod' });
  if (misfit) return [misfit.text.replace(/^1 /, '')];
  return [...portObstacles(facts, node), ...shortages(facts, node)];
}

function conditionOf({ status }: NodeObject, type: string): NodeCondition | undefined {
  return status?.conditions?.find((condition) => condition.type === type);
}

export function podsOn({ pod, assigned }: SchedulingFacts, { metadata }: NodeObject): readonly Pod[] {
  return assigned.filter(
    (other) =>
      other.spec.nodeName === metadata.name && !hasEnded(other) && other.metadata.uid !== pod.metadata.uid,
  );
}

function portObstacles(facts: SchedulingFacts, node: NodeObject): readonly string[] {
  const wanted = hostPorts(facts.pod);
  const taken = podsOn(facts, node).flatMap(hostPorts);
  const isTaken = wanted.some((port) => taken.some((other) => collides(port, other)));
  return isTaken ? ["node(s) didn't have free ports for the requested pod ports"] : [];
}

interface HostPort {
  readonly port: number;
  readonly protocol: string;
  readonly address: string;
}

function hostPorts({ spec }: Pod): readonly HostPort[] {
  const ports = [...(spec.initContainers ?? []), ...spec.containers].flatMap(({ ports: own = [] }) => own);
  return ports.flatMap(({ hostPort, hostIP, protocol }) =>
    hostPort ? [{ port: hostPort, protocol: protocol ?? 'TCP', address: hostIP || '0.0.0.0' }] : [],
  );
}

function collides(a: HostPort, b: HostPort): boolean {
  const isSameAddress = a.address === b.address || a.address === '0.0.0.0' || b.address === '0.0.0.0';
  return a.port === b.port && a.protocol === b.protocol && isSameAddress;
}

/** What is used of a node: by pods, each one counted, and by machines. */
function usedOn(facts: SchedulingFacts, node: NodeObject): ResourceAmounts {
  const pods = podsOn(facts, node);
  const machines = facts.machinesOn(node.metadata.name ?? '').used;
  return sum([...pods.map(({ spec }) => podRequests(spec)), machines, { pods: pods.length }]);
}

function shortages(facts: SchedulingFacts, node: NodeObject): readonly string[] {
  const allocatable = amountsOf(node.status?.allocatable);
  const used = usedOn(facts, node);
  const wanted: ResourceAmounts = { ...podRequests(facts.pod.spec), pods: 1 };
  return Object.entries(wanted)
    .filter(([name, amount]) => amount > 0 && amount > (allocatable[name] ?? 0) - (used[name] ?? 0))
    .map(([name]) => (name === 'pods' ? 'Too many pods' : `Insufficient ${name}`));
}

/** 0 to 1: of processors and memory, what is left where least is left. */
function freeShare(facts: SchedulingFacts, node: NodeObject): number {
  const allocatable = amountsOf(node.status?.allocatable);
  const used = usedOn(facts, node);
  const shares = ['cpu', 'memory'].map((name) => 1 - (used[name] ?? 0) / (allocatable[name] || 1));
  return Math.min(...shares);
}

function byName(a: NodeObject, b: NodeObject): number {
  return (a.metadata.name ?? '').localeCompare(b.metadata.name ?? '');
}

function refusal(obstacles: readonly (readonly string[])[]): string {
  const counts = new Map<string, number>();
  for (const text of obstacles.flat()) counts.set(text, (counts.get(text) ?? 0) + 1);
  const parts = [...counts].map(([text, count]) => `${count} ${text}`).toSorted((a, b) => a.localeCompare(b));
  return `0/${obstacles.length} nodes are available: ${parts.join(', ')}.`;
}
