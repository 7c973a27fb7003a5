// Written by generate/write-definitions.ts; see generated/NOTICE of this package.

import type { KubeObject, ObjectMeta } from '../../meta/object.ts';
import type { VirtualMachineSpec } from './kubevirt.ts';

export interface Setting extends KubeObject {
  readonly customized?: boolean;
  readonly default?: string;
  readonly source?: string;
  readonly status?: SettingStatus;
  readonly value?: string;
}

export interface SettingStatus {
  readonly conditions?: readonly Condition[];
}

export interface Condition {
  /** Last time the condition transitioned from one status to another. */
  readonly lastTransitionTime?: string;
  /** The last time this condition was updated. */
  readonly lastUpdateTime?: string;
  /** Human-readable message indicating details about last transition */
  readonly message?: string;
  /** The reason for the condition's last transition. */
  readonly reason?: string;
  /** Status of the condition, one of True, False, Unknown. */
  readonly status: string;
  /** Type of the condition. */
  readonly type: string;
}

export interface Preference extends KubeObject {
  readonly value: string;
}

export interface KeyPair extends KubeObject {
  readonly spec: KeyPairSpec;
  readonly status?: KeyPairStatus;
}

export interface KeyPairSpec {
  readonly publicKey: string;
}

export interface KeyPairStatus {
  readonly conditions?: readonly Condition[];
  readonly fingerPrint?: string;
}

export interface VirtualMachineImageDownloader extends KubeObject {
  readonly spec: VirtualMachineImageDownloaderSpec;
  readonly status?: VirtualMachineImageDownloaderStatus;
}

export interface VirtualMachineImageDownloaderSpec {
  /** compress type of the vm image */
  readonly compressType?: 'qcow2';
  /** name of the vm image */
  readonly imageName: string;
}

export interface VirtualMachineImageDownloaderStatus {
  /** the conditions of the vm image downloader */
  readonly conditions?: readonly VirtualMachineImageDownloaderCondition[];
  /** the url of the vm image */
  readonly downloadUrl?: string;
  /** the current status of the vm image downloader */
  readonly status?: 'Progressing' | 'Ready';
}

export interface VirtualMachineImageDownloaderCondition {
  readonly lastTransitionTime: string;
  readonly message?: string;
  readonly reason?: string;
  readonly status: string;
  readonly type: string;
}

export interface VirtualMachineTemplate extends KubeObject {
  readonly spec?: VirtualMachineTemplateSpec;
  readonly status?: VirtualMachineTemplateStatus;
}

export interface VirtualMachineTemplateSpec {
  readonly defaultVersionId?: string;
  readonly description?: string;
}

export interface VirtualMachineTemplateStatus {
  readonly defaultVersion?: number;
  readonly latestVersion?: number;
}

export interface VirtualMachineTemplateVersion extends KubeObject {
  readonly spec: VirtualMachineTemplateVersionSpec;
  readonly status?: VirtualMachineTemplateVersionStatus;
}

export interface VirtualMachineTemplateVersionSpec {
  readonly description?: string;
  readonly imageId?: string;
  readonly keyPairIds?: readonly string[];
  readonly templateId: string;
  readonly vm?: VirtualMachineSourceSpec;
}

export interface VirtualMachineTemplateVersionStatus {
  readonly conditions?: readonly Condition[];
  readonly version?: number;
}

export interface VirtualMachineSourceSpec {
  readonly metadata?: ObjectMeta;
  /** Spec contains the specification of VirtualMachineInstance created */
  readonly spec?: VirtualMachineSpec;
}

export interface VirtualMachineBackup extends KubeObject {
  readonly spec: VirtualMachineBackupSpec;
  /** VirtualMachineBackupStatus is the status for a VirtualMachineBackup resource */
  readonly status?: VirtualMachineBackupStatus;
}

export interface VirtualMachineBackupSpec {
  /** TypedLocalObjectReference contains enough information to let you locate the typed referenced object inside the same namespace. */
  readonly source: {
    /** APIGroup is the group for the resource being referenced. */
    readonly apiGroup?: string;
    /** Kind is the type of resource being referenced */
    readonly kind: string;
    /** Name is the name of resource being referenced */
    readonly name: string;
  };
  readonly type?: 'backup' | 'snapshot';
}

/** VirtualMachineBackupStatus is the status for a VirtualMachineBackup resource */
export interface VirtualMachineBackupStatus {
  /** BackupTarget is where VM Backup stores */
  readonly backupTarget?: BackupTarget;
  readonly conditions?: readonly Condition[];
  readonly creationTime?: string;
  readonly csiDriverVolumeSnapshotClassNames?: Readonly<Record<string, string>>;
  /** Error is the last error encountered during the snapshot/restore */
  readonly error?: BackupError;
  readonly progress?: number;
  readonly readyToUse?: boolean;
  readonly secretBackups?: readonly SecretBackup[];
  readonly source?: VirtualMachineSourceSpec;
  /** UID is a type that holds unique ID values, including UUIDs. */
  readonly sourceUID?: string;
  readonly volumeBackups?: readonly VolumeBackup[];
}

/** BackupTarget is where VM Backup stores */
export interface BackupTarget {
  readonly bucketName?: string;
  readonly bucketRegion?: string;
  readonly endpoint?: string;
}

/** Error is the last error encountered during the snapshot/restore */
export interface BackupError {
  readonly message?: string;
  readonly time?: string;
}

/** SecretBackup contains the secret data need to restore a secret referenced by the VM */
export interface SecretBackup {
  readonly data?: Readonly<Record<string, string>>;
  readonly name: string;
}

/** VolumeBackup contains the volume data need to restore a PVC */
export interface VolumeBackup {
  readonly creationTime?: string;
  readonly csiDriverName: string;
  /** Error is the last error encountered during the snapshot/restore */
  readonly error?: BackupError;
  readonly longhornBackupName?: string;
  readonly name?: string;
  readonly persistentVolumeClaim: PersistentVolumeClaimSourceSpec;
  readonly progress?: number;
  readonly readyToUse?: boolean;
  readonly volumeName: string;
  readonly volumeSize?: number;
}

export interface PersistentVolumeClaimSourceSpec {
  readonly metadata?: ObjectMeta;
  /** PersistentVolumeClaimSpec describes the common attributes of storage devices and allows a Source for provider-specific attributes */
  readonly spec?: {
    /** accessModes contains the desired access modes the volume should have. */
    readonly accessModes?: readonly string[];
    /** dataSource field can be used to specify either: * An existing VolumeSnapshot object (snapshot.storage.k8s.io/VolumeSnapshot) * An existing PVC (PersistentVolumeClaim) If the provisioner or an external controller can support the specified data source, it will create a new volume based on the contents of the specified data source. */
    readonly dataSource?: {
      /** APIGroup is the group for the resource being referenced. */
      readonly apiGroup?: string;
      /** Kind is the type of resource being referenced */
      readonly kind: string;
      /** Name is the name of resource being referenced */
      readonly name: string;
    };
    /** dataSourceRef specifies the object from which to populate the volume with data, if a non-empty volume is desired. */
    readonly dataSourceRef?: {
      /** APIGroup is the group for the resource being referenced. */
      readonly apiGroup?: string;
      /** Kind is the type of resource being referenced */
      readonly kind: string;
      /** Name is the name of resource being referenced */
      readonly name: string;
      /** Namespace is the namespace of resource being referenced Note that when a namespace is specified, a gateway.networking.k8s.io/ReferenceGrant object is required in the referent namespace to allow that namespace's owner to accept the reference. */
      readonly namespace?: string;
    };
    /** resources represents the minimum resources the volume should have. */
    readonly resources?: {
      /** Limits describes the maximum amount of compute resources allowed. */
      readonly limits?: Readonly<Record<string, string | number>>;
      /** Requests describes the minimum amount of compute resources required. */
      readonly requests?: Readonly<Record<string, string | number>>;
    };
    /** selector is a label query over volumes to consider for binding. */
    readonly selector?: {
      /** matchExpressions is a list of label selector requirements. */
      readonly matchExpressions?: readonly {
        /** key is the label key that the selector applies to. */
        readonly key: string;
        /** operator represents a key's relationship to a set of values. */
        readonly operator: string;
        /** values is an array of string values. */
        readonly values?: readonly string[];
      }[];
      /** matchLabels is a map of {key,value} pairs. */
      readonly matchLabels?: Readonly<Record<string, string>>;
    };
    /** storageClassName is the name of the StorageClass required by the claim. */
    readonly storageClassName?: string;
    /** volumeAttributesClassName may be used to set the VolumeAttributesClass used by this claim. */
    readonly volumeAttributesClassName?: string;
    /** volumeMode defines what type of volume is required by the claim. */
    readonly volumeMode?: string;
    /** volumeName is the binding reference to the PersistentVolume backing this claim. */
    readonly volumeName?: string;
  };
}

export interface VirtualMachineImage extends KubeObject {
  readonly spec: VirtualMachineImageSpec;
  readonly status?: VirtualMachineImageStatus;
}

export interface VirtualMachineImageSpec {
  readonly backend?: 'backingimage' | 'cdi';
  readonly checksum?: string;
  readonly description?: string;
  readonly displayName: string;
  readonly pvcName?: string;
  readonly pvcNamespace?: string;
  readonly retry?: number;
  readonly securityParameters?: VirtualMachineImageSecurityParameters;
  readonly sourceType: 'download' | 'upload' | 'export-from-volume' | 'restore' | 'clone';
  readonly storageClassParameters?: Readonly<Record<string, string>>;
  /** The VM Image will store the data volume in the target storage class. */
  readonly targetStorageClassName?: string;
  readonly url?: string;
}

export interface VirtualMachineImageStatus {
  readonly appliedUrl?: string;
  /** BackupTarget is where VM Backup stores */
  readonly backupTarget?: BackupTarget;
  readonly conditions?: readonly Condition[];
  readonly failed?: number;
  readonly lastFailedTime?: string;
  readonly progress?: number;
  readonly size?: number;
  readonly storageClassName?: string;
  /** The VM Image will store the data volume in the target storage class. */
  readonly targetStorageClassName?: string;
  readonly virtualSize?: number;
}

export interface VirtualMachineImageSecurityParameters {
  readonly cryptoOperation: 'encrypt' | 'decrypt';
  readonly sourceImageName: string;
  readonly sourceImageNamespace: string;
}

/** BackupTarget is where VM Backup stores */
export interface ImageBackupTarget {
  readonly bucketName?: string;
  readonly bucketRegion?: string;
  readonly endpoint?: string;
}

export interface VirtualMachineRestore extends KubeObject {
  /** VirtualMachineRestoreSpec is the spec for a VirtualMachineRestore resource */
  readonly spec: VirtualMachineRestoreSpec;
  /** VirtualMachineRestoreStatus is the spec for a VirtualMachineRestore resource */
  readonly status?: VirtualMachineRestoreStatus;
}

/** VirtualMachineRestoreSpec is the spec for a VirtualMachineRestore resource */
export interface VirtualMachineRestoreSpec {
  /** DeletionPolicy defines that to do with resources when VirtualMachineRestore is deleted */
  readonly deletionPolicy?: string;
  /** KeepMacAddress only works when NewVM is true. */
  readonly keepMacAddress?: boolean;
  readonly newVM?: boolean;
  /** initially only VirtualMachine type supported */
  readonly target: {
    /** APIGroup is the group for the resource being referenced. */
    readonly apiGroup?: string;
    /** Kind is the type of resource being referenced */
    readonly kind: string;
    /** Name is the name of resource being referenced */
    readonly name: string;
  };
  readonly virtualMachineBackupName: string;
  readonly virtualMachineBackupNamespace: string;
  readonly haltAfterRestore?: boolean;
}

/** VirtualMachineRestoreStatus is the spec for a VirtualMachineRestore resource */
export interface VirtualMachineRestoreStatus {
  readonly complete?: boolean;
  readonly conditions?: readonly Condition[];
  readonly deletedVolumes?: readonly string[];
  readonly progress?: number;
  readonly restoreTime?: string;
  readonly restores?: readonly VolumeRestore[];
  /** UID is a type that holds unique ID values, including UUIDs. */
  readonly targetUID?: string;
}

/** VolumeRestore contains the volume data need to restore a PVC */
export interface VolumeRestore {
  readonly longhornEngineName?: string;
  readonly persistentVolumeClaimSpec?: PersistentVolumeClaimSourceSpec;
  readonly progress?: number;
  readonly volumeBackupName?: string;
  readonly volumeName?: string;
  readonly volumeSize?: number;
}

export interface ScheduleVMBackup extends KubeObject {
  readonly spec: ScheduleVMBackupSpec;
  readonly status?: ScheduleVMBackupStatus;
}

export interface ScheduleVMBackupSpec {
  readonly cron: string;
  readonly maxFailure: number;
  readonly retain: number;
  readonly suspend?: boolean;
  readonly vmbackup: VirtualMachineBackupSpec;
}

export interface ScheduleVMBackupStatus {
  readonly conditions?: readonly Condition[];
  readonly failure?: number;
  readonly suspended?: boolean;
  readonly vmbackupInfo?: readonly ScheduledBackup[];
}

export interface ScheduledBackup {
  /** Error is the last error encountered during the snapshot/restore */
  readonly error?: BackupError;
  readonly name?: string;
  readonly readyToUse?: boolean;
  readonly volumeBackupInfo?: readonly ScheduledVolumeBackup[];
}

export interface ScheduledVolumeBackup {
  /** Error is the last error encountered during the snapshot/restore */
  readonly error?: BackupError;
  readonly name?: string;
  readonly readyToUse?: boolean;
}

export interface VolumeRemoteBackup extends KubeObject {
  readonly spec: VolumeRemoteBackupSpec;
  readonly status?: VolumeRemoteBackupStatus;
}

export interface VolumeRemoteBackupSpec {
  readonly source: string;
  readonly type: 'lh';
}

export interface VolumeRemoteBackupStatus {
  readonly conditions?: readonly Condition[];
  readonly csiProvider?: string;
  readonly handle?: string;
  /** PersistentVolumeClaimSpec describes the common attributes of storage devices and allows a Source for provider-specific attributes */
  readonly sourceSpec?: {
    /** accessModes contains the desired access modes the volume should have. */
    readonly accessModes?: readonly string[];
    /** dataSource field can be used to specify either: * An existing VolumeSnapshot object (snapshot.storage.k8s.io/VolumeSnapshot) * An existing PVC (PersistentVolumeClaim) If the provisioner or an external controller can support the specified data source, it will create a new volume based on the contents of the specified data source. */
    readonly dataSource?: {
      /** APIGroup is the group for the resource being referenced. */
      readonly apiGroup?: string;
      /** Kind is the type of resource being referenced */
      readonly kind: string;
      /** Name is the name of resource being referenced */
      readonly name: string;
    };
    /** dataSourceRef specifies the object from which to populate the volume with data, if a non-empty volume is desired. */
    readonly dataSourceRef?: {
      /** APIGroup is the group for the resource being referenced. */
      readonly apiGroup?: string;
      /** Kind is the type of resource being referenced */
      readonly kind: string;
      /** Name is the name of resource being referenced */
      readonly name: string;
      /** Namespace is the namespace of resource being referenced Note that when a namespace is specified, a gateway.networking.k8s.io/ReferenceGrant object is required in the referent namespace to allow that namespace's owner to accept the reference. */
      readonly namespace?: string;
    };
    /** resources represents the minimum resources the volume should have. */
    readonly resources?: {
      /** Limits describes the maximum amount of compute resources allowed. */
      readonly limits?: Readonly<Record<string, string | number>>;
      /** Requests describes the minimum amount of compute resources required. */
      readonly requests?: Readonly<Record<string, string | number>>;
    };
    /** selector is a label query over volumes to consider for binding. */
    readonly selector?: {
      /** matchExpressions is a list of label selector requirements. */
      readonly matchExpressions?: readonly {
        /** key is the label key that the selector applies to. */
        readonly key: string;
        /** operator represents a key's relationship to a set of values. */
        readonly operator: string;
        /** values is an array of string values. */
        readonly values?: readonly string[];
      }[];
      /** matchLabels is a map of {key,value} pairs. */
      readonly matchLabels?: Readonly<Record<string, string>>;
    };
    /** storageClassName is the name of the StorageClass required by the claim. */
    readonly storageClassName?: string;
    /** volumeAttributesClassName may be used to set the VolumeAttributesClass used by this claim. */
    readonly volumeAttributesClassName?: string;
    /** volumeMode defines what type of volume is required by the claim. */
    readonly volumeMode?: string;
    /** volumeName is the binding reference to the PersistentVolume backing this claim. */
    readonly volumeName?: string;
  };
  readonly success?: boolean;
}

export interface VolumeRemoteRestore extends KubeObject {
  readonly spec: VolumeRemoteRestoreSpec;
  readonly status?: VolumeRemoteRestoreStatus;
}

export interface VolumeRemoteRestoreSpec {
  readonly from: string;
  readonly type: 'lh';
}

export interface VolumeRemoteRestoreStatus {
  readonly conditions?: readonly Condition[];
  readonly success?: boolean;
}

export interface Addon extends KubeObject {
  readonly spec: AddonSpec;
  readonly status?: AddonStatus;
}

export interface AddonSpec {
  readonly chart: string;
  readonly enabled: boolean;
  readonly repo: string;
  readonly valuesContent: string;
  readonly version: string;
}

export interface AddonStatus {
  readonly conditions?: readonly Condition[];
  readonly status?: string;
}

export interface ResourceQuota extends KubeObject {
  readonly spec?: ResourceQuotaSpec;
  readonly status?: ResourceQuotaStatus;
}

export interface ResourceQuotaSpec {
  readonly snapshotLimit?: SnapshotLimit;
}

export interface ResourceQuotaStatus {
  readonly snapshotLimitStatus?: SnapshotLimitStatus;
}

export interface SnapshotLimit {
  readonly namespaceTotalSnapshotSizeQuota?: number;
  readonly vmTotalSnapshotSizeQuota?: Readonly<Record<string, number>>;
}

export interface SnapshotLimitStatus {
  readonly namespaceTotalSnapshotSizeUsage?: number;
  readonly vmTotalSnapshotSizeUsage?: Readonly<Record<string, number>>;
}

export interface SupportBundle extends KubeObject {
  readonly spec: SupportBundleSpec;
  readonly status?: SupportBundleStatus;
}

export interface SupportBundleSpec {
  readonly description: string;
  /** Number of minutes Harvester waits before deleting a support bundle that has been packaged but not downloaded (either deliberately or unsuccessfully) or retained. */
  readonly expiration?: number;
  readonly extraCollectionNamespaces?: readonly string[];
  readonly issueURL?: string;
  /** Number of minutes Harvester allows for collection of logs and configurations (Harvester) on the nodes for the support bundle. */
  readonly nodeTimeout?: number;
  /** Number of minutes Harvester allows for the completion of the support bundle generation process. */
  readonly timeout?: number;
}

export interface SupportBundleStatus {
  readonly conditions?: readonly Condition[];
  readonly filename?: string;
  readonly filesize?: number;
  readonly progress?: number;
  readonly state?: string;
}

export interface Upgrade extends KubeObject {
  readonly spec: UpgradeSpec;
  readonly status?: UpgradeStatus;
}

export interface UpgradeSpec {
  readonly image?: string;
  readonly logEnabled?: boolean;
  /** Specifies the image to be used for upgrade operations. */
  readonly upgradeImage?: string;
  readonly version?: string;
}

export interface UpgradeStatus {
  readonly conditions?: readonly Condition[];
  readonly imageID?: string;
  readonly nodeStatuses?: Readonly<Record<string, NodeUpgradeStatus>>;
  readonly previousVersion?: string;
  readonly repoInfo?: string;
  readonly singleNode?: string;
  readonly upgradeLog?: string;
}

export interface NodeUpgradeStatus {
  readonly message?: string;
  readonly reason?: string;
  readonly state?: string;
}

export interface UpgradeLog extends KubeObject {
  readonly spec: UpgradeLogSpec;
  readonly status?: UpgradeLogStatus;
}

export interface UpgradeLogSpec {
  readonly upgradeName: string;
}

export interface UpgradeLogStatus {
  readonly archives?: Readonly<Record<string, UpgradeLogArchive>>;
  readonly conditions?: readonly Condition[];
}

export interface UpgradeLogArchive {
  readonly generatedTime?: string;
  readonly ready?: boolean;
  readonly reason?: string;
  readonly size?: number;
}

export interface Version extends KubeObject {
  readonly spec: VersionSpec;
}

export interface VersionSpec {
  readonly isoChecksum?: string;
  readonly isoURL: string;
  readonly minUpgradableVersion?: string;
  readonly releaseDate?: string;
  readonly tags?: readonly string[];
}
