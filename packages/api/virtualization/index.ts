export type {
  ClaimPropertySet,
  CloneOrigin,
  DataSource,
  DataVolume,
  DataVolumeSource,
  DataVolumeSpec,
  ImportSource,
  ObjectTransfer,
  StorageProfile,
  StorageSpec,
  TransferSource,
  TransferTarget,
  VolumeCloneSource,
  VolumeImportSource,
  VolumeUploadSource,
} from './generated/cdi.ts';
export type * from './generated/harvester.ts';
export type { HelmChart, HelmChartConfig, HelmChartSpec, ValuesSecret } from './generated/helm.ts';
export type {
  Disk,
  DomainSpec,
  Interface,
  Network,
  VirtualMachine,
  VirtualMachineInstance,
  VirtualMachineInstanceMigration,
  VirtualMachineInstanceSpec,
  VirtualMachineSpec,
  Volume,
} from './generated/kubevirt.ts';
export type * from './generated/network.ts';
export type { VolumeSnapshot, VolumeSnapshotClass, VolumeSnapshotContent } from './generated/snapshot.ts';
export * from './kind-definitions.ts';
export * from './storage/container-volumes.ts';
export * from './storage/insecure-registries.ts';
export * from './storage/memory-start.ts';
export * from './storage/upload-target.ts';
export * from './storage/volume-kinds.ts';
