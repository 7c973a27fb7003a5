import { type Condition, withCondition } from '@sheaf/api';
import type { ContainerStatus, Pod, PodStatus } from '@sheaf/api/workload/index';
import { withStatus } from '../pods/changed-status.ts';
import {
  containerStatuses,
  ephemeralContainerStatuses,
  initContainerStatuses,
  type StatusExtras,
} from './container-status.ts';
import type { PodFacts } from './plan.ts';
import { deadlineInMs, deletedPhase, terminalPhase } from './pod-end.ts';
import { isSidecar } from './restart.ts';

export interface HostFacts {
  /** The preferred one first. */
  readonly hostAddresses: readonly string[];
  readonly now: string;
}

type Claim = Omit<Condition, 'lastTransitionTime'>;

/** The pod with a status that is right; `undefined` if it has one. */
export function planPodStatus(facts: PodFacts, extras: StatusExtras, host: HostFacts): Pod | undefined {
  const { pod } = facts;
  if (isTold(facts)) return undefined;
  const init = initContainerStatuses(facts, extras);
  const main = containerStatuses(facts, extras);
  const ephemeral = ephemeralContainerStatuses(facts, extras);
  const verdict = verdictOf(facts, { init, main });
  const conditions = claimsOf(facts, { init, main, phase: verdict.phase }).reduce<readonly Condition[]>(
    (list, claim) => withCondition(list, claim, host.now),
    pod.status?.conditions ?? [],
  );
  return withStatus(pod, {
    ...pod.status,
    ...verdict,
    observedGeneration: pod.metadata.generation ?? 1,
    conditions,
    startTime: pod.status?.startTime ?? host.now,
    ...addresses(facts, host),
    ...(init.length > 0 && { initContainerStatuses: init }),
    containerStatuses: main,
    ...(ephemeral.length > 0 && { ephemeralContainerStatuses: ephemeral }),
  });
}

/** How it has ended has been told, and is not to be seen any more: its containers are being removed. */
function isTold({ pod, runs }: PodFacts): boolean {
  const isOver = pod.status?.phase === 'Failed' || pod.status?.phase === 'Succeeded';
  return isOver && pod.metadata.deletionTimestamp !== undefined && runs.size === 0;
}

interface Statuses {
  readonly init: readonly ContainerStatus[];
  readonly main: readonly ContainerStatus[];
}

/** What has been said to be over stays over. */
function verdictOf(
  facts: PodFacts,
  statuses: Statuses,
): Pick<PodStatus, 'reason' | 'message'> & { readonly phase: string } {
  const { pod, nowMs, runs } = facts;
  const told = pod.status?.phase;
  if (told === 'Failed' || told === 'Succeeded') return { phase: told };
  const isQuiet = [...runs.values()].flat().every(({ observed }) => observed.state === 'ended');
  if (deadlineInMs(pod, nowMs) === 0)
    return {
      phase: 'Failed',
      reason: 'DeadlineExceeded',
      message: 'Pod was active on the node longer than the specified deadline',
    };
  const end = isQuiet ? (deletedPhase(facts) ?? terminalPhase(facts)) : undefined;
  return { phase: end ?? livePhase(facts, statuses) };
}

function livePhase({ pod }: PodFacts, { init, main }: Statuses): string {
  const isInitialized = (pod.spec.initContainers ?? []).every((container, index) => {
    const status = init[index];
    return isSidecar(container) ? status?.started === true || hasRun(status) : status?.ready === true;
  });
  return isInitialized && main.every(hasRun) ? 'Running' : 'Pending';
}

function hasRun(status: ContainerStatus | undefined): boolean {
  return (
    status !== undefined &&
    (status.state?.waiting === undefined || status.lastState?.terminated !== undefined)
  );
}

function claimsOf(
  facts: PodFacts,
  { init, main, phase }: Statuses & { readonly phase: string },
): readonly Claim[] {
  const { pod, sandboxes } = facts;
  const isOver = phase === 'Succeeded' || phase === 'Failed';
  const hasSandbox = sandboxes.at(-1)?.sandbox.state === 'ready';
  const sidecars = (pod.spec.initContainers ?? []).filter(isSidecar).map(({ name }) => name);
  const incomplete = init.filter(({ name, ready, started }) =>
    sidecars.includes(name) ? started !== true : !ready,
  );
  const counted = [...init.filter(({ name }) => sidecars.includes(name)), ...main];
  const unready = counted.filter(({ ready }) => !ready).map(({ name }) => name);
  const isInitialized = incomplete.length === 0 || phase === 'Succeeded';
  const containersReady = isOver ? over(phase) : readiness(unready, 'containers with unready status');
  return [
    { type: 'PodReadyToStartContainers', status: hasSandbox ? 'True' : 'False' },
    isInitialized
      ? { type: 'Initialized', status: 'True', ...(phase === 'Succeeded' && { reason: 'PodCompleted' }) }
      : {
          type: 'Initialized',
          status: 'False',
          reason: 'ContainersNotInitialized',
          message: `containers with incomplete status: [${incomplete.map(({ name }) => name).join(' ')}]`,
        },
    { type: 'ContainersReady', ...containersReady },
    { type: 'Ready', ...(isOver ? containersReady : podReadiness(pod, containersReady)) },
  ];
}

type Readiness = Omit<Claim, 'type'>;

function over(phase: string): Readiness {
  return { status: 'False', reason: phase === 'Succeeded' ? 'PodCompleted' : 'PodFailed' };
}

function readiness(unready: readonly string[], text: string): Readiness {
  if (unready.length === 0) return { status: 'True' };
  return { status: 'False', reason: 'ContainersNotReady', message: `${text}: [${unready.join(' ')}]` };
}

function podReadiness({ spec, status }: Pod, containers: Readiness): Readiness {
  if (containers.status !== 'True') return containers;
  const open = (spec.readinessGates ?? []).filter(
    ({ conditionType }) =>
      !status?.conditions?.some(({ type, status: is }) => type === conditionType && is === 'True'),
  );
  if (open.length === 0) return { status: 'True' };
  const texts = open.map(
    ({ conditionType }) =>
      `corresponding condition of pod readiness gate "${conditionType}" does not exist or is not True.`,
  );
  return { status: 'False', reason: 'ReadinessGatesNotReady', message: texts.join(' ') };
}

function addresses(
  { pod, sandboxes }: PodFacts,
  { hostAddresses }: HostFacts,
): Pick<PodStatus, 'hostIP' | 'hostIPs' | 'podIP' | 'podIPs'> {
  const own = pod.spec.hostNetwork ? hostAddresses : (sandboxes.at(-1)?.sandbox.addresses ?? []);
  const list = (all: readonly string[]): readonly { readonly ip: string }[] => all.map((ip) => ({ ip }));
  const [hostIP] = hostAddresses;
  const [podIP] = own;
  return {
    ...(hostIP !== undefined && { hostIP, hostIPs: list(hostAddresses) }),
    ...(podIP !== undefined && { podIP, podIPs: list(own) }),
  };
}
