import type { Container, Pod } from '@sheaf/api/workload/index';
import {
  ephemeralToStart,
  isInitDone,
  mainContainersToStart,
  nextInitContainers,
} from './container-order.ts';
import { type EndReason, planEnd } from './pod-end.ts';
import { isSidecar, policyOf, type RestartPolicy } from './restart.ts';
import type { ContainerRun, PodSandbox } from './run-ids.ts';

/** What the checks of a running container say. */
export interface ProbeFacts {
  readonly isStarted: boolean;
  readonly isReady: boolean;
  /** Why it has to be ended. */
  readonly failure?: ProbeFailure;
}

/** A check that has failed too often. */
export interface ProbeFailure {
  readonly probe: 'liveness' | 'startup';
  /** The time of grace that it gives instead of the pod. */
  readonly graceSeconds?: number;
}

export interface PodFacts {
  readonly pod: Pod;
  /** Oldest first. */
  readonly sandboxes: readonly PodSandbox[];
  readonly runs: ReadonlyMap<string, readonly ContainerRun[]>;
  /** Whether everything that it mounts is there. */
  readonly areVolumesReady: boolean;
  /** Whether anything of its volumes is on this host. */
  readonly hasVolumes: boolean;
  /** By container; of its newest run. */
  readonly probes: ReadonlyMap<string, ProbeFacts>;
  /** A container that has just started has a hook under way: none is started meanwhile. */
  readonly isHookUnderWay: boolean;
  readonly nowMs: number;
}

/** A run that is to be: the image and everything else that it needs are looked for when it is taken. */
export interface RunOrder {
  readonly container: Container;
  readonly attempt: number;
  readonly crashes: number;
  readonly sandboxId: string;
}

export type PodStep =
  | { readonly action: 'start-sandbox'; readonly attempt: number }
  | { readonly action: 'start'; readonly order: RunOrder }
  | {
      readonly action: 'stop';
      readonly runs: readonly ContainerRun[];
      readonly graceMs: number;
      readonly reason: EndReason;
    }
  /** Runs that nobody will ask about any more. */
  | { readonly action: 'remove-runs'; readonly runs: readonly ContainerRun[] }
  | { readonly action: 'end-sandbox'; readonly sandboxes: readonly PodSandbox[] }
  | { readonly action: 'remove-sandbox'; readonly sandboxes: readonly PodSandbox[] }
  | { readonly action: 'remove-volumes' }
  /** Nothing of it is left on this host. */
  | { readonly action: 'let-go' };

/** What is to be done for a pod now; several containers may start at once. */
export function planPod(facts: PodFacts): readonly PodStep[] {
  const end = planEnd(facts);
  if (end) return end;
  if (!facts.areVolumesReady) return [];
  const sandbox = facts.sandboxes.at(-1);
  if (sandbox?.sandbox.state !== 'ready') return [planSandbox(facts)];
  return [
    ...planChanged(facts),
    ...planProbeFailures(facts),
    ...planStarts(facts, sandbox.sandbox.id),
    ...planOldRuns(facts),
  ];
}

/** A sandbox that has ended, as after a restart of the host, is followed by another one. */
function planSandbox({ sandboxes }: PodFacts): PodStep {
  const newest = sandboxes.at(-1);
  if (!newest) return { action: 'start-sandbox', attempt: 0 };
  const isStarting = newest.sandbox.state === 'starting';
  return { action: 'start-sandbox', attempt: isStarting ? newest.attempt : newest.attempt + 1 };
}

function planProbeFailures({ pod, runs, probes }: PodFacts): readonly PodStep[] {
  return [...runs.values()].flatMap((all): PodStep[] => {
    const run = all.at(-1);
    const failure = run && run.observed.state === 'running' ? probes.get(run.container)?.failure : undefined;
    if (!run || failure === undefined) return [];
    const { probe, graceSeconds = pod.spec.terminationGracePeriodSeconds ?? 30 } = failure;
    const comesBack = policyOfName(pod, run.container) !== 'Never';
    const reason = { kind: 'probe', probe, comesBack } as const;
    return [{ action: 'stop', runs: [run], graceMs: graceSeconds * 1000, reason }];
  });
}

/** Of what a pod is, its images alone may be changed: what runs with another one makes way, where it comes back. */
function planChanged({ pod, runs }: PodFacts): readonly PodStep[] {
  const sidecars = (pod.spec.initContainers ?? []).filter(isSidecar);
  return [...pod.spec.containers, ...sidecars].flatMap((container): readonly PodStep[] => {
    const run = runs.get(container.name)?.at(-1);
    const isOther = run?.image !== undefined && run.image !== container.image;
    if (run?.observed.state !== 'running' || !isOther) return [];
    if (policyOf(pod, container, false) !== 'Always') return [];
    const graceMs = (pod.spec.terminationGracePeriodSeconds ?? 30) * 1000;
    return [{ action: 'stop', runs: [run], graceMs, reason: { kind: 'changed' } }];
  });
}

function policyOfName(pod: Pod, name: string): RestartPolicy {
  const init = pod.spec.initContainers?.find((container) => container.name === name);
  const container = init ?? pod.spec.containers.find((each) => each.name === name);
  return container ? policyOf(pod, container, init !== undefined) : 'Never';
}

function planStarts(facts: PodFacts, sandboxId: string): readonly PodStep[] {
  const orders = [...ephemeralToStart(facts, sandboxId), ...ownToStart(facts, sandboxId)];
  return orders.map((order) => ({ action: 'start', order }));
}

function ownToStart(facts: PodFacts, sandboxId: string): readonly RunOrder[] {
  if (facts.isHookUnderWay) return [];
  const init = nextInitContainers(facts, sandboxId);
  return isInitDone(facts, sandboxId) ? [...init, ...mainContainersToStart(facts, sandboxId)] : init;
}

/** The newest run, and the one before it for its log, are kept. */
function planOldRuns({ runs }: PodFacts): readonly PodStep[] {
  const old = [...runs.values()].flatMap((all) =>
    all.slice(0, -2).filter(({ observed }) => observed.state === 'ended'),
  );
  return old.length > 0 ? [{ action: 'remove-runs', runs: old }] : [];
}
