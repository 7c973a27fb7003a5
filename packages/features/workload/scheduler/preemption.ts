import type { NodeObject } from '@sheaf/api/node/index';
import type { Pod } from '@sheaf/api/workload/index';
import { hasEnded } from '../pods/pod-state.ts';
import { obstaclesOf, podsOn, type SchedulingFacts } from './plan.ts';

/** Pods that make room for a more important one. */
export interface Preemption {
  readonly nodeName: string;
  /** They fit all but these, the less important ones. */
  readonly victims: readonly Pod[];
}

export function priorityOf({ spec }: Pod): number {
  return spec.priority ?? 0;
}

/**
 * Which pods are ended so that a more important one, which no node takes, has a place: as few and as unimportant ones as will do, and
 * such as a budget protects only where it does not go without. `undefined`: none would help, or those that were ended are waited for.
 */
export function planPreemption(
  facts: SchedulingFacts,
  isProtected: (pod: Pod) => boolean,
): Preemption | undefined {
  if (facts.pod.spec.preemptionPolicy === 'Never' || isMakingRoom(facts)) return undefined;
  const plans = facts.nodes
    .map((node) => planOn(facts, node, isProtected))
    .filter((plan) => plan !== undefined);
  const costs = (plan: Preemption): readonly number[] => [
    plan.victims.filter(isProtected).length,
    Math.max(...plan.victims.map(priorityOf)),
    plan.victims.length,
  ];
  return plans.toSorted((a, b) => compare(costs(a), costs(b)) || (a.nodeName < b.nodeName ? -1 : 1))[0];
}

/** Pods that are on their way out for its sake have not gone yet. */
export function isMakingRoom({ pod, assigned }: Pick<SchedulingFacts, 'pod' | 'assigned'>): boolean {
  const nodeName = pod.status?.nominatedNodeName;
  return (
    nodeName !== undefined &&
    assigned.some((other) => other.spec.nodeName === nodeName && isLeaving(other) && isBelow(other, pod))
  );
}

/**
 * Pods with the place that was made for them: to those that are no more important it is taken. Of equals the first by name has it, so
 * that no two wait for each other.
 */
export function withPromised(pod: Pod, pods: readonly Pod[]): readonly Pod[] {
  return pods.flatMap((other): readonly Pod[] => {
    if (other.spec.nodeName) return [other];
    const nodeName = other.status?.nominatedNodeName;
    const isPromised = nodeName !== undefined && !isLeaving(other) && !hasEnded(other);
    return isPromised && isBefore(other, pod) ? [{ ...other, spec: { ...other.spec, nodeName } }] : [];
  });
}

function isBefore(a: Pod, b: Pod): boolean {
  if (a.metadata.uid === b.metadata.uid) return false;
  const [first, second] = [priorityOf(a), priorityOf(b)];
  return first > second || (first === second && nameOf(a) < nameOf(b));
}

function planOn(
  facts: SchedulingFacts,
  node: NodeObject,
  isProtected: (pod: Pod) => boolean,
): Preemption | undefined {
  const { pod, assigned } = facts;
  const lower = podsOn(facts, node).filter((other) => isBelow(other, pod) && !isLeaving(other));
  let kept: readonly Pod[] = assigned.filter((other) => !lower.includes(other));
  const fits = (pods: readonly Pod[]): boolean =>
    obstaclesOf({ ...facts, assigned: pods }, node).length === 0;
  if (lower.length === 0 || !fits(kept)) return undefined;
  const victims: Pod[] = [];
  const rank = (other: Pod): readonly number[] => [Number(isProtected(other)), priorityOf(other)];
  for (const other of lower.toSorted((a, b) => compare(rank(b), rank(a)) || (nameOf(a) < nameOf(b) ? -1 : 1)))
    if (fits([...kept, other])) kept = [...kept, other];
    else victims.push(other);
  return { nodeName: node.metadata.name ?? '', victims };
}

function isBelow(other: Pod, pod: Pod): boolean {
  return priorityOf(other) < priorityOf(pod);
}

function isLeaving({ metadata }: Pod): boolean {
  return metadata.deletionTimestamp !== undefined;
}

function nameOf({ metadata }: Pod): string {
  return `${metadata.namespace}/${metadata.name}`;
}

function compare(a: readonly number[], b: readonly number[]): number {
  const index = a.findIndex((value, at) => value !== b[at]);
  return index < 0 ? 0 : (a[index] ?? 0) - (b[index] ?? 0);
}
