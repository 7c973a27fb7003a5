import { type AdmissionRule, type AdmissionVerdict, allow, deny } from '@sheaf/api';
import { dataVolumeUidOf, isUploadTarget, type PersistentVolumeClaim } from '@sheaf/api/virtualization/index';

const archive = 'archive';

/** What is refused of claims that are to be uploaded to, before a client waits for it in vain. */
export const uploadRule: AdmissionRule = {
  name: 'claim-upload',
  targets: [{ group: '', resource: 'persistentvolumeclaims' }],
  operations: ['CREATE', 'UPDATE'],
  validate(object, old) {
    const claim = object as PersistentVolumeClaim;
    const isNew = isUploadTarget(claim) && !(old && isUploadTarget(old as PersistentVolumeClaim));
    return isNew && claim.metadata.deletionTimestamp === undefined ? checkTarget(claim) : allow();
  },
};

function checkTarget(claim: PersistentVolumeClaim): AdmissionVerdict {
  const { name = '', annotations } = claim.metadata;
  if (annotations?.['cdi.kubevirt.io/storage.contentType'] === archive)
    return refuse(
      `the claim ${name} is for an archive, and archives are not unpacked`,
      'upload a disk image instead, e.g. with --image-path',
    );
  const source = sourceOf(claim);
  if (source !== undefined)
    return refuse(
      `the claim ${name} gets its content from a ${source}`,
      'upload to a claim without a data source',
    );
  if (!hasVolume(claim)) return allow();
  return refuse(
    `the claim ${name} has its volume already, whose content cannot be replaced`,
    'upload to another claim: virtctl image-upload makes one if there is none of the name',
  );
}

function sourceOf(claim: PersistentVolumeClaim): string | undefined {
  const { dataSource, dataSourceRef } = claim.spec;
  return dataVolumeUidOf(claim) === undefined ? (dataSource ?? dataSourceRef)?.kind : undefined;
}

function hasVolume({ spec, status }: PersistentVolumeClaim): boolean {
  return Boolean(spec.volumeName) || status?.phase === 'Bound';
}

function refuse(message: string, wayOut: string): AdmissionVerdict {
  return deny({ reason: 'Invalid', message, wayOut });
}
