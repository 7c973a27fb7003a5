import type { ContainerEnd, ContainerObservation, SandboxObservation } from '@sheaf/ports';
import { type EngineRole, labelNames, type SandboxSharing } from './engine-names.ts';
import type { RunRecord } from './run-records.ts';

/** A container of the engine as its list tells it. */
export interface ListedContainer {
  readonly engineId: string;
  readonly role: EngineRole;
  readonly id: string;
  readonly sandboxId: string;
  readonly title: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly imageId: string;
  readonly state: string;
  readonly processId: number;
  readonly createdAt: number;
  /** Of a sandbox. */
  readonly sharing: SandboxSharing | undefined;
}

/** What only a look at the one container tells. */
export interface ContainerDetail {
  readonly startedAt: number | undefined;
  readonly endedAt: number | undefined;
  readonly exitCode: number;
  readonly isOutOfMemory: boolean;
  readonly stopSignal: number;
  /** The process that watches over it; 0 without one. */
  readonly watcherId: number;
  readonly hasInput: boolean;
  readonly hasTerminal: boolean;
  readonly addresses: readonly string[];
  /** What had been executed in it when it was looked at first, by the ids of the engine. */
  readonly executions: readonly string[];
  /** Where its network can be entered; absent on the host's. */
  readonly networkPath: string | undefined;
}

/** What is known of a container altogether. */
export interface SeenContainer {
  readonly listed: ListedContainer;
  readonly detail: ContainerDetail;
  readonly record: RunRecord | undefined;
  readonly bootId: string;
}

interface ListEntry {
  readonly Id: string;
  readonly ImageID: string;
  readonly State: string;
  readonly Pid: number;
  readonly Created: string;
  readonly Labels: Readonly<Record<string, string>> | null;
}

/** @returns those that are ours */
export function parseList(answer: unknown): readonly ListedContainer[] {
  return ((answer ?? []) as readonly ListEntry[])
    .map(listedOf)
    .filter((container) => container !== undefined);
}

/** What its list would say of one that was looked at alone; `undefined` if it is not ours. */
export function parseListed(answer: unknown): ListedContainer | undefined {
  const { Id, Image, Created, State, Config } = answer as InspectAnswer;
  return listedOf({
    Id,
    ImageID: Image,
    State: State.Status,
    Pid: State.Pid,
    Created,
    Labels: Config.Labels ?? null,
  });
}

function listedOf(entry: ListEntry): ListedContainer | undefined {
  const labels = entry.Labels ?? {};
  const role = labels[labelNames.role];
  if (role !== 'sandbox' && role !== 'container') return undefined;
  return {
    engineId: entry.Id,
    role,
    id: labels[labelNames.id] ?? '',
    sandboxId: labels[labelNames.sandbox] ?? '',
    title: labels[labelNames.title] ?? '',
    labels: JSON.parse(labels[labelNames.labels] ?? '{}') as Record<string, string>,
    imageId: entry.ImageID.startsWith('sha256:') ? entry.ImageID : `sha256:${entry.ImageID}`,
    state: entry.State,
    processId: entry.Pid,
    createdAt: Date.parse(entry.Created),
    sharing: sharingOf(labels[labelNames.sharing]),
  };
}

function sharingOf(text: string | undefined): SandboxSharing | undefined {
  return text === undefined ? undefined : (JSON.parse(text) as SandboxSharing);
}

interface InspectAnswer {
  readonly Id: string;
  readonly Image: string;
  readonly Created: string;
  readonly ExecIDs?: readonly string[] | null;
  readonly State: {
    readonly Status: string;
    readonly Pid: number;
    readonly StartedAt: string;
    readonly FinishedAt: string;
    readonly ExitCode: number;
    readonly OOMKilled: boolean;
    readonly ConmonPid?: number;
  };
  readonly Config: {
    readonly Labels?: Readonly<Record<string, string>> | null;
    readonly StopSignal: number;
    readonly OpenStdin: boolean;
    readonly Tty: boolean;
  };
  readonly NetworkSettings?: {
    readonly SandboxKey?: string;
    readonly Networks?: Readonly<Record<string, { readonly IPAddress?: string }>> | null;
  };
}

export function parseDetail(answer: unknown): ContainerDetail {
  const { State, Config, NetworkSettings, ExecIDs } = answer as InspectAnswer;
  const networks = Object.values(NetworkSettings?.Networks ?? {});
  return {
    startedAt: timeOf(State.StartedAt),
    endedAt: timeOf(State.FinishedAt),
    exitCode: State.ExitCode,
    isOutOfMemory: State.OOMKilled,
    stopSignal: Config.StopSignal,
    watcherId: State.ConmonPid ?? 0,
    hasInput: Config.OpenStdin,
    hasTerminal: Config.Tty,
    executions: ExecIDs ?? [],
    networkPath: NetworkSettings?.SandboxKey || undefined,
    addresses: networks.flatMap(({ IPAddress }) => (IPAddress ? [IPAddress] : [])),
  };
}

/** Times that are not set are told as the beginning of the calendar. */
function timeOf(text: string): number | undefined {
  const time = Date.parse(text);
  return Number.isFinite(time) && time > 0 ? time : undefined;
}

const made = ['created', 'configured'];
const unstarted = [...made, 'initialized'];
const running = ['running', 'paused', 'stopping'];

/** Whether the engine takes it for one that has not been started in this boot of the host. */
export function isCalledNew({ state }: ListedContainer): boolean {
  return made.includes(state);
}

/** Whether a process of it runs, as far as the engine knows. */
export function isRunning({ listed, record, bootId }: SeenContainer): boolean {
  return running.includes(listed.state) && record?.bootId === bootId;
}

export function sandboxObservation(seen: SeenContainer): SandboxObservation {
  const { id, title, labels, createdAt } = seen.listed;
  const state = sandboxState(seen);
  const addresses = state === 'ready' ? seen.detail.addresses : [];
  return { id, title, labels, state, addresses, createdAt };
}

function sandboxState(seen: SeenContainer): SandboxObservation['state'] {
  if (isUnstarted(seen)) return 'starting';
  // The engine starts it again for a container that needs it: that is no life of this sandbox any more.
  const hasEnded = seen.detail.endedAt !== undefined || seen.record?.failure !== undefined;
  return isRunning(seen) && !hasEnded ? 'ready' : 'ended';
}

function isUnstarted({ listed, record, bootId }: SeenContainer): boolean {
  if (!unstarted.includes(listed.state) || record?.failure !== undefined) return false;
  return record === undefined || record.bootId === bootId;
}

export function containerObservation(seen: SeenContainer): ContainerObservation {
  const { id, sandboxId, title, labels, imageId, createdAt, processId } = seen.listed;
  const { endedAt } = seen.detail;
  // The engine notes a start when it is over: a quick container has ended by then.
  const startedAt = seen.detail.startedAt && Math.min(seen.detail.startedAt, endedAt ?? Infinity);
  const facts = { id, sandboxId, title, labels, imageId, createdAt, ...(startedAt && { startedAt }) };
  if (isUnstarted(seen)) return { ...facts, state: 'starting' };
  if (isRunning(seen)) return { ...facts, state: 'running', processId };
  return { ...facts, state: 'ended', end: endOf(seen), ...(endedAt && { endedAt }) };
}

function endOf({ detail, record, bootId }: SeenContainer): ContainerEnd {
  if (record?.failure !== undefined) return { cause: 'start-failed', message: record.failure };
  const { exitCode, endedAt } = detail;
  const isOutOfMemory = detail.isOutOfMemory || record?.isOutOfMemory === true;
  if (endedAt !== undefined && exitCode >= 0)
    return isOutOfMemory ? { cause: 'out-of-memory', exitCode } : { cause: 'exited', exitCode };
  return record?.bootId === bootId
    ? { cause: 'lost', message: 'the process that watched over it was ended' }
    : { cause: 'lost', message: 'the host was restarted' };
}
