import type { Waiting } from '@sheaf/api';
import {
  type DiskFile,
  type Hypervisor,
  type MachineMemories,
  type MachineObservation,
  memoryFileBytes,
  type Progress,
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

/** True if the memory was kept, so that the disks have been switched, whatever became of the machine since. */
export async function isMemoryKept(
  { memories }: MemoryParts,
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
export const machineOff: Waiting = {
  reason: 'MachineNotRunning',
  text: 'It is to be taken with the memory of its machine, which does not run',
  nature: 'fault',
  wayOut: 'start the machine, or delete it and take it without memory',
};

/** Without the memory, the disks are as after a power cut: no guest is frozen for what goes on. */
export const besideMemory: Consistency = {
  level: 'crash',
  reason: 'the memory of the machine was kept at the same moment',
};
