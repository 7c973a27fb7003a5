import type { OwnerReference } from '@sheaf/api';
import type { VirtualMachine } from '@sheaf/api/virtualization/index';

/** What goes with a machine refers to it so. */
export function ownerReferenceTo({ metadata }: VirtualMachine): OwnerReference {
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    controller: true,
    blockOwnerDeletion: true,
  };
}
