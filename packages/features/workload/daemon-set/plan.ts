import type { NodeObject } from '@sheaf/api/node/index';
import type { ControllerRevision, DaemonSet, Pod } from '@sheaf/api/workload/index';
import { revisionHashLabel, revisionHashOf } from '../pods/controller-revision.ts';
import { claimsOf } from '../pods/ownership.ts';
import { hasEnded, isAvailable, nextAvailableInMs } from '../pods/pod-state.ts';
import { judgeNode, type NodeVerdict, nodeNameOf } from './daemon-pod.ts';

export interface DaemonSetFacts {
  readonly set: DaemonSet;
  readonly nodes: readonly NodeObject[];
  /** All of its namespace. */
  readonly pods: readonly Pod[];
  /** The revision of its template. */
  readonly update: ControllerRevision;
  readonly nowMs: number;
}

export type DaemonSetStep =
  | { readonly action: 'none' }
  | { readonly action: 'adopt' | 'release'; readonly pods: readonly Pod[] }
  | { readonly action: 'create'; readonly nodeNames: readonly string[] }
  | { readonly action: 'delete'; readonly pods: readonly Pod[] }
  /** They have ended by themselves: they are made anew, not at once if that happens again and again. */
  | { readonly action: 'replace'; readonly pods: readonly Pod[] };

/** A node, whether it is to have a pod, and those it has, oldest first. */
export interface NodePlace {
  readonly name: string;
  readonly verdict: NodeVerdict;
  readonly pods: readonly Pod[];
}

const none: DaemonSetStep = { action: 'none' };

/** The next step of a daemon set: a pod on each node that is to have one. */
export function planDaemonSet(facts: DaemonSetFacts): DaemonSetStep {
  const { set, pods } = facts;
  const { orphans, strays } = claimsOf(set, pods);
  if (strays.length > 0) return { action: 'release', pods: strays };
  if (orphans.length > 0) return { action: 'adopt', pods: orphans };
  if (set.metadata.deletionTimestamp !== undefined) return none;
  const places = placesOf(facts);
  return (
    planGone(facts, places) ??
    planSurplus(facts, places) ??
    planMissing(places) ??
    planUpdate(facts, places) ??
    none
  );
}

export function placesOf({ set, nodes, pods }: DaemonSetFacts): readonly NodePlace[] {
  const owned = claimsOf(set, pods).owned.toSorted((a, b) =>
    (a.metadata.creationTimestamp ?? '').localeCompare(b.metadata.creationTimestamp ?? ''),
  );
  return nodes.map((node) => {
    const { name = '' } = node.metadata;
    const verdict = judgeNode(set.spec.template, node);
    return { name, verdict, pods: owned.filter((pod) => nodeNameOf(pod) === name) };
  });
}

export function isUpdated({ metadata }: Pod, { update }: DaemonSetFacts): boolean {
  return metadata.labels?.[revisionHashLabel] === revisionHashOf(update);
}

export function isPodAvailable(pod: Pod, { set, nowMs }: DaemonSetFacts): boolean {
  return isAvailable(pod, set.spec.minReadySeconds ?? 0, nowMs);
}

export function recheckInMs({ set, pods, nowMs }: DaemonSetFacts): number | undefined {
  return nextAvailableInMs(claimsOf(set, pods).owned, set.spec.minReadySeconds ?? 0, nowMs);
}

function isStaying({ metadata }: Pod): boolean {
  return metadata.deletionTimestamp === undefined;
}

/** Pods that have ended, and those of nodes that are gone. */
function planGone(
  { set, nodes, pods }: DaemonSetFacts,
  places: readonly NodePlace[],
): DaemonSetStep | undefined {
  const known = new Set(nodes.map(({ metadata }) => metadata.name));
  const lost = claimsOf(set, pods).owned.filter((pod) => isStaying(pod) && !known.has(nodeNameOf(pod) ?? ''));
  if (lost.length > 0) return { action: 'delete', pods: lost };
  const ended = places.flatMap(({ pods: here }) => here.filter((pod) => hasEnded(pod) && isStaying(pod)));
  return ended.length > 0 ? { action: 'replace', pods: ended } : undefined;
}

/** Pods where none may be, and second ones. */
function planSurplus(facts: DaemonSetFacts, places: readonly NodePlace[]): DaemonSetStep | undefined {
  const surplus = places.flatMap(({ verdict, pods }) => {
    const staying = pods.filter(isStaying);
    if (!verdict.mayStay) return staying;
    return isSurging(facts) ? surplusOfSurge(facts, staying) : staying.slice(1);
  });
  return surplus.length > 0 ? { action: 'delete', pods: surplus } : undefined;
}

/** The old one goes when the new one serves; of each kind one is enough. */
function surplusOfSurge(facts: DaemonSetFacts, staying: readonly Pod[]): readonly Pod[] {
  const [next, ...moreNext] = staying.filter((pod) => isUpdated(pod, facts));
  const [old, ...moreOld] = staying.filter((pod) => !isUpdated(pod, facts));
  const isDone = next !== undefined && isPodAvailable(next, facts);
  return [...moreNext, ...moreOld, ...(old && isDone ? [old] : [])];
}

function planMissing(places: readonly NodePlace[]): DaemonSetStep | undefined {
  // One that is on its way out has to be gone: two of them would be in each other's way.
  const empty = places.filter(({ verdict, pods }) => verdict.shouldRun && pods.length === 0);
  return empty.length > 0 ? { action: 'create', nodeNames: empty.map(({ name }) => name) } : undefined;
}

function planUpdate(facts: DaemonSetFacts, places: readonly NodePlace[]): DaemonSetStep | undefined {
  if (facts.set.spec.updateStrategy?.type === 'OnDelete') return undefined;
  const running = places.filter(({ verdict }) => verdict.shouldRun);
  return isSurging(facts) ? planSurge(facts, running) : planReplacement(facts, running);
}

function planReplacement(facts: DaemonSetFacts, places: readonly NodePlace[]): DaemonSetStep | undefined {
  const serves = ({ pods }: NodePlace): boolean =>
    pods.some((pod) => isStaying(pod) && isPodAvailable(pod, facts));
  const unavailable = places.filter((place) => !serves(place)).length;
  const outdated = places.flatMap(({ pods }) =>
    pods.filter((pod) => isStaying(pod) && !isUpdated(pod, facts)),
  );
  const broken = outdated.filter((pod) => !isPodAvailable(pod, facts));
  const room = Math.max(0, maxUnavailable(facts, places.length) - unavailable);
  const next = outdated.filter((pod) => isPodAvailable(pod, facts)).slice(0, room);
  return broken.length + next.length > 0 ? { action: 'delete', pods: [...broken, ...next] } : undefined;
}

function planSurge(facts: DaemonSetFacts, places: readonly NodePlace[]): DaemonSetStep | undefined {
  const hasNext = ({ pods }: NodePlace): boolean => pods.some((pod) => isUpdated(pod, facts));
  const surging = places.filter(
    ({ pods, ...place }) => hasNext({ pods, ...place }) && pods.length > 1,
  ).length;
  const waiting = places.filter((place) => !hasNext(place) && place.pods.length === 1);
  const room = Math.max(0, maxSurge(facts, places.length) - surging);
  const next = waiting.slice(0, room).map(({ name }) => name);
  return next.length > 0 ? { action: 'create', nodeNames: next } : undefined;
}

function isSurging(facts: DaemonSetFacts): boolean {
  return maxSurge(facts, 1) > 0;
}

function maxSurge({ set }: DaemonSetFacts, nodes: number): number {
  return amount(set.spec.updateStrategy?.rollingUpdate?.maxSurge ?? 0, nodes);
}

function maxUnavailable({ set }: DaemonSetFacts, nodes: number): number {
  return Math.max(1, amount(set.spec.updateStrategy?.rollingUpdate?.maxUnavailable ?? 1, nodes));
}

function amount(value: number | string, nodes: number): number {
  return typeof value === 'number' ? value : Math.ceil((Number.parseInt(value, 10) * nodes) / 100);
}
