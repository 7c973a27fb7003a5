import type { Pod } from '@sheaf/api/workload/index';
import { readySince, restartsOf } from '../pods/pod-state.ts';

const costAnnotation = 'controller.kubernetes.io/pod-deletion-cost';
const phases: readonly string[] = ['Pending', 'Unknown', 'Running'];

/** Less is deleted sooner. */
const rules: readonly ((pod: Pod, nowMs: number) => number)[] = [
  ({ spec }) => (spec.nodeName ? 1 : 0),
  ({ status }) => phases.indexOf(status?.phase ?? 'Pending'),
  (pod) => (readySince(pod) === undefined ? 0 : 1),
  ({ metadata }) => costOf(metadata.annotations?.[costAnnotation]),
  (pod, nowMs) => magnitude(nowMs - (readySince(pod) ?? nowMs)),
  (pod) => -restartsOf(pod),
  ({ metadata }, nowMs) => magnitude(nowMs - Date.parse(metadata.creationTimestamp ?? '')),
];

/** Pods in the order in which a controller with too many of them deletes them: those that are missed least come first. */
export function deletionOrder(pods: readonly Pod[], nowMs: number): readonly Pod[] {
  const ranked = pods.map((pod) => ({ pod, ranks: rules.map((rule) => rule(pod, nowMs)) }));
  return ranked
    .sort((a, b) => firstDifference(a.ranks, b.ranks) || byUid(a.pod, b.pod))
    .map(({ pod }) => pod);
}

function firstDifference(a: readonly number[], b: readonly number[]): number {
  const index = a.findIndex((rank, position) => rank !== b[position]);
  return index < 0 ? 0 : (a[index] ?? 0) - (b[index] ?? 0);
}

/** Any order will do, as long as it stays. */
function byUid(a: Pod, b: Pod): number {
  return (a.metadata.uid ?? '') < (b.metadata.uid ?? '') ? -1 : 1;
}

/** Ages that are about the same do not decide. */
function magnitude(milliseconds: number): number {
  return Math.floor(Math.log2(Math.max(1, milliseconds || 1)));
}

function costOf(text = '0'): number {
  return /^(0|-?[1-9][0-9]{0,9})$/.test(text) ? Number(text) : 0;
}
