import type {
  Container,
  ContainerState,
  ContainerStateTerminated,
  ContainerStatus,
  Pod,
} from '@sheaf/api/workload/index';
import type { ContainerEnd } from '@sheaf/ports';
import { isInitDone } from './container-order.ts';
import type { PodFacts } from './plan.ts';
import { hasSucceeded, isSidecar, policyAfter, restartInMs, restMs } from './restart.ts';
import { type ContainerRun, publicId } from './run-ids.ts';

/** Why a container could not be started in this pass: in the words that kubectl users know. */
export interface StartProblem {
  readonly reason: string;
  readonly message: string;
}

/** What the status tells beside the facts that decide. */
export interface StatusExtras {
  /** By container; of this pass. */
  readonly problems: ReadonlyMap<string, StartProblem>;
  /** What containers left behind as their last words, by run id. */
  readonly messages: ReadonlyMap<string, string>;
  /** By id of an image: how it is named with its digest. */
  readonly imageNames: ReadonlyMap<string, string>;
}

export function containerStatuses(facts: PodFacts, extras: StatusExtras): readonly ContainerStatus[] {
  return facts.pod.spec.containers.map((container) => statusOf(container, { facts, extras, isInit: false }));
}

export function initContainerStatuses(facts: PodFacts, extras: StatusExtras): readonly ContainerStatus[] {
  return (facts.pod.spec.initContainers ?? []).map((container) =>
    statusOf(container, { facts, extras, isInit: true }),
  );
}

export function ephemeralContainerStatuses(
  facts: PodFacts,
  extras: StatusExtras,
): readonly ContainerStatus[] {
  return (facts.pod.spec.ephemeralContainers ?? []).map((container) =>
    statusOf(container, { facts, extras, isInit: false }),
  );
}

interface Surroundings {
  readonly facts: PodFacts;
  readonly extras: StatusExtras;
  readonly isInit: boolean;
}

function statusOf(container: Container, around: Surroundings): ContainerStatus {
  const { name, image = '' } = container;
  const { facts, extras } = around;
  const runs = facts.runs.get(name) ?? [];
  const state = stateOf(container, around);
  const past = state.terminated
    ? runs.slice(0, -1).at(-1)
    : runs.findLast(({ observed }) => observed.state === 'ended');
  return {
    name,
    state,
    lastState: past?.observed.state === 'ended' ? { terminated: terminated(past, extras) } : {},
    ...readinessOf(container, { ...around, state }),
    image,
    ...identityOf(runs.at(-1), extras),
  };
}

function readinessOf(
  container: Container,
  { facts, isInit, state }: Surroundings & { readonly state: ContainerState },
): Pick<ContainerStatus, 'ready' | 'started'> {
  const probes = state.running && facts.probes.get(container.name);
  const end = facts.runs.get(container.name)?.at(-1)?.observed.end;
  const isDone = isInit && !isSidecar(container) && hasSucceeded(end);
  return { ready: isDone || probes?.isReady === true, started: probes?.isStarted === true };
}

function identityOf(
  run: ContainerRun | undefined,
  { imageNames }: StatusExtras,
): Pick<ContainerStatus, 'restartCount' | 'imageID' | 'containerID'> {
  if (!run) return { restartCount: 0, imageID: '' };
  const { imageId } = run.observed;
  return {
    restartCount: run.attempt,
    imageID: imageNames.get(imageId) ?? imageId,
    containerID: publicId(run),
  };
}

function stateOf(container: Container, { facts, extras, isInit }: Surroundings): ContainerState {
  const newest = facts.runs.get(container.name)?.at(-1);
  const problem = extras.problems.get(container.name);
  if (newest?.observed.state === 'running') {
    const { startedAt, createdAt } = newest.observed;
    return { running: { startedAt: timestamp(startedAt ?? createdAt) } };
  }
  if (problem) return { waiting: problem };
  if (!newest || newest.observed.state === 'starting')
    return { waiting: { reason: waitReason(facts, isInit) } };
  return endedState(container, newest, { facts, extras, isInit });
}

/** A container that comes back waits; one that does not has ended. */
function endedState(
  container: Container,
  run: ContainerRun,
  { facts, extras, isInit }: Surroundings,
): ContainerState {
  const { pod, nowMs } = facts;
  const isGoing = pod.metadata.deletionTimestamp === undefined && !hasEnded(pod);
  const policy = policyAfter(pod, container, { isInit, end: run.observed.end });
  const wait = isGoing ? restartInMs(run, policy, nowMs) : undefined;
  if (wait === undefined || wait === 0) return { terminated: terminated(run, extras) };
  const { namespace, name, uid } = pod.metadata;
  const message = `back-off ${durationText(restMs(run))} restarting failed container=${container.name} pod=${name}_${namespace}(${uid})`;
  return { waiting: { reason: 'CrashLoopBackOff', message } };
}

/** As Go writes a duration: `10s`, `2m40s`. */
export function durationText(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}

function hasEnded({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

function waitReason(facts: PodFacts, isInit: boolean): string {
  const sandboxId = facts.sandboxes.at(-1)?.sandbox.id ?? '';
  const hasInit = (facts.pod.spec.initContainers ?? []).length > 0;
  return hasInit && (isInit || !isInitDone(facts, sandboxId)) ? 'PodInitializing' : 'ContainerCreating';
}

function terminated(run: ContainerRun, { messages }: StatusExtras): ContainerStateTerminated {
  const { observed } = run;
  const { startedAt, endedAt, createdAt, id } = observed;
  const said = messages.get(id);
  const { exitCode, reason, message } = endOf(observed.end);
  const text = said || message;
  return {
    exitCode,
    reason,
    ...(text !== undefined && text !== '' && { message: text }),
    startedAt: timestamp(startedAt ?? createdAt),
    finishedAt: timestamp(endedAt ?? createdAt),
    containerID: publicId(run),
  };
}

function endOf(end: ContainerEnd | undefined): {
  readonly exitCode: number;
  readonly reason: string;
  readonly message?: string;
} {
  switch (end?.cause) {
    case 'exited':
      return { exitCode: end.exitCode, reason: end.exitCode === 0 ? 'Completed' : 'Error' };
    case 'out-of-memory':
      return { exitCode: end.exitCode, reason: 'OOMKilled' };
    case 'start-failed':
      return { exitCode: 128, reason: 'StartError', message: end.message };
    case 'lost':
    case undefined:
      return {
        exitCode: 137,
        reason: 'ContainerStatusUnknown',
        message: end?.message ?? 'nobody saw how it ended',
      };
  }
}

function timestamp(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;
}
