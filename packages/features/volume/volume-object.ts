import { identityOf } from '@sheaf/api';
import {
  type PersistentVolume,
  type PersistentVolumeClaim,
  type StorageClass,
  storageDriver,
} from '@sheaf/api/virtualization/index';

/** Keeps a volume object until its data are removed. The name is that of CSI provisioners: others know what it stands for. */
export const dataFinalizer = 'external-provisioner.volume.kubernetes.io/finalizer';
export const volumeFinalizer = 'kubernetes.io/pv-protection';
export const claimFinalizer = 'kubernetes.io/pvc-protection';
export const provisionerAnnotation = 'volume.kubernetes.io/storage-provisioner';
const oldProvisionerAnnotation = 'volume.beta.kubernetes.io/storage-provisioner';
const provisionedAnnotation = 'pv.kubernetes.io/provisioned-by';
const bindCompleted = 'pv.kubernetes.io/bind-completed';
const boundByController = 'pv.kubernetes.io/bound-by-controller';
/** In the attributes of a volume, which never change: the image that was fetched for it alone. */
const ownImageAttribute = 'sheaf.dev/own-image';

export function volumeNameOf({ metadata }: PersistentVolumeClaim): string {
  return `pvc-${metadata.uid ?? ''}`;
}

/** The volume object of a claim whose volume has been made. */
export function volumeObject(
  claim: PersistentVolumeClaim,
  storageClass: StorageClass,
  ownImageId: string | undefined,
): PersistentVolume {
  const { uid } = identityOf(claim);
  const reclaimPolicy = storageClass.reclaimPolicy ?? 'Delete';
  return {
    metadata: {
      name: volumeNameOf(claim),
      annotations: { [provisionedAnnotation]: storageDriver },
      finalizers: reclaimPolicy === 'Delete' ? [dataFinalizer, volumeFinalizer] : [volumeFinalizer],
    },
    spec: {
      capacity: { storage: requestedText(claim) },
      accessModes: [...(claim.spec.accessModes ?? [])],
      volumeMode: claim.spec.volumeMode ?? 'Filesystem',
      persistentVolumeReclaimPolicy: reclaimPolicy,
      storageClassName: storageClass.metadata.name ?? '',
      claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', ...identityOf(claim) },
      csi: {
        driver: storageDriver,
        volumeHandle: uid,
        ...(ownImageId === undefined ? {} : { volumeAttributes: { [ownImageAttribute]: ownImageId } }),
      },
    },
  };
}

export function ownImageOf({ spec }: PersistentVolume): string | undefined {
  return spec.csi?.volumeAttributes?.[ownImageAttribute];
}

export function isOurs({ spec }: PersistentVolume): boolean {
  return spec.csi?.driver === storageDriver;
}

/** The claim as its provisioner takes it on. */
export function adoptedClaim(claim: PersistentVolumeClaim): PersistentVolumeClaim {
  const annotations = {
    ...claim.metadata.annotations,
    [provisionerAnnotation]: storageDriver,
    [oldProvisionerAnnotation]: storageDriver,
  };
  return { ...claim, metadata: { ...claim.metadata, annotations } };
}

export function boundClaim(claim: PersistentVolumeClaim, volume: PersistentVolume): PersistentVolumeClaim {
  const annotations = { ...claim.metadata.annotations, [bindCompleted]: 'yes', [boundByController]: 'yes' };
  return {
    ...claim,
    metadata: { ...claim.metadata, annotations },
    spec: { ...claim.spec, volumeName: volume.metadata.name ?? '' },
  };
}

/** A volume that was made for a claim by name is now for the one that is there. */
export function claimedVolume(volume: PersistentVolume, claim: PersistentVolumeClaim): PersistentVolume {
  const claimRef = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', ...identityOf(claim) };
  return { ...volume, spec: { ...volume.spec, claimRef } };
}

export function requestedText({ spec }: PersistentVolumeClaim): string {
  return spec.resources?.requests?.['storage'] ?? '0';
}

/** The class that a claim names, in either way. */
export function classNameOf({ metadata, spec }: PersistentVolumeClaim): string | undefined {
  return metadata.annotations?.['volume.beta.kubernetes.io/storage-class'] ?? spec.storageClassName;
}

export function withoutFinalizers<T extends PersistentVolume | PersistentVolumeClaim>(
  object: T,
  ...names: readonly string[]
): T {
  const finalizers = (object.metadata.finalizers ?? []).filter((name) => !names.includes(name));
  return { ...object, metadata: { ...object.metadata, finalizers } };
}
