import { type AdmissionVerdict, deny } from '@sheaf/api';

const harvester = 'harvesterhci.io';
const kubevirt = 'kubevirt.io';

export const backups = { group: harvester, resource: 'virtualmachinebackups' };
export const restores = { group: harvester, resource: 'virtualmachinerestores' };
export const machines = { group: kubevirt, resource: 'virtualmachines' };
export const instances = { group: kubevirt, resource: 'virtualmachineinstances' };
export const claims = { group: '', resource: 'persistentvolumeclaims' };
export const secrets = { group: '', resource: 'secrets' };
export const snapshots = { group: 'snapshot.storage.k8s.io', resource: 'volumesnapshots' };

/** 422 that names a field. */
export function invalid(field: string, message: string, wayOut: string): AdmissionVerdict {
  return deny({
    reason: 'Invalid',
    message,
    wayOut,
    causes: [{ reason: 'FieldValueInvalid', field, message }],
  });
}

/** The first of the checks that says no. */
export function firstOf(
  ...checks: readonly (() => AdmissionVerdict | undefined)[]
): AdmissionVerdict | undefined {
  for (const check of checks) {
    const verdict = check();
    if (verdict) return verdict;
  }
  return undefined;
}
