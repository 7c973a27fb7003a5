import type { KubeObject } from '@sheaf/api';
import type { ResourceRef } from '@sheaf/client';
import type { VirtualMachine, VirtualMachineInstance, VirtualMachineSpec } from './virtual-machine.ts';

export const machineResource: ResourceRef<VirtualMachine> = {
  group: 'kubevirt.io',
  version: 'v1',
  plural: 'virtualmachines',
  kind: 'VirtualMachine',
  namespaced: true,
};

/** Its status is written with the object: it has no subresource, in KubeVirt neither. */
export const instanceResource: ResourceRef<VirtualMachineInstance> = {
  group: 'kubevirt.io',
  version: 'v1',
  plural: 'virtualmachineinstances',
  kind: 'VirtualMachineInstance',
  namespaced: true,
};

export interface Revision extends KubeObject {
  readonly data?: { readonly spec?: VirtualMachineSpec };
  readonly revision?: number;
}

export const revisionResource: ResourceRef<Revision> = {
  group: 'apps',
  version: 'v1',
  plural: 'controllerrevisions',
  kind: 'ControllerRevision',
  namespaced: true,
};
