import { type AdmissionVerdict, deny } from '@sheaf/api';
import type { StorageClass } from '@sheaf/api/virtualization/index';

const harvester = 'harvesterhci.io';

export const images = { group: harvester, resource: 'virtualmachineimages' };
export const templateVersions = { group: harvester, resource: 'virtualmachinetemplateversions' };
export const backups = { group: harvester, resource: 'virtualmachinebackups' };
export const claims = { group: '', resource: 'persistentvolumeclaims' };
export const classes = { group: 'storage.k8s.io', resource: 'storageclasses' };

/** 422 that names a field. */
export function invalid(field: string, message: string, wayOut: string): AdmissionVerdict {
  const cause = { reason: 'FieldValueInvalid', field, message };
  return deny({ reason: 'Invalid', message, wayOut, causes: [cause] });
}

export function isDefaultClass({ metadata }: StorageClass): boolean {
  return metadata.annotations?.['storageclass.kubernetes.io/is-default-class'] === 'true';
}
