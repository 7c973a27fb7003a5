import type {
  PersistentVolume,
  PersistentVolumeClaim,
  VirtualMachineInstance,
} from '@sheaf/api/virtualization/index';
import { claimNameOf, foreignClaimText, type Pod } from '@sheaf/api/workload/index';
import { resources } from '@sheaf/client';
import type { DiskFile, VolumeObservation, Volumes } from '@sheaf/ports';
import type { Manager, ObjectCache } from '@sheaf/runtime';
import { bytesOf } from './claim-content.ts';
import { holdsVolumes, podsOn, usersOf } from './claim-users.ts';
import { isOurs, requestedText } from './volume-object.ts';

/** The disk behind a claim, or why a pod cannot have it now. */
export type ClaimDisk =
  | { readonly volumeId: string; readonly disk: DiskFile; readonly isReadOnly: boolean }
  | { readonly problem: string };

/** A claim, and the pod that is to mount it. */
export interface MountedClaim {
  readonly namespace: string;
  readonly name: string;
  readonly podUid: string;
}

interface ClaimDiskParts {
  readonly claims: ObjectCache<PersistentVolumeClaim>;
  readonly objects: ObjectCache<PersistentVolume>;
  readonly instances: ObjectCache<VirtualMachineInstance>;
  readonly pods: ObjectCache<Pod>;
  readonly volumes: Pick<Volumes, 'find'>;
}

/** Sizes are rounded up to whole blocks. */
const blockBytes = 4096;

/** Finds the disks that claims of pods stand for. */
export function claimDisks(
  manager: Manager,
  volumes: Pick<Volumes, 'find'>,
): (claim: MountedClaim, signal: AbortSignal) => Promise<ClaimDisk> {
  const parts = {
    claims: manager.informer(resources.persistentVolumeClaims).cache,
    objects: manager.informer(resources.persistentVolumes).cache,
    instances: manager.informer(resources.virtualMachineInstances).cache,
    pods: manager.informer(resources.pods).cache,
    volumes,
  };
  return (claim, signal) => findClaimDisk(parts, claim, signal);
}

export async function findClaimDisk(
  parts: ClaimDiskParts,
  wanted: MountedClaim,
  signal: AbortSignal,
): Promise<ClaimDisk> {
  const { namespace, name } = wanted;
  const quoted = `persistentvolumeclaim "${name}"`;
  const claim = parts.claims.get(`${namespace}/${name}`);
  if (!claim) return { problem: `${quoted} not found` };
  const foreign = foreignText(parts, wanted, claim);
  if (foreign !== undefined) return { problem: foreign };
  if (claim.status?.phase !== 'Bound') return { problem: `${quoted} is not bound` };
  const volume = parts.objects.get(claim.spec.volumeName ?? '');
  if (!volume) return { problem: `persistentvolume "${claim.spec.volumeName}" of ${quoted} not found` };
  const obstacle = kindObstacle(volume, quoted) ?? userObstacle(parts, wanted, claim);
  if (obstacle !== undefined) return { problem: obstacle };
  const found = await parts.volumes.find(handleOf(volume), signal);
  const isHeld = podsOn(name, parts.pods.list(namespace)).some(holdsVolumes);
  return found
    ? diskOf(found, { claim, volume, isHeld, quoted })
    : { problem: `the disk of ${quoted} is gone` };
}

/** The claim of a generic ephemeral volume has to be the pod's own. */
function foreignText(
  { pods }: ClaimDiskParts,
  { namespace, name, podUid }: MountedClaim,
  claim: PersistentVolumeClaim,
): string | undefined {
  const pod = pods.list(namespace).find(({ metadata }) => metadata.uid === podUid);
  const isMadeForPod = pod?.spec.volumes?.some(
    (volume) => volume.ephemeral && claimNameOf(pod, volume) === name,
  );
  return pod && isMadeForPod ? foreignClaimText(pod, claim) : undefined;
}

function handleOf({ spec }: PersistentVolume): string {
  return spec.csi?.volumeHandle ?? '';
}

interface FoundClaim {
  readonly claim: PersistentVolumeClaim;
  readonly volume: PersistentVolume;
  /** A pod has it mounted already. */
  readonly isHeld: boolean;
  readonly quoted: string;
}

/** A disk that is open goes on as it is; one that nobody has open is first made as it is to be. */
function diskOf(found: VolumeObservation, { claim, volume, isHeld, quoted }: FoundClaim): ClaimDisk {
  if (!isHeld && found.isBusy) return { problem: `the layers of the disk of ${quoted} are being merged` };
  if (!isHeld && bytesOf(requestedText(claim)) - found.bytes >= blockBytes)
    return { problem: `the disk of ${quoted} is being made larger` };
  const isReadOnly = volume.spec.accessModes.every((mode) => mode === 'ReadOnlyMany');
  return { volumeId: found.id, disk: found.file, isReadOnly };
}

function kindObstacle(volume: PersistentVolume, quoted: string): string | undefined {
  if (!isOurs(volume))
    return `${quoted} is on a volume of ${volume.spec.csi?.driver ?? 'another kind'}, which cannot be mounted here`;
  if (volume.spec.volumeMode === 'Block')
    return `${quoted} has volumeMode Block, which pods cannot use here; use a claim with volumeMode Filesystem`;
  return undefined;
}

/** Who stands against the use of a claim by a pod. */
function userObstacle(
  { instances, pods }: ClaimDiskParts,
  { namespace, name, podUid }: MountedClaim,
  { spec }: PersistentVolumeClaim,
): string | undefined {
  const [machine] = usersOf(name, instances.list(namespace));
  if (machine)
    return `persistentvolumeclaim "${name}" is used by the virtual machine ${namespace}/${machine.name}; stop that machine, or give this pod another claim`;
  if (spec.accessModes?.includes('ReadWriteOncePod') !== true) return undefined;
  const [first, ...others] = podsOn(name, pods.list(namespace)).toSorted(byTurn);
  if (first?.metadata.uid === podUid || !others.some(({ metadata }) => metadata.uid === podUid))
    return undefined;
  return `persistentvolumeclaim "${name}" is ReadWriteOncePod and used by the pod ${namespace}/${first?.metadata.name}; delete that pod, or use ReadWriteOnce`;
}

/** Who has it keeps it; of the others, the name decides. */
function byTurn(a: Pod, b: Pod): number {
  const difference = Number(holdsVolumes(b)) - Number(holdsVolumes(a));
  return difference || (a.metadata.name ?? '').localeCompare(b.metadata.name ?? '');
}
