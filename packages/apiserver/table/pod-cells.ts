import {
  ageCell,
  type CellSource,
  type Conditions,
  isAbsent,
  isConditionTrue,
  nameOf,
  or,
  partsOf,
} from './cell-source.ts';
import { ageOf } from './name-and-age.ts';

interface Pod {
  readonly spec?: {
    readonly containers?: readonly unknown[] | null;
    readonly initContainers?: readonly InitContainer[] | null;
    readonly nodeName?: string;
    readonly readinessGates?: readonly { readonly conditionType: string }[] | null;
  };
  readonly status?: PodStatus;
}

interface PodStatus {
  readonly phase?: string;
  readonly reason?: string;
  readonly conditions?: Conditions;
  readonly podIPs?: readonly { readonly ip?: string }[] | null;
  readonly nominatedNodeName?: string;
  readonly containerStatuses?: readonly ContainerStatus[] | null;
  readonly initContainerStatuses?: readonly ContainerStatus[] | null;
}

interface InitContainer {
  readonly name: string;
  readonly restartPolicy?: string;
}

interface Terminated {
  readonly exitCode?: number;
  readonly signal?: number;
  readonly reason?: string;
  readonly finishedAt?: string | null;
}

interface ContainerStatus {
  readonly name: string;
  readonly ready?: boolean;
  readonly started?: boolean | null;
  readonly restartCount?: number;
  readonly state?: {
    readonly waiting?: { readonly reason?: string } | null;
    readonly running?: object | null;
    readonly terminated?: Terminated | null;
  };
  readonly lastState?: { readonly terminated?: Terminated | null };
}

/** What is added up over the containers. */
interface Tally {
  reason: string;
  ready: number;
  restarts: number;
  /** RFC 3339; empty: none known. */
  lastRestart: string;
}

export const podCells: CellSource = (object, now) => {
  const parts = partsOf<Pod>(object);
  const { spec, status } = parts;
  const { tally, total } = tallyOf(parts);
  if (object.metadata.deletionTimestamp) tally.reason = reasonOfDeleted(status, tally.reason);
  return [
    nameOf(object),
    `${tally.ready}/${total}`,
    tally.reason,
    restartsCell(tally, now),
    ageCell(object, now),
    status.podIPs?.[0]?.ip || '<none>',
    spec.nodeName || '<none>',
    status.nominatedNodeName || '<none>',
    readinessGates(spec.readinessGates, status.conditions),
  ];
};

function reasonOfDeleted(status: PodStatus | undefined, reason: string): string {
  if (status?.reason === 'NodeLost') return 'Unknown';
  return status?.phase === 'Succeeded' || status?.phase === 'Failed' ? reason : 'Terminating';
}

function restartsCell({ restarts, lastRestart }: Tally, now: number): string {
  return restarts === 0 || lastRestart === ''
    ? `${restarts}`
    : `${restarts} (${ageOf(lastRestart, now)} ago)`;
}

function readinessGates(
  gates: readonly { readonly conditionType: string }[] | null | undefined,
  conditions: Conditions,
): string {
  if (!gates || gates.length === 0) return '<none>';
  const passed = gates.filter((gate) => isConditionTrue(conditions, gate.conditionType));
  return `${passed.length}/${gates.length}`;
}

function tallyOf({ spec, status }: Required<Pod>): { tally: Tally; total: number } {
  const sidecars = new Set<string>();
  for (const container of spec.initContainers ?? [])
    if (container.restartPolicy === 'Always') sidecars.add(container.name);
  const total = or(spec.containers?.length, 0) + sidecars.size;
  const tally: Tally = { reason: firstReason(status), ready: 0, restarts: 0, lastRestart: '' };
  const initialization = initialize(tally, {
    statuses: status.initContainerStatuses ?? [],
    sidecars,
    count: or(spec.initContainers?.length, 0),
  });
  if (initialization.isDone || isConditionTrue(status.conditions, 'Initialized')) {
    tally.restarts = initialization.sidecarRestarts;
    tally.lastRestart = initialization.lastSidecarRestart;
    addContainers(tally, status);
  }
  return { tally, total };
}

function firstReason(status: PodStatus | undefined): string {
  const isGated = status?.conditions?.some(
    ({ type, reason }) => type === 'PodScheduled' && reason === 'SchedulingGated',
  );
  if (isGated) return 'SchedulingGated';
  return status?.reason || status?.phase || '';
}

interface InitContainers {
  readonly statuses: readonly ContainerStatus[];
  readonly sidecars: ReadonlySet<string>;
  readonly count: number;
}

interface Initialization {
  isDone: boolean;
  sidecarRestarts: number;
  lastSidecarRestart: string;
}

/** Looks at the init containers in their order, up to the first that has not done its work. */
function initialize(tally: Tally, { statuses, sidecars, count }: InitContainers): Initialization {
  const result: Initialization = { isDone: true, sidecarRestarts: 0, lastSidecarRestart: '' };
  for (const [index, status] of statuses.entries()) {
    const isSidecar = sidecars.has(status.name);
    countRestarts(tally, status);
    if (isSidecar) {
      result.sidecarRestarts += or(status.restartCount, 0);
      result.lastSidecarRestart = later(result.lastSidecarRestart, status);
    }
    if (isSuccess(status)) continue;
    if (isSidecar && status.started === true) {
      if (status.ready) tally.ready++;
      continue;
    }
    tally.reason = `Init:${initReason(status, `${index}/${count}`)}`;
    result.isDone = false;
    break;
  }
  return result;
}

function isSuccess({ state }: ContainerStatus): boolean {
  return !isAbsent(state?.terminated) && or(state.terminated.exitCode, 0) === 0;
}

function initReason({ state }: ContainerStatus, progress: string): string {
  if (state?.terminated) return terminationReason(state.terminated);
  const waiting = or(state?.waiting?.reason, '');
  return waiting !== '' && waiting !== 'PodInitializing' ? waiting : progress;
}

function terminationReason({ reason, signal, exitCode }: Terminated): string {
  if (reason) return reason;
  return signal ? `Signal:${signal}` : `ExitCode:${or(exitCode, 0)}`;
}

function addContainers(tally: Tally, status: PodStatus): void {
  let hasRunning = false;
  let failure = '';
  for (const container of [...(status.containerStatuses ?? [])].reverse()) {
    countRestarts(tally, container);
    const reason = containerReason(container);
    if (reason !== '') tally.reason = reason;
    else if (isRunning(container)) {
      hasRunning = true;
      tally.ready++;
    }
    if (hasFailed(container)) failure = reason;
  }
  if (tally.reason === 'Completed') tally.reason = reasonOfCompleted(status, hasRunning, failure);
}

function containerReason({ state }: ContainerStatus): string {
  const waiting = state?.waiting?.reason ?? '';
  return waiting === '' && state?.terminated ? terminationReason(state.terminated) : waiting;
}

function isRunning({ ready, state }: ContainerStatus): boolean {
  return ready === true && Boolean(state?.running);
}

/** A container that waits for its next start does not count as failed. */
function hasFailed({ state }: ContainerStatus): boolean {
  return !state?.waiting?.reason && Boolean(state?.terminated?.exitCode);
}

/** Some containers are done; the pod is only if nothing else is going on. */
function reasonOfCompleted(status: PodStatus | undefined, hasRunning: boolean, failure: string): string {
  if (hasRunning && isConditionTrue(status?.conditions, 'Ready')) return 'Running';
  if (failure !== '') return failure;
  return hasRunning ? 'NotReady' : 'Completed';
}

function countRestarts(tally: Tally, status: ContainerStatus): void {
  tally.restarts += or(status.restartCount, 0);
  tally.lastRestart = later(tally.lastRestart, status);
}

/** Times are RFC 3339 in UTC with whole seconds: their order is that of their texts. */
function later(time: string, { lastState }: ContainerStatus): string {
  const finished = or(lastState?.terminated?.finishedAt, '');
  return finished > time ? finished : time;
}
