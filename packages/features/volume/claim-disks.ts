import type { PersistentVolume, PersistentVolumeClaim } from '@sheaf/api/virtualization/index';
import { resources } from '@sheaf/client';
import type { DiskFile, VolumeObservation, Volumes } from '@sheaf/ports';
import type { Manager, ObjectCache } from '@sheaf/runtime';
import { isOurs } from './volume-object.ts';

/** The disk behind a claim, or why a pod cannot have it now. */
export type ClaimDisk =
  | { readonly volumeId: string; readonly disk: DiskFile; readonly isReadOnly: boolean }
  | { readonly problem: string };

export type FindClaimDisk = (namespace: string, claimName: string, signal: AbortSignal) => Promise<ClaimDisk>;

interface ClaimDiskParts {
  readonly claims: ObjectCache<PersistentVolumeClaim>;
  readonly objects: ObjectCache<PersistentVolume>;
  readonly volumes: Pick<Volumes, 'find'>;
}

/** Finds the disks that claims of pods stand for. */
export function claimDisks(manager: Manager, volumes: Pick<Volumes, 'find'>): FindClaimDisk {
  const parts = {
    claims: manager.informer(resources.persistentVolumeClaims).cache,
    objects: manager.informer(resources.persistentVolumes).cache,
    volumes,
  };
  return (namespace, name, signal) => findDisk(parts, { namespace, name }, signal);
}

async function findDisk(
  { claims, objects, volumes }: ClaimDiskParts,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  signal: AbortSignal,
): Promise<ClaimDisk> {
  const quoted = `persistentvolumeclaim "${name}"`;
  const claim = claims.get(`${namespace}/${name}`);
  if (!claim) return { problem: `${quoted} not found` };
  if (claim.status?.phase !== 'Bound') return { problem: `${quoted} is not bound` };
  const volume = objects.get(claim.spec.volumeName ?? '');
  if (!volume) return { problem: `persistentvolume "${claim.spec.volumeName}" of ${quoted} not found` };
  const obstacle = obstacleOf(volume, quoted);
  if (obstacle !== undefined) return { problem: obstacle };
  return diskOf(await volumes.find(handleOf(volume), signal), volume, quoted);
}

function handleOf({ spec }: PersistentVolume): string {
  return spec.csi?.volumeHandle ?? '';
}

function diskOf(found: VolumeObservation | undefined, { spec }: PersistentVolume, quoted: string): ClaimDisk {
  if (!found) return { problem: `the disk of ${quoted} is not there any more` };
  if (found.isBusy) return { problem: `the layers of the disk of ${quoted} are being merged; it passes` };
  const isReadOnly = spec.accessModes.every((mode) => mode === 'ReadOnlyMany');
  return { volumeId: found.id, disk: found.file, isReadOnly };
}

function obstacleOf(volume: PersistentVolume, quoted: string): string | undefined {
  if (!isOurs(volume))
    return `${quoted} is on a volume of ${volume.spec.csi?.driver ?? 'another kind'}, which cannot be mounted here`;
  if (volume.spec.volumeMode === 'Block')
    return `${quoted} has volumeMode Block, which pods cannot use here; use a claim with volumeMode Filesystem`;
  return undefined;
}
