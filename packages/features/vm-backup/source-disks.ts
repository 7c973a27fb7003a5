import type { VirtualMachineSpec, VolumeBackup } from '@sheaf/api/virtualization/index';

type InstanceSpec = NonNullable<VirtualMachineSpec['template']['spec']>;
type Volume = NonNullable<InstanceSpec['volumes']>[number];

/** The claim that a volume of a machine is on. */
export function claimNameOf({ persistentVolumeClaim, dataVolume }: Volume): string | undefined {
  return persistentVolumeClaim?.claimName ?? dataVolume?.name;
}

/** The claim that a snapshot of a disk was taken of. */
export function sourceClaimOf({ persistentVolumeClaim, volumeName }: VolumeBackup): string {
  return persistentVolumeClaim.metadata?.name ?? volumeName;
}
