import { findCondition, type Waiting } from '@sheaf/api';
import type {
  PersistentVolumeClaim,
  VirtualMachineRestore,
  VirtualMachineRestoreStatus,
  VolumeBackup,
} from '@sheaf/api/virtualization/index';
import { formatQuantity, quantityOf } from '@sheaf/base';
import { firstFault, waitingOf } from './outcome.ts';
import { restoreNameAnnotation } from './restore-marks.ts';
import { sourceClaimOf } from './source-disks.ts';

type FindClaim = (name: string) => PersistentVolumeClaim | undefined;

const imageAnnotation = 'harvesterhci.io/imageId';
/** Until all is done, no more than this is shown. */
const mostBeforeTheEnd = 90;

export interface ClaimsPlan {
  /** To be made now. */
  readonly missing: readonly PersistentVolumeClaim[];
  /** What one of them waits for; what needs someone comes first. */
  readonly waiting: Waiting | undefined;
  /** From the claims of the snapshot to those that are made of it. */
  readonly names: ReadonlyMap<string, string>;
  readonly status: VirtualMachineRestoreStatus;
}

/** The claims that disks of a snapshot come back on: one for each, with a name that no other restore makes. */
export function planClaims(
  restore: VirtualMachineRestore,
  volumes: readonly VolumeBackup[],
  findClaim: FindClaim,
): ClaimsPlan {
  const each = volumes.map((volume) => {
    const name = restoredClaimName(restore, volume);
    return { volume, name, claim: findClaim(name) };
  });
  const waits = each.flatMap(({ name, claim }) => claimWaiting(restore, name, claim) ?? []);
  return {
    missing: each.filter(({ claim }) => !claim).map(({ volume }) => newClaim(restore, volume)),
    waiting: firstFault(...waits),
    names: new Map(each.map(({ volume, name }) => [sourceClaimOf(volume), name])),
    status: statusOf(restore, volumes, new Set(waits.map(({ object }) => object?.name))),
  };
}

function statusOf(
  { metadata, ...restore }: VirtualMachineRestore,
  volumes: readonly VolumeBackup[],
  unfilled: ReadonlySet<string | undefined>,
): VirtualMachineRestoreStatus {
  const { namespace = '' } = metadata;
  const restores = volumes.map((volume) => {
    const name = restoredClaimName({ metadata, ...restore }, volume);
    return {
      volumeName: volume.volumeName,
      volumeBackupName: volume.name ?? '',
      persistentVolumeClaimSpec: { ...volume.persistentVolumeClaim, metadata: { namespace, name } },
      progress: unfilled.has(name) ? 0 : 100,
      ...(volume.volumeSize === undefined ? {} : { volumeSize: volume.volumeSize }),
    };
  });
  const sum = restores.reduce((total, { progress }) => total + progress, 0);
  const progress = volumes.length === 0 ? mostBeforeTheEnd : Math.floor(sum / volumes.length);
  return { restores, progress: Math.min(progress, mostBeforeTheEnd) };
}

function restoredClaimName({ metadata, spec }: VirtualMachineRestore, volume: VolumeBackup): string {
  return `restore-${spec.virtualMachineBackupName}-${metadata.uid ?? ''}-${volume.volumeName}`;
}

function claimWaiting(
  { metadata }: VirtualMachineRestore,
  name: string,
  claim: PersistentVolumeClaim | undefined,
): Waiting | undefined {
  if (claim?.status?.phase === 'Bound') return undefined;
  const object = { kind: 'PersistentVolumeClaim', namespace: metadata.namespace ?? '', name };
  const bound = findCondition(claim?.status?.conditions, 'Bound');
  if (bound?.status === 'False' && bound.message)
    return waitingOf(`${bound.reason}: ${bound.message}`, object);
  return { reason: 'ClaimNotBound', text: 'A disk is being filled', nature: 'transient', object };
}

function newClaim(restore: VirtualMachineRestore, volume: VolumeBackup): PersistentVolumeClaim {
  const { namespace = '', name = '' } = restore.metadata;
  const { labels, annotations } = volume.persistentVolumeClaim.metadata ?? {};
  const imageId = annotations?.[imageAnnotation];
  return {
    metadata: {
      namespace,
      name: restoredClaimName(restore, volume),
      ...(labels ? { labels } : {}),
      annotations: {
        [restoreNameAnnotation]: name,
        ...(imageId === undefined ? {} : { [imageAnnotation]: imageId }),
      },
    },
    spec: {
      ...likeSource(volume),
      dataSource: {
        apiGroup: 'snapshot.storage.k8s.io',
        kind: 'VolumeSnapshot',
        name: volume.name ?? '',
      },
    },
  };
}

function likeSource({ persistentVolumeClaim, volumeSize }: VolumeBackup): PersistentVolumeClaim['spec'] {
  const { accessModes, volumeMode, storageClassName, resources } = persistentVolumeClaim.spec ?? {};
  const asked = String(resources?.requests?.['storage'] ?? 0);
  const storage = volumeSize === undefined ? asked : formatQuantity(quantityOf(volumeSize, 'BinarySI'));
  return {
    ...(accessModes ? { accessModes } : {}),
    ...(volumeMode ? { volumeMode } : {}),
    ...(storageClassName === undefined ? {} : { storageClassName }),
    resources: { requests: { storage } },
  };
}
