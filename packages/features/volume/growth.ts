import type { Waiting } from '@sheaf/api';
import { StatusError } from '@sheaf/base';
import type { Hypervisor, MachineObservation, Volumes } from '@sheaf/ports';
import type { ClaimFacts } from './plan.ts';

export interface GrowthParts {
  readonly volumes: Volumes;
  readonly hypervisor: Pick<Hypervisor, 'list' | 'resizeDisk'>;
}

/**
 * Makes a volume larger. Under a running machine the room is set aside first, and the machine then lets the file grow and tells
 * its guest. Called again, it goes on where it was.
 */
export async function growVolume(
  { volumes, hypervisor }: GrowthParts,
  { facts, bytes }: { readonly facts: ClaimFacts; readonly bytes: number },
  signal: AbortSignal,
): Promise<Waiting | undefined> {
  const { observation } = facts;
  if (!observation) throw new StatusError({ reason: 'NotFound', message: 'its volume is not there' });
  const disks = disksOn(observation.file.path, await hypervisor.list(signal));
  await volumes.expand(observation.id, { bytes, isAttached: disks.length > 0 }, signal);
  for (const { machineId, name } of disks) await hypervisor.resizeDisk(machineId, { name, bytes }, signal);
  return undefined;
}

interface OpenDisk {
  readonly machineId: string;
  readonly name: string;
}

/** The disks of living machines that are on a file. */
function disksOn(path: string, machines: readonly MachineObservation[]): readonly OpenDisk[] {
  return machines
    .filter(({ state }) => state !== 'ended')
    .flatMap(({ id, devices }) =>
      devices.filter((device) => device.path === path).map(({ name }) => ({ machineId: id, name })),
    );
}
