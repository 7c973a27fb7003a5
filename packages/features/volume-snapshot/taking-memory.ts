import type { Waiting } from '@sheaf/api';
import { StatusError } from '@sheaf/base';
import {
  type DiskFile,
  type Hypervisor,
  type MachineMemories,
  type MachineObservation,
  memoryFileBytes,
  type Progress,
  type Volumes,
} from '@sheaf/ports';
import { type Consistency, isFrozen } from './frozen-guest.ts';

export interface MemoryParts {
  readonly memories: Pick<MachineMemories, 'list' | 'prepare' | 'keep'>;
  readonly hypervisor: Pick<Hypervisor, 'saveMemory' | 'askAgent'>;
}

/** What a machine has in its memory and on these disks is to be kept at one moment. */
export interface MemoryOrder {
  readonly memoryId: string;
  readonly machine: MachineObservation;
  readonly disks: readonly { readonly name: string; readonly overlay: DiskFile }[];
}

/** Resolves to what keeps the memory from being there; `undefined`: it is kept, and the disks have been switched. */
export async function keepMemory(
  { memories, hypervisor }: MemoryParts,
  { memoryId: id, machine, disks }: MemoryOrder,
  signal: AbortSignal,
): Promise<Waiting | undefined> {
  const room = { id, title: machine.title, bytes: memoryFileBytes(machine.memoryBytes) };
  const { state, path } = await memories.prepare(room, signal);
  if (state === 'kept') return undefined;
  if (!machine.isMemoryBeingKept && (await isFrozen({ hypervisor }, machine, signal))) return guestFrozen;
  const progress = await hypervisor.saveMemory(machine.id, { path, disks }, signal);
  if (progress.state !== 'done') return waitingOf(progress);
  await memories.keep(id, signal);
  return undefined;
}

/**
 * Of disks that have gone on in their new files: the memory of their moment was written whole before, so it has only to be kept. Resolves
 * to what keeps it from being there.
 */
export async function keepWritten(
  { memories }: MemoryParts,
  memoryId: string,
  signal: AbortSignal,
): Promise<Waiting | undefined> {
  try {
    await memories.keep(memoryId, signal);
    return undefined;
  } catch (error) {
    if (StatusError.is(error, 'NotFound')) return momentLost;
    throw error;
  }
}

/**
 * Of a disk whose machine has ended. If that had gone on in its new files, its memory is there, and what was prepared for the disk still
 * is, since nobody has written below it since. Resolves to what keeps the disk from being taken as it was then.
 */
export async function memoryAlone(
  parts: MemoryParts & { readonly volumes: Pick<Volumes, 'findPrepared' | 'listSnapshots'> },
  { memoryId, snapshotId }: { readonly memoryId: string; readonly snapshotId: string },
  signal: AbortSignal,
): Promise<Waiting | undefined> {
  const { volumes } = parts;
  const isTaken = (await volumes.listSnapshots(signal)).some(({ id }) => id === snapshotId);
  if (isTaken) return await keepWritten(parts, memoryId, signal);
  if (!(await isMemoryKept(parts, memoryId, signal))) return machineOff;
  return (await volumes.findPrepared(snapshotId, signal)) ? undefined : momentLost;
}

/** True if the memory was kept, so that the disks have been switched, whatever became of the machine since. */
export async function isMemoryKept(
  { memories }: Pick<MemoryParts, 'memories'>,
  memoryId: string,
  signal: AbortSignal,
): Promise<boolean> {
  return (await memories.list(signal)).some(({ id, state }) => id === memoryId && state === 'kept');
}

function waitingOf(progress: Exclude<Progress, { state: 'done' }>): Waiting {
  if (progress.state === 'working')
    return {
      reason: 'MemoryBeingKept',
      text: `The memory of its machine is being kept: ${progress.percent} %`,
      nature: 'transient',
    };
  const { message, nature } = progress;
  const text = `The memory of its machine cannot be kept: ${message}`;
  if (nature === 'transient') return { reason: 'MemoryNotKept', text, nature };
  return { reason: 'MemoryNotKept', text, nature, wayOut: 'delete it, and take it without memory' };
}

/** Who has frozen it thaws this guest, and not the one that goes on with its memory. */
const guestFrozen: Waiting = {
  reason: 'GuestFrozen',
  text: 'The guest has its file systems frozen, and so would the one that goes on with its memory',
  nature: 'transient',
};

/** A snapshot with memory of a machine that has none. */
const machineOff: Waiting = {
  reason: 'MachineNotRunning',
  text: 'It is to be taken with the memory of its machine, which does not run',
  nature: 'fault',
  wayOut: 'start the machine, or delete it and take it without memory',
};

/** The machine ended before all was kept, and has written since. */
export const momentLost: Waiting = {
  reason: 'MomentLost',
  text: 'Its machine has ended and gone on since some of its disks were kept, so they and its memory are not of one moment any more',
  nature: 'fault',
  wayOut: 'delete it and take it again',
};

/** Without the memory, the disks are as after a power cut: no guest is frozen for what goes on. */
export const besideMemory: Consistency = {
  level: 'crash',
  reason: 'the memory of the machine was kept at the same moment',
};
