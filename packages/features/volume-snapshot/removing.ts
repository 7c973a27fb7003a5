import { StatusError } from '@sheaf/base';
import type { Hypervisor, MachineObservation, Volumes } from '@sheaf/ports';
import type { Freezes } from './frozen-guest.ts';
import type { SnapshotTarget } from './taking.ts';

export interface RemovingParts {
  readonly volumes: Pick<Volumes, 'find' | 'findPrepared' | 'snapshot' | 'removeSnapshot'>;
  readonly hypervisor: Pick<Hypervisor, 'list'>;
  readonly freezes: Freezes;
}

type Removal = Pick<SnapshotTarget, 'id' | 'volumeId'>;

/**
 * Removes what is kept under an id, or gives up what is prepared for it. Who was taking it may have died after a machine had switched to
 * the new file and before the driver was told, so the machine is asked where it writes, and the driver is told instead of them.
 * @throws StatusError `Conflict` while a machine that does not say where it writes has the new file open, or is about to go on in it
 */
export async function removeSnapshot(
  parts: RemovingParts,
  removal: Removal,
  signal: AbortSignal,
): Promise<void> {
  const { volumes, hypervisor, freezes } = parts;
  const { id, volumeId } = removal;
  const overlay = await volumes.findPrepared(id, signal);
  if (!overlay) return await volumes.removeSnapshot(id, signal);
  const volume = await volumes.find(volumeId, signal);
  const machine = (await hypervisor.list(signal)).find(
    (each) => writesTo(each, overlay.path) || (volume && writesTo(each, volume.file.path)),
  );
  const remove = () => removeInTurn(parts, { ...removal, path: overlay.path }, signal);
  // It may be about to switch for another snapshot of the same moment.
  await (machine ? freezes.inTurn(machine.id, remove) : remove());
}

/** What has been switched meanwhile is seen by looking again. */
async function removeInTurn(
  { volumes, hypervisor }: RemovingParts,
  { id, volumeId, path }: Removal & { readonly path: string },
  signal: AbortSignal,
): Promise<void> {
  const machines = await hypervisor.list(signal);
  const volume = await volumes.find(volumeId, signal);
  const keeping = machines.find(
    (machine) => machine.isMemoryBeingKept && volume && writesTo(machine, volume.file.path),
  );
  if (keeping)
    throw new StatusError({
      reason: 'Conflict',
      message: `the memory of machine ${keeping.title} is being kept, and its disks go on in new files then`,
    });
  if (machines.some((machine) => writesTo(machine, path)))
    await volumes.snapshot({ id, volumeId, isAttached: true, isSwitched: true }, signal);
  await volumes.removeSnapshot(id, signal);
}

function writesTo({ devices }: MachineObservation, path: string): boolean {
  return devices.some((device) => device.path === path);
}
