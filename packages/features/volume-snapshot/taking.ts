import type { Waiting } from '@sheaf/api';
import type { VirtualMachineInstance } from '@sheaf/api/virtualization/index';
import { StatusError } from '@sheaf/base';
import type { AttachedDevice, DiskFile, Hypervisor, MachineObservation, Volumes } from '@sheaf/ports';
import { type Consistency, type FreezeParts, whileFrozen } from './frozen-guest.ts';
import {
  besideMemory,
  isMemoryKept,
  keepMemory,
  keepWritten,
  type MemoryParts,
  memoryAlone,
  momentLost,
} from './taking-memory.ts';

export interface TakingParts extends FreezeParts, MemoryParts {
  readonly volumes: Pick<Volumes, 'snapshot' | 'findPrepared' | 'listSnapshots'>;
  readonly hypervisor: Pick<Hypervisor, 'list' | 'switchDisks' | 'askAgent' | 'saveMemory'>;
}

/** What is to be kept under an id. */
export interface SnapshotTarget {
  readonly id: string;
  readonly volumeId: string;
  readonly claimName: string;
}

export interface SnapshotOrder extends SnapshotTarget {
  /** Taken at the same moment, as far as they are on the same machine. */
  readonly companions: readonly SnapshotTarget[];
  /** Why those of its moment cannot be taken together yet. */
  readonly awaited: Waiting | undefined;
  /** The memory of the machine is kept at the same moment, under this name. */
  readonly memoryId?: string | undefined;
  /** Those of the claim's namespace. */
  readonly instances: readonly VirtualMachineInstance[];
  /** Writes down that the guest of a machine is about to be frozen for it. */
  readonly mark: (machineId: string) => Promise<void>;
  /** False: it has been tried often enough. */
  readonly mayFreeze: boolean;
  /** Something holds the guest of a machine frozen on our behalf. */
  readonly isLeftFrozen: (machineId: string) => boolean;
}

/** What keeps it from being taken, or what it is worth if a machine was switched for it just now. */
export interface Taking {
  readonly waiting?: Waiting;
  readonly consistency?: Consistency;
  /** The ids of the companions that it holds for as well. */
  readonly companions?: readonly string[];
}

/**
 * Keeps the state of now. Of volumes in a running machine: the next file of each is prepared, the machine goes on in all of them at one
 * moment, and the driver is told. Its guest is frozen for the switch, if it has an agent. Every call goes on where the one before has
 * stopped, also after a crash: which file the machine writes to is looked up.
 */
export async function takeSnapshot(
  parts: TakingParts,
  order: SnapshotOrder,
  signal: AbortSignal,
): Promise<Taking> {
  const { claimName, instances, awaited } = order;
  const disks = disksOn(claimName, instances, await parts.hypervisor.list(signal));
  const [disk, ...others] = disks;
  if (others.length > 0) return { waiting: sharedVolume };
  if (!disk) return await takeAlone(parts, order, signal);
  // What has been prepared was prepared with all of them, of which those that are done may be gone again.
  if (awaited && !(await parts.volumes.findPrepared(order.id, signal))) return { waiting: awaited };
  const { id: machineId } = disk.machine;
  return await parts.freezes.inTurn(machineId, () => takeUnder(parts, { order, machineId }, signal));
}

/** Without a machine. */
async function takeAlone(
  parts: TakingParts,
  { id, volumeId, memoryId }: SnapshotOrder,
  signal: AbortSignal,
): Promise<Taking> {
  if (memoryId === undefined) {
    await parts.volumes.snapshot({ id, volumeId, isAttached: false }, signal);
    return {};
  }
  const waiting = await memoryAlone(parts, { memoryId, snapshotId: id }, signal);
  if (waiting) return { waiting };
  await parts.volumes.snapshot({ id, volumeId, isAttached: true, isSwitched: true }, signal);
  return { consistency: besideMemory };
}

/** The machine is looked at again: what came before in its turn may have switched the disks already. */
async function takeUnder(
  parts: TakingParts,
  { order, machineId }: { readonly order: SnapshotOrder; readonly machineId: string },
  signal: AbortSignal,
): Promise<Taking> {
  const machines = await parts.hypervisor.list(signal);
  const prepared: PreparedDisk[] = [];
  let isBegun = false;
  for (const target of [order, ...order.companions]) {
    const [disk, ...others] = disksOn(target.claimName, order.instances, machines);
    // What is elsewhere by now, or shared, has a turn of its own.
    if (disk?.machine.id !== machineId || others.length > 0) continue;
    const { id, volumeId } = target;
    const { overlay } = await parts.volumes.snapshot({ id, volumeId, isAttached: true }, signal);
    if (overlay) prepared.push({ id, volumeId, disk, overlay });
    else isBegun = true;
  }
  return order.memoryId === undefined
    ? await takeDisks(parts, { order, prepared }, signal)
    : await takeWithMemory(parts, { memoryId: order.memoryId, prepared, isBegun }, signal);
}

async function takeDisks(
  parts: TakingParts,
  { order, prepared }: { readonly order: SnapshotOrder; readonly prepared: readonly PreparedDisk[] },
  signal: AbortSignal,
): Promise<Taking> {
  const consistency = await switchDisks(parts, { order, prepared }, signal);
  await tellSwitched(parts, prepared, signal);
  if (!consistency) return {};
  return { consistency, companions: toBeSwitched(prepared).map(({ id }) => id) };
}

interface MemoryTaking {
  readonly memoryId: string;
  /** Those that are not taken yet. */
  readonly prepared: readonly PreparedDisk[];
  /** Others of them are. */
  readonly isBegun: boolean;
}

/** The machine is told to go on in its new files only while none of them is: those that are belong to a moment that has passed. */
async function takeWithMemory(
  parts: TakingParts,
  { memoryId, prepared, isBegun }: MemoryTaking,
  signal: AbortSignal,
): Promise<Taking> {
  const machine = prepared[0]?.disk.machine;
  const isPast = isBegun || (await isMemoryKept(parts, memoryId, signal));
  if (isPast && (await areBehind(parts, prepared, signal))) return { waiting: momentLost };
  const disks = prepared.map(({ disk, overlay }) => ({ name: disk.device.name, overlay }));
  const waiting = machine
    ? await keepMemory(parts, { memoryId, machine, disks }, signal)
    : await keepWritten(parts, memoryId, signal);
  if (waiting) return { waiting };
  await tellSwitched(parts, prepared, signal);
  return { consistency: besideMemory, companions: prepared.map(({ id }) => id) };
}

/** Looks at the machine again: it may have gone on since the disks were prepared. */
async function areBehind(
  { hypervisor }: TakingParts,
  prepared: readonly PreparedDisk[],
  signal: AbortSignal,
): Promise<boolean> {
  const machines = await hypervisor.list(signal);
  return prepared.some(({ disk, overlay }) => {
    const devices = machines.find(({ id }) => id === disk.machine.id)?.devices ?? [];
    return !devices.some(({ name, path }) => name === disk.device.name && path === overlay.path);
  });
}

async function tellSwitched(
  { volumes }: TakingParts,
  prepared: readonly PreparedDisk[],
  signal: AbortSignal,
): Promise<void> {
  for (const { id, volumeId } of prepared)
    await volumes.snapshot({ id, volumeId, isAttached: true, isSwitched: true }, signal);
}

interface PreparedDisk {
  readonly id: string;
  readonly volumeId: string;
  readonly disk: OpenDisk;
  readonly overlay: DiskFile;
}

/** As they were when the machine was looked at. */
function toBeSwitched(prepared: readonly PreparedDisk[]): readonly PreparedDisk[] {
  return prepared.filter(({ disk, overlay }) => disk.device.path !== overlay.path);
}

async function switchDisks(
  parts: TakingParts,
  {
    order: { mark, mayFreeze, isLeftFrozen },
    prepared,
  }: { readonly order: SnapshotOrder; readonly prepared: readonly PreparedDisk[] },
  signal: AbortSignal,
): Promise<Consistency | undefined> {
  const changes = toBeSwitched(prepared).map(({ disk, overlay }) => ({ name: disk.device.name, overlay }));
  const machine = prepared[0]?.disk.machine;
  if (!machine || changes.length === 0) return undefined;
  const { id } = machine;
  return await whileFrozen(
    parts,
    {
      machine,
      act: () => parts.hypervisor.switchDisks(id, changes, signal),
      mark: () => mark(id),
      mayFreeze,
      isLeftFrozen: isLeftFrozen(id),
    },
    signal,
  );
}

const sharedVolume: Waiting = {
  reason: 'VolumeShared',
  text: 'Several running machines write to the volume, so there is no one moment to keep',
  nature: 'fault',
  wayOut: 'stop all of them but one',
};

interface OpenDisk {
  readonly machine: MachineObservation;
  readonly device: AttachedDevice;
}

/** The disks of living machines that are on a claim. */
function disksOn(
  claimName: string,
  instances: readonly VirtualMachineInstance[],
  machines: readonly MachineObservation[],
): readonly OpenDisk[] {
  return instances.flatMap(({ metadata, spec }) => {
    const machine = machines.find(({ id, state }) => id === metadata.uid && state !== 'ended');
    const volume = (spec.volumes ?? []).find(
      ({ persistentVolumeClaim, dataVolume }) =>
        (persistentVolumeClaim?.claimName ?? dataVolume?.name) === claimName,
    );
    const device = machine?.devices.find(({ name }) => name === volume?.name);
    return machine && device ? [{ machine, device }] : [];
  });
}

/** Why a refusal of the driver keeps a snapshot waiting; `undefined`: it was a failure. */
export function waitingOfRefusal(error: unknown): Waiting | undefined {
  if (!StatusError.is(error)) return undefined;
  const end = error.message.lastIndexOf('; ');
  const text = end < 0 ? error.message : error.message.slice(0, end);
  const wayOut = end < 0 ? undefined : error.message.slice(end + 2);
  switch (error.reason) {
    case 'Forbidden':
      return {
        reason: 'InsufficientSpace',
        text,
        nature: 'fault',
        wayOut: wayOut ?? 'remove volumes or snapshots',
      };
    case 'NotFound':
      return { reason: 'SourceNotFound', text, nature: 'fault', wayOut: 'delete the snapshot' };
    case 'Conflict':
      return { reason: 'VolumeInUse', text: error.message, nature: 'transient' };
    default:
      return undefined;
  }
}
