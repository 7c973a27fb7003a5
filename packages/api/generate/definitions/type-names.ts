/** The types of one file: for each definition its kind, and what within it has a name besides spec and status. */
export interface TypeFile {
  readonly file: string;
  readonly definitions: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/**
 * The kinds that features work with. What has no name here stands in the type that it is part of. Of the same types the
 * first one names all.
 */
export const typeFileTable: readonly TypeFile[] = [
  {
    file: 'kubevirt.ts',
    definitions: {
      'virtualmachineinstances.kubevirt.io': {
        Affinity: 'spec.affinity',
        DomainSpec: 'spec.domain',
        Disk: 'spec.domain.devices.disks.[]',
        Interface: 'spec.domain.devices.interfaces.[]',
        Network: 'spec.networks.[]',
        Volume: 'spec.volumes.[]',
      },
      'virtualmachines.kubevirt.io': {},
      'virtualmachineinstancemigrations.kubevirt.io': {},
    },
  },
  {
    file: 'cdi.ts',
    definitions: {
      'datavolumes.cdi.kubevirt.io': { DataVolumeSource: 'spec.source', StorageSpec: 'spec.storage' },
      'datasources.cdi.kubevirt.io': {},
      'storageprofiles.cdi.kubevirt.io': { ClaimPropertySet: 'spec.claimPropertySets.[]' },
      'objecttransfers.cdi.kubevirt.io': { TransferSource: 'spec.source', TransferTarget: 'spec.target' },
      'volumeimportsources.cdi.kubevirt.io': { ImportSource: 'spec.source' },
      'volumeuploadsources.cdi.kubevirt.io': {},
      'volumeclonesources.cdi.kubevirt.io': { CloneOrigin: 'spec.source' },
    },
  },
  {
    file: 'snapshot.ts',
    definitions: {
      'volumesnapshots.snapshot.storage.k8s.io': {},
      'volumesnapshotclasses.snapshot.storage.k8s.io': {},
      'volumesnapshotcontents.snapshot.storage.k8s.io': {},
    },
  },
  {
    file: 'network.ts',
    definitions: {
      'network-attachment-definitions.k8s.cni.cncf.io': {},
      'clusternetworks.network.harvesterhci.io': {},
      'vlanconfigs.network.harvesterhci.io': { Uplink: 'spec.uplink' },
      'vlanstatuses.network.harvesterhci.io': {},
      'linkmonitors.network.harvesterhci.io': {},
      'loadbalancers.loadbalancer.harvesterhci.io': { Listener: 'spec.listeners.[]' },
      'ippools.loadbalancer.harvesterhci.io': { IPRange: 'spec.ranges.[]' },
    },
  },
  {
    file: 'harvester.ts',
    definitions: {
      'settings.harvesterhci.io': { Condition: 'status.conditions.[]' },
      'preferences.harvesterhci.io': {},
      'keypairs.harvesterhci.io': {},
      'virtualmachineimagedownloaders.harvesterhci.io': {
        VirtualMachineImageDownloaderCondition: 'status.conditions.[]',
      },
      'virtualmachinetemplates.harvesterhci.io': {},
      'virtualmachinetemplateversions.harvesterhci.io': { VirtualMachineSourceSpec: 'spec.vm' },
      'virtualmachinebackups.harvesterhci.io': {
        BackupTarget: 'status.backupTarget',
        BackupError: 'status.error',
        SecretBackup: 'status.secretBackups.[]',
        VolumeBackup: 'status.volumeBackups.[]',
        PersistentVolumeClaimSourceSpec: 'status.volumeBackups.[].persistentVolumeClaim',
      },
      'virtualmachineimages.harvesterhci.io': {
        VirtualMachineImageSecurityParameters: 'spec.securityParameters',
        ImageBackupTarget: 'status.backupTarget',
      },
      'virtualmachinerestores.harvesterhci.io': { VolumeRestore: 'status.restores.[]' },
      'schedulevmbackups.harvesterhci.io': {
        ScheduledBackup: 'status.vmbackupInfo.[]',
        ScheduledVolumeBackup: 'status.vmbackupInfo.[].volumeBackupInfo.[]',
      },
      'volumeremotebackups.harvesterhci.io': {},
      'volumeremoterestores.harvesterhci.io': {},
      'addons.harvesterhci.io': {},
      'resourcequotas.harvesterhci.io': {
        SnapshotLimit: 'spec.snapshotLimit',
        SnapshotLimitStatus: 'status.snapshotLimitStatus',
      },
      'supportbundles.harvesterhci.io': {},
      'upgrades.harvesterhci.io': { NodeUpgradeStatus: 'status.nodeStatuses.{}' },
      'upgradelogs.harvesterhci.io': { UpgradeLogArchive: 'status.archives.{}' },
      'versions.harvesterhci.io': {},
    },
  },
  {
    file: 'helm.ts',
    definitions: {
      'helmcharts.helm.cattle.io': {
        HelmChartCondition: 'status.conditions.[]',
        ValuesSecret: 'spec.valuesSecrets.[]',
      },
      'helmchartconfigs.helm.cattle.io': {},
    },
  },
];
