import { identityOf, timestampOf, type Waiting } from '@sheaf/api';
import {
  storageDriver,
  type VirtualMachineInstance,
  type VolumeSnapshot,
  type VolumeSnapshotContent,
} from '@sheaf/api/virtualization/index';
import { type Clock, StatusError, toError } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import type { Hypervisor, MachineMemories, Volumes } from '@sheaf/ports';
import {
  again,
  done,
  type EventRecorder,
  type ObjectCache,
  type ReconcileResult,
  waitFor,
} from '@sheaf/runtime';
import {
  frozenMachineOf,
  isConsistencyNoted,
  mayFreezeFor,
  withConsistency,
  withFrozenMachine,
} from './consistency-notes.ts';
import { type ContentFacts, type ContentStatus, handleOf, planContent } from './content-plan.ts';
import { type Consistency, type Freezes, thawLeftover } from './frozen-guest.ts';
import { isSame } from './is-same.ts';
import { companionsOf, memoryIdOf, othersAwaited } from './moment.ts';
import { errorOf, messageOf } from './plan.ts';
import { removeSnapshot } from './removing.ts';
import { type SnapshotOrder, type SnapshotTarget, takeSnapshot, waitingOfRefusal } from './taking.ts';
import { isMemoryKept } from './taking-memory.ts';

export interface ContentParts {
  readonly client: Client;
  readonly clock: Clock;
  readonly recorder: EventRecorder;
  readonly contents: ObjectCache<VolumeSnapshotContent>;
  readonly snapshots: ObjectCache<VolumeSnapshot>;
  readonly instances: ObjectCache<VirtualMachineInstance>;
  readonly volumes: Pick<Volumes, 'find' | 'findPrepared' | 'snapshot' | 'listSnapshots' | 'removeSnapshot'>;
  readonly hypervisor: Pick<Hypervisor, 'list' | 'switchDisks' | 'askAgent' | 'saveMemory'>;
  readonly memories: Pick<MachineMemories, 'list' | 'prepare' | 'keep'>;
  readonly freezes: Freezes;
}

const againMs = 5000;
/** How often it is asked how far long work is. */
const progressMs = 1000;

/** One pass over a content: one step through the driver, then its status. */
export async function reconcileContent(
  parts: ContentParts,
  key: string,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const content = parts.contents.get(key);
  if (content?.spec.driver !== storageDriver) return done;
  const isCutOff = frozenMachineOf(content) !== undefined;
  return isCutOff ? endFreeze(parts, content, signal) : takeStep(parts, content, signal);
}

async function takeStep(
  parts: ContentParts,
  content: VolumeSnapshotContent,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const facts = await readContent(parts, content, signal);
  const step = planContent(facts);
  const { client } = parts;
  switch (step.action) {
    case 'none':
      return done;
    case 'take':
      return take(parts, facts, signal);
    case 'record':
      await writeStatus(client, { content, status: step.status }, signal);
      return done;
    case 'hold':
    case 'release':
      await client.update(resources.volumeSnapshotContents, step.content, { signal });
      return done;
    case 'delete':
      await removeObject(client, content, signal);
      return done;
    case 'remove':
      return remove(parts, { content, released: step.content }, signal);
  }
}

async function removeObject(
  client: Client,
  content: VolumeSnapshotContent,
  signal: AbortSignal,
): Promise<void> {
  const { name, uid } = identityOf(content);
  await client.delete(resources.volumeSnapshotContents, { name }, { uid, signal });
}

/** That a snapshot is gone is asked at the server: its data may go with it. */
async function readContent(
  parts: ContentParts,
  content: VolumeSnapshotContent,
  signal: AbortSignal,
): Promise<ContentFacts> {
  const { client, snapshots, volumes } = parts;
  const { namespace = '', name = '', uid } = content.spec.volumeSnapshotRef;
  const isMeant = (found: VolumeSnapshot | undefined): boolean =>
    found !== undefined && found.metadata.uid === uid;
  const known = snapshots.get(`${namespace}/${name}`);
  const found = isMeant(known)
    ? known
    : await client.find(resources.volumeSnapshots, { namespace, name }, signal);
  const snapshot = isMeant(found) ? found : undefined;
  const id = handleOf(content);
  const taken = (await volumes.listSnapshots(signal)).find((each) => each.id === id);
  const memoryId = snapshot && memoryIdOf(snapshot);
  const isMemoryMissing = memoryId !== undefined && !(await isMemoryKept(parts, memoryId, signal));
  return { content, snapshot, taken, isMemoryMissing };
}

/** A pass that finds a content so was cut off before it had thawed the guest, in this life or in an earlier one. */
async function endFreeze(
  parts: ContentParts,
  content: VolumeSnapshotContent,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const id = frozenMachineOf(content) ?? '';
  await parts.freezes.inTurn(id, async () => {
    const machine = (await parts.hypervisor.list(signal)).find((each) => each.id === id);
    const consistency = await thawLeftover(parts, machine, signal);
    await note(parts.client, { content, consistency }, signal);
  });
  return done;
}

async function note(
  client: Client,
  { content, consistency }: { readonly content: VolumeSnapshotContent; readonly consistency: Consistency },
  signal: AbortSignal,
): Promise<void> {
  await client.update(resources.volumeSnapshotContents, withConsistency(content, consistency), { signal });
}

async function take(
  parts: ContentParts,
  { content: found, snapshot }: ContentFacts,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const { client } = parts;
  let content = found;
  const mark = async (machineId: string): Promise<void> => {
    const marked = withFrozenMachine(content, machineId);
    content = await client.update(resources.volumeSnapshotContents, marked, { signal });
  };
  try {
    const order = { ...orderOf(parts, content, snapshot), mark };
    const { waiting, consistency, companions = [] } = await takeSnapshot(parts, order, signal);
    if (waiting) return await report(parts, { content, waiting }, signal);
    // What has been taken is seen by looking again.
    if (consistency) {
      await note(client, { content, consistency }, signal);
      await noteForOthers(parts, { ids: companions, consistency }, signal);
    }
    return again(0);
  } catch (thrown) {
    if (signal.aborted) throw thrown;
    const waiting = waitingOfRefusal(thrown);
    if (waiting) return report(parts, { content, waiting }, signal);
    const text = toError(thrown).message;
    await report(parts, { content, waiting: { reason: 'DriverFailed', text, nature: 'transient' } }, signal);
    throw thrown;
  }
}

function orderOf(
  parts: ContentParts,
  content: VolumeSnapshotContent,
  snapshot: VolumeSnapshot | undefined,
): Omit<SnapshotOrder, 'mark'> {
  return {
    ...targetOf(content, snapshot),
    companions: snapshot
      ? companionsOf(snapshot, parts).map((each) => targetOf(each.content, each.snapshot))
      : [],
    awaited: snapshot && othersAwaited(snapshot, parts),
    memoryId: snapshot && memoryIdOf(snapshot),
    instances: parts.instances.list(snapshot?.metadata.namespace ?? ''),
    mayFreeze: mayFreezeFor(content),
    isLeftFrozen: (machineId) =>
      parts.freezes.has(machineId) ||
      parts.contents.list().some((each) => frozenMachineOf(each) === machineId),
  };
}

function targetOf(content: VolumeSnapshotContent, snapshot: VolumeSnapshot | undefined): SnapshotTarget {
  return {
    id: handleOf(content),
    volumeId: content.spec.source.volumeHandle ?? '',
    claimName: snapshot?.spec.source.persistentVolumeClaimName ?? '',
  };
}

/** What holds for one that was taken holds for all of its moment. */
async function noteForOthers(
  { client, contents }: ContentParts,
  { ids, consistency }: { readonly ids: readonly string[]; readonly consistency: Consistency },
  signal: AbortSignal,
): Promise<void> {
  const others = contents.list().filter((each) => ids.includes(handleOf(each)));
  for (const { metadata } of others) {
    const { name = '' } = metadata;
    while (!(await isNoted(client, { name, consistency }, signal))) signal.throwIfAborted();
  }
}

/** False: somebody has changed it meanwhile, so that it is to be looked at again. */
async function isNoted(
  client: Client,
  { name, consistency }: { readonly name: string; readonly consistency: Consistency },
  signal: AbortSignal,
): Promise<boolean> {
  const content = await client.find(resources.volumeSnapshotContents, { name }, signal);
  if (!content || isConsistencyNoted(content)) return true;
  try {
    await note(client, { content, consistency }, signal);
    return true;
  } catch (error) {
    if (StatusError.is(error, 'Conflict')) return false;
    throw error;
  }
}

async function report(
  { client, clock, recorder }: ContentParts,
  { content, waiting }: { readonly content: VolumeSnapshotContent; readonly waiting: Waiting },
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const message = messageOf(waiting);
  const error = errorOf(message, content.status?.error, timestampOf(clock));
  await writeStatus(client, { content, status: { ...content.status, readyToUse: false, error } }, signal);
  const { name = '', uid = '' } = content.metadata;
  const about = { resource: resources.volumeSnapshotContents, namespace: '', name, uid };
  if (waiting.nature === 'fault')
    recorder.record({ about, type: 'Warning', reason: 'SnapshotCreationFailed', message });
  return waitFor(waiting.text, waiting.reason === 'MemoryBeingKept' ? progressMs : againMs);
}

async function remove(
  parts: ContentParts,
  {
    content,
    released,
  }: { readonly content: VolumeSnapshotContent; readonly released: VolumeSnapshotContent },
  signal: AbortSignal,
): Promise<ReconcileResult> {
  try {
    const { volumeHandle: volumeId = '' } = content.spec.source;
    await removeSnapshot(parts, { id: handleOf(content), volumeId }, signal);
  } catch (error) {
    if (!StatusError.is(error, 'Conflict')) throw error;
    return report(
      parts,
      { content, waiting: { reason: 'SnapshotInUse', text: error.message, nature: 'transient' } },
      signal,
    );
  }
  await parts.client.update(resources.volumeSnapshotContents, released, { signal });
  return done;
}

async function writeStatus(
  client: Client,
  { content, status }: { readonly content: VolumeSnapshotContent; readonly status: ContentStatus },
  signal: AbortSignal,
): Promise<void> {
  if (isSame(status, content.status)) return;
  await client.updateStatus(resources.volumeSnapshotContents, { ...content, status }, { signal });
}
