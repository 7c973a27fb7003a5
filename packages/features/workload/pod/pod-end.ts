import type { Container, Pod } from '@sheaf/api/workload/index';
import { runsIn } from './container-order.ts';
import { areEndsTold } from './last-words.ts';
import type { PodFacts, PodStep, ProbeFailure } from './plan.ts';
import { hasSucceeded, isSidecar, policyAfter } from './restart.ts';
import type { ContainerRun } from './run-ids.ts';

/** Why containers are ended. */
export type EndReason =
  | { readonly kind: 'deleted' }
  | { readonly kind: 'done' }
  | { readonly kind: 'deadline' }
  | { readonly kind: 'evicted' }
  | { readonly kind: 'changed' }
  | { readonly kind: 'probe'; readonly probe: ProbeFailure['probe']; readonly comesBack: boolean };

export type TerminalPhase = 'Succeeded' | 'Failed';

/** What a pod that ends, or has ended, still needs; `undefined` for one that goes on. */
export function planEnd(facts: PodFacts): readonly PodStep[] | undefined {
  const { pod } = facts;
  if (pod.metadata.deletionTimestamp !== undefined)
    return planStop(facts, { kind: 'deleted' }) ?? planRemoval(facts);
  if (isTold(pod)) return planStop(facts, { kind: 'evicted' }) ?? planRest(facts);
  if (deadlineInMs(pod, facts.nowMs) === 0) return planStop(facts, { kind: 'deadline' }) ?? planRest(facts);
  if (terminalPhase(facts) !== undefined) return planStop(facts, { kind: 'done' }) ?? planRest(facts);
  return undefined;
}

/** Somebody else has said that it is over: an eviction, or an earlier pass. */
function isTold({ status }: Pod): boolean {
  return status?.phase === 'Failed' || status?.phase === 'Succeeded';
}

/** By itself, and the API does not know yet. */
export function hasJustEnded(facts: PodFacts): boolean {
  const { pod, runs } = facts;
  if (pod.metadata.deletionTimestamp !== undefined || isTold(pod)) return false;
  const isQuiet = [...runs.values()].flat().every(({ observed }) => observed.state === 'ended');
  return isQuiet && terminalPhase(facts) !== undefined;
}

/** How it has ended; `undefined` while it has not. A pod whose containers have not all run has not ended. */
export function terminalPhase(facts: PodFacts): TerminalPhase | undefined {
  const { pod, sandboxes } = facts;
  const sandboxId = sandboxes.at(-1)?.sandbox.id;
  if (sandboxId === undefined || pod.spec.restartPolicy === undefined || pod.spec.restartPolicy === 'Always')
    return undefined;
  const initFailed = (pod.spec.initContainers ?? []).some((container) =>
    isFinalFailure(facts, container, { sandboxId, isInit: true }),
  );
  if (initFailed) return 'Failed';
  const ends = pod.spec.containers.map((container) => finalRun(facts, container, sandboxId));
  if (ends.some((run) => run === undefined)) return undefined;
  return ends.every((run) => hasSucceeded(run?.observed.end)) ? 'Succeeded' : 'Failed';
}

function isFinalFailure(
  facts: PodFacts,
  container: Container,
  { sandboxId, isInit }: { readonly sandboxId: string; readonly isInit: boolean },
): boolean {
  const run = runsIn(facts, container, sandboxId).at(-1);
  if (run?.observed.state !== 'ended' || hasSucceeded(run.observed.end)) return false;
  return policyAfter(facts.pod, container, { isInit, end: run.observed.end }) === 'Never';
}

/** The run after which a container is not started again. */
function finalRun(facts: PodFacts, container: Container, sandboxId: string): ContainerRun | undefined {
  const run = runsIn(facts, container, sandboxId).at(-1);
  if (run?.observed.state !== 'ended') return undefined;
  const { end } = run.observed;
  const policy = policyAfter(facts.pod, container, { isInit: false, end });
  const comesBack = policy === 'Always' || (policy === 'OnFailure' && !hasSucceeded(end));
  return comesBack ? undefined : run;
}

/** How a pod that is deleted has ended, once nothing of it runs any more: its owner goes by that. */
export function deletedPhase({ pod, runs }: Pick<PodFacts, 'pod' | 'runs'>): TerminalPhase | undefined {
  if (pod.metadata.deletionTimestamp === undefined || runs.size === 0) return undefined;
  const ends = pod.spec.containers.map(({ name }) => runs.get(name)?.at(-1)?.observed.end);
  return ends.every(hasSucceeded) ? 'Succeeded' : 'Failed';
}

/** Until its time is over; `undefined` without a deadline. */
export function deadlineInMs({ spec, status }: Pod, nowMs: number): number | undefined {
  if (spec.activeDeadlineSeconds === undefined || status?.startTime === undefined) return undefined;
  return Math.max(0, Date.parse(status.startTime) + spec.activeDeadlineSeconds * 1000 - nowMs);
}

/** Main containers first; sidecars, last started first, when those have ended. What never started goes with its sandbox. */
function planStop(facts: PodFacts, reason: EndReason): readonly PodStep[] | undefined {
  const { pod, runs } = facts;
  const live = [...runs.values()].flat().filter(({ observed }) => observed.state === 'running');
  if (live.length === 0) return undefined;
  const sidecars = (pod.spec.initContainers ?? []).filter(isSidecar).map(({ name }) => name);
  const first = live.filter(({ container }) => !sidecars.includes(container));
  const last = sidecars.toReversed().flatMap((name) => live.filter(({ container }) => container === name));
  const next = first.length > 0 ? first : last.slice(0, 1);
  return [{ action: 'stop', runs: next, graceMs: graceLeftMs(facts), reason }];
}

/** Of the whole time that it has to end, what is left. */
function graceLeftMs({ pod, nowMs }: PodFacts): number {
  const { deletionTimestamp, deletionGracePeriodSeconds } = pod.metadata;
  const whole = (deletionGracePeriodSeconds ?? pod.spec.terminationGracePeriodSeconds ?? 30) * 1000;
  if (deletionTimestamp === undefined) return whole;
  // The time of deletion is when its grace is over. Clocks may differ: never more than the whole.
  return Math.max(0, Math.min(whole, Date.parse(deletionTimestamp) - nowMs));
}

/** A pod that has ended keeps its containers, for their logs, but neither network nor volumes once their last words are told. */
function planRest(facts: PodFacts): readonly PodStep[] {
  const { sandboxes, hasVolumes } = facts;
  const open = sandboxes.filter(({ sandbox }) => sandbox.state !== 'ended');
  if (open.length > 0) return [{ action: 'end-sandbox', sandboxes: open }];
  return hasVolumes && areEndsTold(facts) ? [{ action: 'remove-volumes' }] : [];
}

/** Everything that is left, in order. What the API knows ends first, and is told to have ended while there are runs to tell of. */
function planRemoval({ pod, sandboxes, runs, hasVolumes }: PodFacts): readonly PodStep[] {
  const open = sandboxes.filter(({ sandbox }) => sandbox.state !== 'ended');
  const end: readonly PodStep[] = open.length > 0 ? [{ action: 'end-sandbox', sandboxes: open }] : [];
  if (end.length > 0 && pod.metadata.name !== undefined) return end;
  const left = [...runs.values()].flat();
  return [
    ...end,
    ...(left.length > 0 ? [{ action: 'remove-runs', runs: left } as const] : []),
    ...(sandboxes.length > 0 ? [{ action: 'remove-sandbox', sandboxes } as const] : []),
    ...(hasVolumes ? [{ action: 'remove-volumes' } as const] : []),
    { action: 'let-go' },
  ];
}
