// Written by generate/write-definitions.ts; see generated/NOTICE of this package.

import type { KubeObject } from '../../meta/object.ts';

/** DataVolume is an abstraction on top of PersistentVolumeClaims to allow easy population of those PersistentVolumeClaims with relation to VirtualMachines */
export interface DataVolume extends KubeObject {
  /** DataVolumeSpec defines the DataVolume type specification */
  readonly spec: DataVolumeSpec;
  /** DataVolumeStatus contains the current status of the DataVolume */
  readonly status?: DataVolumeStatus;
}

/** DataVolumeSpec defines the DataVolume type specification */
export interface DataVolumeSpec {
  /** Checkpoints is a list of DataVolumeCheckpoints, representing stages in a multistage import. */
  readonly checkpoints?: readonly {
    /** Current is the identifier of the snapshot created for this checkpoint. */
    readonly current: string;
    /** Previous is the identifier of the snapshot from the previous checkpoint. */
    readonly previous: string;
  }[];
  /** DataVolumeContentType options: "kubevirt", "archive" */
  readonly contentType?: 'kubevirt' | 'archive';
  /** FinalCheckpoint indicates whether the current DataVolumeCheckpoint is the final checkpoint. */
  readonly finalCheckpoint?: boolean;
  /** Preallocation controls whether storage for DataVolumes should be allocated in advance. */
  readonly preallocation?: boolean;
  /** PriorityClassName for Importer, Cloner and Uploader pod */
  readonly priorityClassName?: string;
  /** PVC is the PVC specification */
  readonly pvc?: {
    /** accessModes contains the desired access modes the volume should have. */
    readonly accessModes?: readonly string[];
    /** dataSource field can be used to specify either: * An existing VolumeSnapshot object (snapshot.storage.k8s.io/VolumeSnapshot) * An existing PVC (PersistentVolumeClaim) If the provisioner or an external controller can support the specified data source, it will create a new volume based on the contents of the specified data source. */
    readonly dataSource?: CloneOrigin;
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
  /** Source is the src of the data for the requested DataVolume */
  readonly source?: DataVolumeSource;
  /** SourceRef is an indirect reference to the source of data for the requested DataVolume */
  readonly sourceRef?: {
    /** The kind of the source reference, currently only "DataSource" is supported */
    readonly kind: string;
    /** The name of the source reference */
    readonly name: string;
    /** The namespace of the source reference, defaults to the DataVolume namespace */
    readonly namespace?: string;
  };
  /** Storage is the requested storage specification */
  readonly storage?: StorageSpec;
}

/** DataVolumeStatus contains the current status of the DataVolume */
export interface DataVolumeStatus {
  /** ClaimName is the name of the underlying PVC used by the DataVolume. */
  readonly claimName?: string;
  readonly conditions?: readonly {
    readonly lastHeartbeatTime?: string;
    readonly lastTransitionTime?: string;
    readonly message?: string;
    readonly reason?: string;
    readonly status: string;
    /** DataVolumeConditionType is the string representation of known condition types */
    readonly type: string;
  }[];
  /** Phase is the current phase of the data volume */
  readonly phase?: string;
  /** DataVolumeProgress is the current progress of the DataVolume transfer operation. */
  readonly progress?: string;
  /** RestartCount is the number of times the pod populating the DataVolume has restarted */
  readonly restartCount?: number;
}

/** Source is the src of the data for the requested DataVolume */
export interface DataVolumeSource {
  /** DataVolumeBlankImage provides the parameters to create a new raw blank image for the PVC */
  readonly blank?: Readonly<Record<string, unknown>>;
  /** DataVolumeSourceGCS provides the parameters to create a Data Volume from an GCS source */
  readonly gcs?: {
    /** SecretRef provides the secret reference needed to access the GCS source */
    readonly secretRef?: string;
    /** URL is the url of the GCS source */
    readonly url: string;
  };
  /** DataVolumeSourceHTTP can be either an http or https endpoint, with an optional basic auth user name and password, and an optional configmap containing additional CAs */
  readonly http?: {
    /** CertConfigMap is a configmap reference, containing a Certificate Authority(CA) public key, and a base64 encoded pem certificate */
    readonly certConfigMap?: string;
    /** ExtraHeaders is a list of strings containing extra headers to include with HTTP transfer requests */
    readonly extraHeaders?: readonly string[];
    /** SecretExtraHeaders is a list of Secret references, each containing an extra HTTP header that may include sensitive information */
    readonly secretExtraHeaders?: readonly string[];
    /** SecretRef A Secret reference, the secret should contain accessKeyId (user name) base64 encoded, and secretKey (password) also base64 encoded */
    readonly secretRef?: string;
    /** URL is the URL of the http(s) endpoint */
    readonly url: string;
  };
  /** DataVolumeSourceImageIO provides the parameters to create a Data Volume from an imageio source */
  readonly imageio?: {
    /** CertConfigMap provides a reference to the CA cert */
    readonly certConfigMap?: string;
    /** DiskID provides id of a disk to be imported */
    readonly diskId: string;
    /** InsecureSkipVerify is a flag to skip certificate verification */
    readonly insecureSkipVerify?: boolean;
    /** SecretRef provides the secret reference needed to access the ovirt-engine */
    readonly secretRef?: string;
    /** URL is the URL of the ovirt-engine */
    readonly url: string;
  };
  /** DataVolumeSourcePVC provides the parameters to create a Data Volume from an existing PVC */
  readonly pvc?: {
    /** The name of the source PVC */
    readonly name: string;
    /** The namespace of the source PVC */
    readonly namespace: string;
  };
  /** DataVolumeSourceRegistry provides the parameters to create a Data Volume from an registry source */
  readonly registry?: {
    /** CertConfigMap provides a reference to the Registry certs */
    readonly certConfigMap?: string;
    /** ImageStream is the name of image stream for import */
    readonly imageStream?: string;
    /** Platform describes the minimum runtime requirements of the image */
    readonly platform?: {
      /** Architecture specifies the image target CPU architecture */
      readonly architecture?: string;
    };
    /** PullMethod can be either "pod" (default import), or "node" (node docker cache based import) */
    readonly pullMethod?: string;
    /** SecretRef provides the secret reference needed to access the Registry source */
    readonly secretRef?: string;
    /** URL is the url of the registry source (starting with the scheme: docker, oci-archive) */
    readonly url?: string;
  };
  /** DataVolumeSourceS3 provides the parameters to create a Data Volume from an S3 source */
  readonly s3?: {
    /** CertConfigMap is a configmap reference, containing a Certificate Authority(CA) public key, and a base64 encoded pem certificate */
    readonly certConfigMap?: string;
    /** SecretRef provides the secret reference needed to access the S3 source */
    readonly secretRef?: string;
    /** URL is the url of the S3 source */
    readonly url: string;
  };
  /** DataVolumeSourceSnapshot provides the parameters to create a Data Volume from an existing VolumeSnapshot */
  readonly snapshot?: {
    /** The name of the source VolumeSnapshot */
    readonly name: string;
    /** The namespace of the source VolumeSnapshot */
    readonly namespace: string;
  };
  /** DataVolumeSourceUpload provides the parameters to create a Data Volume by uploading the source */
  readonly upload?: Readonly<Record<string, unknown>>;
  /** DataVolumeSourceVDDK provides the parameters to create a Data Volume from a Vmware source */
  readonly vddk?: {
    /** BackingFile is the path to the virtual hard disk to migrate from vCenter/ESXi */
    readonly backingFile?: string;
    /** ExtraArgs is a reference to a ConfigMap containing extra arguments to pass directly to the VDDK library */
    readonly extraArgs?: string;
    /** InitImageURL is an optional URL to an image containing an extracted VDDK library, overrides v2v-vmware config map */
    readonly initImageURL?: string;
    /** SecretRef provides a reference to a secret containing the username and password needed to access the vCenter or ESXi host */
    readonly secretRef?: string;
    /** Thumbprint is the certificate thumbprint of the vCenter or ESXi host */
    readonly thumbprint?: string;
    /** URL is the URL of the vCenter or ESXi host with the VM to migrate */
    readonly url?: string;
    /** UUID is the UUID of the virtual machine that the backing file is attached to in vCenter/ESXi */
    readonly uuid?: string;
  };
}

/** Storage is the requested storage specification */
export interface StorageSpec {
  /** AccessModes contains the desired access modes the volume should have. */
  readonly accessModes?: readonly string[];
  /** This field can be used to specify either: * An existing VolumeSnapshot object (snapshot.storage.k8s.io/VolumeSnapshot) * An existing PVC (PersistentVolumeClaim) * An existing custom resource that implements data population (Alpha) In order to use custom resource types that implement data population, the AnyVolumeDataSource feature gate must be enabled. */
  readonly dataSource?: CloneOrigin;
  /** Specifies the object from which to populate the volume with data, if a non-empty volume is desired. */
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
  /** Resources represents the minimum resources the volume should have. */
  readonly resources?: {
    /** Limits describes the maximum amount of compute resources allowed. */
    readonly limits?: Readonly<Record<string, string | number>>;
    /** Requests describes the minimum amount of compute resources required. */
    readonly requests?: Readonly<Record<string, string | number>>;
  };
  /** A label query over volumes to consider for binding. */
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
  /** Name of the StorageClass required by the claim. */
  readonly storageClassName?: string;
  /** volumeMode defines what type of volume is required by the claim. */
  readonly volumeMode?: string;
  /** VolumeName is the binding reference to the PersistentVolume backing this claim. */
  readonly volumeName?: string;
}

/** DataSource references an import/clone source for a DataVolume */
export interface DataSource extends KubeObject {
  /** DataSourceSpec defines specification for DataSource */
  readonly spec: DataSourceSpec;
  /** DataSourceStatus provides the most recently observed status of the DataSource */
  readonly status?: DataSourceStatus;
}

/** DataSourceSpec defines specification for DataSource */
export interface DataSourceSpec {
  /** Source is the source of the data referenced by the DataSource */
  readonly source: {
    /** DataSourceRefSourceDataSource serves as a reference to another DataSource Can be resolved into a DataVolumeSourcePVC or a DataVolumeSourceSnapshot The maximum depth of a reference chain may not exceed 1. */
    readonly dataSource?: {
      /** The name of the source DataSource */
      readonly name: string;
      /** The namespace of the source DataSource */
      readonly namespace: string;
    };
    /** DataVolumeSourcePVC provides the parameters to create a Data Volume from an existing PVC */
    readonly pvc?: {
      /** The name of the source PVC */
      readonly name: string;
      /** The namespace of the source PVC */
      readonly namespace: string;
    };
    /** DataVolumeSourceSnapshot provides the parameters to create a Data Volume from an existing VolumeSnapshot */
    readonly snapshot?: {
      /** The name of the source VolumeSnapshot */
      readonly name: string;
      /** The namespace of the source VolumeSnapshot */
      readonly namespace: string;
    };
  };
}

/** DataSourceStatus provides the most recently observed status of the DataSource */
export interface DataSourceStatus {
  readonly conditions?: readonly {
    readonly lastHeartbeatTime?: string;
    readonly lastTransitionTime?: string;
    readonly message?: string;
    readonly reason?: string;
    readonly status: string;
    /** DataSourceConditionType is the string representation of known condition types */
    readonly type: string;
  }[];
  /** Source is the current source of the data referenced by the DataSource */
  readonly source?: {
    /** DataSourceRefSourceDataSource serves as a reference to another DataSource Can be resolved into a DataVolumeSourcePVC or a DataVolumeSourceSnapshot The maximum depth of a reference chain may not exceed 1. */
    readonly dataSource?: {
      /** The name of the source DataSource */
      readonly name: string;
      /** The namespace of the source DataSource */
      readonly namespace: string;
    };
    /** DataVolumeSourcePVC provides the parameters to create a Data Volume from an existing PVC */
    readonly pvc?: {
      /** The name of the source PVC */
      readonly name: string;
      /** The namespace of the source PVC */
      readonly namespace: string;
    };
    /** DataVolumeSourceSnapshot provides the parameters to create a Data Volume from an existing VolumeSnapshot */
    readonly snapshot?: {
      /** The name of the source VolumeSnapshot */
      readonly name: string;
      /** The namespace of the source VolumeSnapshot */
      readonly namespace: string;
    };
  };
}

/** StorageProfile provides a CDI specific recommendation for storage parameters */
export interface StorageProfile extends KubeObject {
  /** StorageProfileSpec defines specification for StorageProfile */
  readonly spec: StorageProfileSpec;
  /** StorageProfileStatus provides the most recently observed status of the StorageProfile */
  readonly status?: StorageProfileStatus;
}

/** StorageProfileSpec defines specification for StorageProfile */
export interface StorageProfileSpec {
  /** ClaimPropertySets is a provided set of properties applicable to PVC */
  readonly claimPropertySets?: readonly ClaimPropertySet[];
  /** CloneStrategy defines the preferred method for performing a CDI clone */
  readonly cloneStrategy?: string;
  /** DataImportCronSourceFormat defines the format of the DataImportCron-created disk image sources */
  readonly dataImportCronSourceFormat?: string;
  /** SnapshotClass is optional specific VolumeSnapshotClass for CloneStrategySnapshot. */
  readonly snapshotClass?: string;
}

/** StorageProfileStatus provides the most recently observed status of the StorageProfile */
export interface StorageProfileStatus {
  /** ClaimPropertySets computed from the spec and detected in the system */
  readonly claimPropertySets?: readonly ClaimPropertySet[];
  /** CloneStrategy defines the preferred method for performing a CDI clone */
  readonly cloneStrategy?: string;
  /** DataImportCronSourceFormat defines the format of the DataImportCron-created disk image sources */
  readonly dataImportCronSourceFormat?: string;
  /** The Storage class provisioner plugin name */
  readonly provisioner?: string;
  /** SnapshotClass is optional specific VolumeSnapshotClass for CloneStrategySnapshot. */
  readonly snapshotClass?: string;
  /** The StorageClass name for which capabilities are defined */
  readonly storageClass?: string;
}

/** ClaimPropertySet is a set of properties applicable to PVC */
export interface ClaimPropertySet {
  /** AccessModes contains the desired access modes the volume should have. */
  readonly accessModes: readonly string[];
  /** VolumeMode defines what type of volume is required by the claim. */
  readonly volumeMode: 'Block' | 'Filesystem';
}

/** Deprecated for removal in v1. */
export interface ObjectTransfer extends KubeObject {
  /** ObjectTransferSpec specifies the source/target of the transfer */
  readonly spec: ObjectTransferSpec;
  /** ObjectTransferStatus is the status of the ObjectTransfer */
  readonly status?: ObjectTransferStatus;
}

/** ObjectTransferSpec specifies the source/target of the transfer */
export interface ObjectTransferSpec {
  readonly parentName?: string;
  /** TransferSource is the source of a ObjectTransfer */
  readonly source: TransferSource;
  /** TransferTarget is the target of an ObjectTransfer */
  readonly target: TransferTarget;
}

/** ObjectTransferStatus is the status of the ObjectTransfer */
export interface ObjectTransferStatus {
  readonly conditions?: readonly {
    readonly lastHeartbeatTime?: string;
    readonly lastTransitionTime?: string;
    readonly message?: string;
    readonly reason?: string;
    readonly status: string;
    /** ObjectTransferConditionType is the type of ObjectTransferCondition */
    readonly type: string;
  }[];
  /** Data is a place for intermediary state. */
  readonly data?: Readonly<Record<string, string>>;
  /** Phase is the current phase of the transfer */
  readonly phase?: string;
}

/** TransferSource is the source of a ObjectTransfer */
export interface TransferSource {
  readonly apiVersion?: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
  readonly requiredAnnotations?: Readonly<Record<string, string>>;
}

/** TransferTarget is the target of an ObjectTransfer */
export interface TransferTarget {
  readonly name?: string;
  readonly namespace?: string;
}

/** VolumeImportSource works as a specification to populate PersistentVolumeClaims with data imported from an HTTP/S3/Registry/Blank/ImageIO/VDDK source */
export interface VolumeImportSource extends KubeObject {
  /** VolumeImportSourceSpec defines the Spec field for VolumeImportSource */
  readonly spec: VolumeImportSourceSpec;
  /** VolumeImportSourceStatus provides the most recently observed status of the VolumeImportSource */
  readonly status?: Readonly<Record<string, unknown>>;
}

/** VolumeImportSourceSpec defines the Spec field for VolumeImportSource */
export interface VolumeImportSourceSpec {
  /** Checkpoints is a list of DataVolumeCheckpoints, representing stages in a multistage import. */
  readonly checkpoints?: readonly {
    /** Current is the identifier of the snapshot created for this checkpoint. */
    readonly current: string;
    /** Previous is the identifier of the snapshot from the previous checkpoint. */
    readonly previous: string;
  }[];
  /** ContentType represents the type of the imported data (Kubevirt or archive) */
  readonly contentType?: string;
  /** FinalCheckpoint indicates whether the current DataVolumeCheckpoint is the final checkpoint. */
  readonly finalCheckpoint?: boolean;
  /** Preallocation controls whether storage for the target PVC should be allocated in advance. */
  readonly preallocation?: boolean;
  /** Source is the src of the data to be imported in the target PVC */
  readonly source?: ImportSource;
  /** TargetClaim the name of the specific claim to be populated with a multistage import. */
  readonly targetClaim?: string;
}

/** Source is the src of the data to be imported in the target PVC */
export interface ImportSource {
  /** DataVolumeBlankImage provides the parameters to create a new raw blank image for the PVC */
  readonly blank?: Readonly<Record<string, unknown>>;
  /** DataVolumeSourceGCS provides the parameters to create a Data Volume from an GCS source */
  readonly gcs?: {
    /** SecretRef provides the secret reference needed to access the GCS source */
    readonly secretRef?: string;
    /** URL is the url of the GCS source */
    readonly url: string;
  };
  /** DataVolumeSourceHTTP can be either an http or https endpoint, with an optional basic auth user name and password, and an optional configmap containing additional CAs */
  readonly http?: {
    /** CertConfigMap is a configmap reference, containing a Certificate Authority(CA) public key, and a base64 encoded pem certificate */
    readonly certConfigMap?: string;
    /** ExtraHeaders is a list of strings containing extra headers to include with HTTP transfer requests */
    readonly extraHeaders?: readonly string[];
    /** SecretExtraHeaders is a list of Secret references, each containing an extra HTTP header that may include sensitive information */
    readonly secretExtraHeaders?: readonly string[];
    /** SecretRef A Secret reference, the secret should contain accessKeyId (user name) base64 encoded, and secretKey (password) also base64 encoded */
    readonly secretRef?: string;
    /** URL is the URL of the http(s) endpoint */
    readonly url: string;
  };
  /** DataVolumeSourceImageIO provides the parameters to create a Data Volume from an imageio source */
  readonly imageio?: {
    /** CertConfigMap provides a reference to the CA cert */
    readonly certConfigMap?: string;
    /** DiskID provides id of a disk to be imported */
    readonly diskId: string;
    /** InsecureSkipVerify is a flag to skip certificate verification */
    readonly insecureSkipVerify?: boolean;
    /** SecretRef provides the secret reference needed to access the ovirt-engine */
    readonly secretRef?: string;
    /** URL is the URL of the ovirt-engine */
    readonly url: string;
  };
  /** DataVolumeSourceRegistry provides the parameters to create a Data Volume from an registry source */
  readonly registry?: {
    /** CertConfigMap provides a reference to the Registry certs */
    readonly certConfigMap?: string;
    /** ImageStream is the name of image stream for import */
    readonly imageStream?: string;
    /** Platform describes the minimum runtime requirements of the image */
    readonly platform?: {
      /** Architecture specifies the image target CPU architecture */
      readonly architecture?: string;
    };
    /** PullMethod can be either "pod" (default import), or "node" (node docker cache based import) */
    readonly pullMethod?: string;
    /** SecretRef provides the secret reference needed to access the Registry source */
    readonly secretRef?: string;
    /** URL is the url of the registry source (starting with the scheme: docker, oci-archive) */
    readonly url?: string;
  };
  /** DataVolumeSourceS3 provides the parameters to create a Data Volume from an S3 source */
  readonly s3?: {
    /** CertConfigMap is a configmap reference, containing a Certificate Authority(CA) public key, and a base64 encoded pem certificate */
    readonly certConfigMap?: string;
    /** SecretRef provides the secret reference needed to access the S3 source */
    readonly secretRef?: string;
    /** URL is the url of the S3 source */
    readonly url: string;
  };
  /** DataVolumeSourceVDDK provides the parameters to create a Data Volume from a Vmware source */
  readonly vddk?: {
    /** BackingFile is the path to the virtual hard disk to migrate from vCenter/ESXi */
    readonly backingFile?: string;
    /** ExtraArgs is a reference to a ConfigMap containing extra arguments to pass directly to the VDDK library */
    readonly extraArgs?: string;
    /** InitImageURL is an optional URL to an image containing an extracted VDDK library, overrides v2v-vmware config map */
    readonly initImageURL?: string;
    /** SecretRef provides a reference to a secret containing the username and password needed to access the vCenter or ESXi host */
    readonly secretRef?: string;
    /** Thumbprint is the certificate thumbprint of the vCenter or ESXi host */
    readonly thumbprint?: string;
    /** URL is the URL of the vCenter or ESXi host with the VM to migrate */
    readonly url?: string;
    /** UUID is the UUID of the virtual machine that the backing file is attached to in vCenter/ESXi */
    readonly uuid?: string;
  };
}

/** VolumeUploadSource is a specification to populate PersistentVolumeClaims with upload data */
export interface VolumeUploadSource extends KubeObject {
  /** VolumeUploadSourceSpec defines specification for VolumeUploadSource */
  readonly spec: VolumeUploadSourceSpec;
  /** VolumeUploadSourceStatus provides the most recently observed status of the VolumeUploadSource */
  readonly status?: Readonly<Record<string, unknown>>;
}

/** VolumeUploadSourceSpec defines specification for VolumeUploadSource */
export interface VolumeUploadSourceSpec {
  /** ContentType represents the type of the upload data (Kubevirt or archive) */
  readonly contentType?: string;
  /** Preallocation controls whether storage for the target PVC should be allocated in advance. */
  readonly preallocation?: boolean;
}

/** VolumeCloneSource refers to a PVC/VolumeSnapshot of any storageclass/volumemode to be used as the source of a new PVC */
export interface VolumeCloneSource extends KubeObject {
  /** VolumeCloneSourceSpec defines the Spec field for VolumeCloneSource */
  readonly spec: VolumeCloneSourceSpec;
}

/** VolumeCloneSourceSpec defines the Spec field for VolumeCloneSource */
export interface VolumeCloneSourceSpec {
  /** Preallocation controls whether storage for the target PVC should be allocated in advance. */
  readonly preallocation?: boolean;
  /** PriorityClassName is the priorityclass for the claim */
  readonly priorityClassName?: string;
  /** Source is the src of the data to be cloned to the target PVC */
  readonly source: CloneOrigin;
}

/** Source is the src of the data to be cloned to the target PVC */
export interface CloneOrigin {
  /** APIGroup is the group for the resource being referenced. */
  readonly apiGroup?: string;
  /** Kind is the type of resource being referenced */
  readonly kind: string;
  /** Name is the name of resource being referenced */
  readonly name: string;
}
