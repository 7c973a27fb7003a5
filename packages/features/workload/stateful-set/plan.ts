import type { ControllerRevision, PersistentVolumeClaim, Pod, StatefulSet } from '@sheaf/api/workload/index';
import { claimsOf } from '../pods/ownership.ts';
import { hasEnded, isAvailable, nextAvailableInMs } from '../pods/pod-state.ts';
import {
  claimsFor,
  firstOrdinal,
  isRunningAndReady,
  ordinalOf,
  podName,
  replicasOf,
  revisionNameOf,
} from './ordinal-pod.ts';

export interface StatefulSetFacts {
  readonly set: StatefulSet;
  /** All of its namespace. */
  readonly pods: readonly Pod[];
  readonly claims: readonly PersistentVolumeClaim[];
  /** The revision of its template. */
  readonly update: ControllerRevision;
  /** The one before, while pods of it are kept; else the same. */
  readonly current: ControllerRevision;
  readonly nowMs: number;
}

export interface GoingClaims {
  readonly ordinal: number;
  readonly names: readonly string[];
}

export type StatefulSetStep =
  /** `waitsFor`: a pod that the next ones wait for. `going`: claims that a pod waits to be gone: on these it could never start. */
  | { readonly action: 'none'; readonly waitsFor?: string; readonly going?: GoingClaims }
  | { readonly action: 'adopt' | 'release'; readonly pods: readonly Pod[] }
  | { readonly action: 'create-claims'; readonly claims: readonly PersistentVolumeClaim[] }
  | { readonly action: 'create'; readonly ordinals: readonly number[] }
  | { readonly action: 'delete'; readonly pods: readonly Pod[] };

/** Pods by their place: those that are wanted, and those that are too many, the highest first. */
export interface Places {
  readonly wanted: readonly { readonly ordinal: number; readonly pod: Pod | undefined }[];
  readonly condemned: readonly Pod[];
}

const none: StatefulSetStep = { action: 'none' };

/** The next step of a stateful set: one pod after the other, unless it says that they may come together. */
export function planStatefulSet(facts: StatefulSetFacts): StatefulSetStep {
  const { set, pods } = facts;
  const { owned, orphans, strays } = claimsOf(set, pods);
  if (strays.length > 0) return { action: 'release', pods: strays };
  const adopted = orphans.filter((pod) => ordinalOf(pod, set) !== undefined);
  if (adopted.length > 0) return { action: 'adopt', pods: adopted };
  if (set.metadata.deletionTimestamp !== undefined) return none;
  const places = placesOf(set, owned);
  return (
    planEnded(places) ??
    planClaims(facts, places) ??
    planMissing(facts, places) ??
    planUnready(facts, places) ??
    planSurplus(facts, places) ??
    planUpdate(facts, places) ??
    none
  );
}

export function placesOf(set: StatefulSet, owned: readonly Pod[]): Places {
  const byOrdinal = new Map(owned.map((pod) => [ordinalOf(pod, set), pod]));
  const first = firstOrdinal(set);
  const end = first + replicasOf(set);
  const wanted = Array.from({ length: replicasOf(set) }, (_, index) => ({
    ordinal: first + index,
    pod: byOrdinal.get(first + index),
  }));
  const rest = owned.filter((pod) => {
    const ordinal = ordinalOf(pod, set);
    return ordinal !== undefined && (ordinal < first || ordinal >= end);
  });
  return { wanted, condemned: rest.toSorted((a, b) => (ordinalOf(b, set) ?? 0) - (ordinalOf(a, set) ?? 0)) };
}

/** Which revision a pod of an ordinal is to be of: those below the partition keep the one before. */
export function revisionFor({ set, current, update }: StatefulSetFacts, ordinal: number): ControllerRevision {
  return ordinal < firstUpdated(set) ? current : update;
}

function firstUpdated(set: StatefulSet): number {
  const { type, rollingUpdate } = set.spec.updateStrategy ?? {};
  return firstOrdinal(set) + (type === 'OnDelete' ? 0 : (rollingUpdate?.partition ?? 0));
}

export function recheckInMs({ set, pods, nowMs }: StatefulSetFacts): number | undefined {
  return nextAvailableInMs(claimsOf(set, pods).owned, set.spec.minReadySeconds ?? 0, nowMs);
}

function isParallel({ spec }: StatefulSet): boolean {
  return spec.podManagementPolicy === 'Parallel';
}

/** A pod that has ended is made anew, under its name. */
function planEnded({ wanted }: Places): StatefulSetStep | undefined {
  const ended = wanted.flatMap(({ pod }) => (pod && hasEnded(pod) && isStaying(pod) ? [pod] : []));
  return ended.length > 0 ? { action: 'delete', pods: ended } : undefined;
}

/** A claim that has gone from under a pod is made anew, while the pod can still wait for it. */
function planClaims(facts: StatefulSetFacts, { wanted }: Places): StatefulSetStep | undefined {
  const waiting = wanted.filter(({ pod }) => pod && isStaying(pod) && pod.status?.phase === 'Pending');
  const claims = waiting.flatMap(({ ordinal }) => missingClaims(facts, ordinal));
  return claims.length > 0 ? { action: 'create-claims', claims } : undefined;
}

function planMissing(facts: StatefulSetFacts, { wanted }: Places): StatefulSetStep | undefined {
  const { set } = facts;
  const first = wanted.findIndex(({ pod }) => pod === undefined);
  if (first < 0) return undefined;
  const blocker = isParallel(set)
    ? undefined
    : wanted.slice(0, first).find(({ pod }) => pod && !isSettled(pod, facts));
  if (blocker?.pod) return undefined;
  const missing = wanted.filter(({ pod }) => pod === undefined).map(({ ordinal }) => ordinal);
  const ordinals = isParallel(set) ? missing : missing.slice(0, 1);
  const claims = ordinals.flatMap((ordinal) => missingClaims(facts, ordinal));
  if (claims.length > 0) return { action: 'create-claims', claims };
  const ready = ordinals.filter((ordinal) => goingClaims(facts, ordinal).length === 0);
  const [blocked = 0] = ordinals;
  return ready.length > 0
    ? { action: 'create', ordinals: ready }
    : { action: 'none', going: { ordinal: blocked, names: goingClaims(facts, blocked) } };
}

function missingClaims({ set, claims }: StatefulSetFacts, ordinal: number): readonly PersistentVolumeClaim[] {
  const known = new Set(claims.map(({ metadata }) => metadata.name));
  return claimsFor(set, ordinal).filter(({ metadata }) => !known.has(metadata.name));
}

/** Names of claims of an ordinal that are being deleted. */
function goingClaims({ set, claims }: StatefulSetFacts, ordinal: number): readonly string[] {
  const names = new Set(claimsFor(set, ordinal).map(({ metadata }) => metadata.name));
  return claims
    .filter(({ metadata }) => names.has(metadata.name) && metadata.deletionTimestamp !== undefined)
    .map(({ metadata }) => metadata.name ?? '');
}

/**
 * Where pods come one after the other, one that does not become ready holds up the rest. One of a template that is not wanted any
 * more will never be: it is made anew, so that going back from a broken template works without anybody's help.
 */
function planUnready(facts: StatefulSetFacts, { wanted }: Places): StatefulSetStep | undefined {
  const { set } = facts;
  if (isParallel(set) || set.spec.updateStrategy?.type === 'OnDelete') return undefined;
  const blocker = wanted.find(({ pod }) => pod && !isSettled(pod, facts));
  if (!blocker?.pod) return undefined;
  const { pod, ordinal } = blocker;
  const isOutdated = revisionNameOf(pod) !== revisionFor(facts, ordinal).metadata.name;
  if (isOutdated && isStaying(pod) && !isRunningAndReady(pod)) return { action: 'delete', pods: [pod] };
  return { action: 'none', waitsFor: podName(set, ordinal) };
}

/** Surplus pods go from the highest ordinal down, each one only when the one above it is gone; ready or not. */
function planSurplus({ set }: StatefulSetFacts, { condemned }: Places): StatefulSetStep | undefined {
  const going = isParallel(set) ? condemned : condemned.slice(0, 1);
  const staying = going.filter(isStaying);
  if (staying.length > 0) return { action: 'delete', pods: staying };
  return going[0] && { action: 'none', waitsFor: going[0].metadata.name ?? '' };
}

/** From the highest ordinal down; pods that do not serve anyway first. */
function planUpdate(facts: StatefulSetFacts, { wanted }: Places): StatefulSetStep | undefined {
  const { set } = facts;
  if (set.spec.updateStrategy?.type === 'OnDelete') return undefined;
  const outdated = wanted
    .flatMap(({ pod, ordinal }) =>
      pod && isStaying(pod) && revisionNameOf(pod) !== revisionFor(facts, ordinal).metadata.name ? [pod] : [],
    )
    .toReversed();
  const broken = outdated.filter((pod) => !isSettled(pod, facts));
  if (broken.length > 0) return { action: 'delete', pods: broken };
  const unsettled = wanted.filter(({ pod }) => !pod || !isSettled(pod, facts));
  const room = unavailableRoom(set) - unsettled.length;
  if (outdated.length > 0 && room > 0) return { action: 'delete', pods: outdated.slice(0, room) };
  return unsettled[0] && { action: 'none', waitsFor: podName(set, unsettled[0].ordinal) };
}

function unavailableRoom(set: StatefulSet): number {
  const value = set.spec.updateStrategy?.rollingUpdate?.maxUnavailable;
  if (value === undefined) return 1;
  const amount =
    typeof value === 'number' ? value : Math.ceil((Number.parseInt(value, 10) * replicasOf(set)) / 100);
  return Math.max(1, amount);
}

function isStaying({ metadata }: Pod): boolean {
  return metadata.deletionTimestamp === undefined;
}

/** Running, ready for as long as it has to be, and not on its way out. */
function isSettled(pod: Pod, { set, nowMs }: StatefulSetFacts): boolean {
  return isStaying(pod) && isRunningAndReady(pod) && isAvailable(pod, set.spec.minReadySeconds ?? 0, nowMs);
}
