import type { Placeable } from '@sheaf/api/placement/index';
import type { VirtualMachineInstance } from '../virtual-machine.ts';

/** With the labels that its pod would have in a cluster. */
export function asPod({ metadata, spec }: VirtualMachineInstance): Placeable {
  const { labels = {}, name = '', uid = '' } = metadata;
  const own = { 'kubevirt.io': 'virt-launcher', 'kubevirt.io/created-by': uid, 'vm.kubevirt.io/name': name };
  return { metadata: { ...metadata, labels: { ...labels, ...own } }, spec };
}
