import type { PersistentVolumeClaim } from './volume-kinds.ts';

/** On a claim: its content is sent to the upload proxy. The name is CDI's, which clients look for. */
export const uploadTargetAnnotation = 'cdi.kubevirt.io/storage.upload.target';

export function isUploadTarget({ metadata }: PersistentVolumeClaim): boolean {
  return metadata.annotations?.[uploadTargetAnnotation] !== undefined;
}

/** The data volume that a claim was made for. */
export function dataVolumeUidOf({ metadata }: PersistentVolumeClaim): string | undefined {
  return metadata.ownerReferences?.find(
    ({ apiVersion, kind, controller }) =>
      kind === 'DataVolume' && controller === true && apiVersion.startsWith('cdi.kubevirt.io/'),
  )?.uid;
}

/** Under which id the image port takes what is sent for a claim. */
export function uploadImageIdOf(claim: PersistentVolumeClaim): string {
  return dataVolumeUidOf(claim) ?? claim.metadata.uid ?? '';
}
