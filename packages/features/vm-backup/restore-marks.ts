import type { KubeObject } from '@sheaf/api';
import type { VirtualMachineRestore } from '@sheaf/api/virtualization/index';

/** Harvester's, on claims and machines. */
export const restoreNameAnnotation = 'restore.harvesterhci.io/name';
const lastRestoreAnnotation = 'restore.harvesterhci.io/last-restore-uid';

/** The annotations by which a machine says which restore it was made or changed by last. */
export function marksOf({ metadata }: VirtualMachineRestore): Readonly<Record<string, string>> {
  const { name = '' } = metadata;
  return { [lastRestoreAnnotation]: idOf(metadata), [restoreNameAnnotation]: name };
}

/** True if the restore has made the machine, or has replaced its disks. */
export function isMarkedBy({ metadata }: KubeObject, restore: VirtualMachineRestore): boolean {
  return metadata.annotations?.[lastRestoreAnnotation] === idOf(restore.metadata);
}

function idOf({ name = '', uid = '' }: KubeObject['metadata']): string {
  return `${name}-${uid}`;
}
