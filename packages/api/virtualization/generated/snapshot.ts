// Written by generate/write-definitions.ts; see generated/NOTICE of this package.

import type { KubeObject } from '../../meta/object.ts';

/** VolumeSnapshot is a user's request for either creating a point-in-time snapshot of a persistent volume, or binding to a pre-existing snapshot. */
export interface VolumeSnapshot extends KubeObject {
  /** spec defines the desired characteristics of a snapshot requested by a user. */
  readonly spec: VolumeSnapshotSpec;
  /** status represents the current information of a snapshot. */
  readonly status?: VolumeSnapshotStatus;
}

/** spec defines the desired characteristics of a snapshot requested by a user. */
export interface VolumeSnapshotSpec {
  /** source specifies where a snapshot will be created from. */
  readonly source: {
    /** persistentVolumeClaimName specifies the name of the PersistentVolumeClaim object representing the volume from which a snapshot should be created. */
    readonly persistentVolumeClaimName?: string;
    /** volumeSnapshotContentName specifies the name of a pre-existing VolumeSnapshotContent object representing an existing volume snapshot. */
    readonly volumeSnapshotContentName?: string;
  };
  /** VolumeSnapshotClassName is the name of the VolumeSnapshotClass requested by the VolumeSnapshot. */
  readonly volumeSnapshotClassName?: string;
}

/** status represents the current information of a snapshot. */
export interface VolumeSnapshotStatus {
  /** boundVolumeSnapshotContentName is the name of the VolumeSnapshotContent object to which this VolumeSnapshot object intends to bind to. */
  readonly boundVolumeSnapshotContentName?: string;
  /** creationTime is the timestamp when the point-in-time snapshot is taken by the underlying storage system. */
  readonly creationTime?: string;
  /** error is the last observed error during snapshot creation, if any. */
  readonly error?: {
    /** message is a string detailing the encountered error during snapshot creation if specified. */
    readonly message?: string;
    /** time is the timestamp when the error was encountered. */
    readonly time?: string;
  };
  /** readyToUse indicates if the snapshot is ready to be used to restore a volume. */
  readonly readyToUse?: boolean;
  /** restoreSize represents the minimum size of volume required to create a volume from this snapshot. */
  readonly restoreSize?: string | number;
  /** VolumeGroupSnapshotName is the name of the VolumeGroupSnapshot of which this VolumeSnapshot is a part of. */
  readonly volumeGroupSnapshotName?: string;
}

/** VolumeSnapshotClass specifies parameters that a underlying storage system uses when creating a volume snapshot. */
export interface VolumeSnapshotClass extends KubeObject {
  /** deletionPolicy determines whether a VolumeSnapshotContent created through the VolumeSnapshotClass should be deleted when its bound VolumeSnapshot is deleted. */
  readonly deletionPolicy: 'Delete' | 'Retain';
  /** driver is the name of the storage driver that handles this VolumeSnapshotClass. */
  readonly driver: string;
  /** parameters is a key-value map with storage driver specific parameters for creating snapshots. */
  readonly parameters?: Readonly<Record<string, string>>;
}

/** VolumeSnapshotContent represents the actual "on-disk" snapshot object in the underlying storage system */
export interface VolumeSnapshotContent extends KubeObject {
  /** spec defines properties of a VolumeSnapshotContent created by the underlying storage system. */
  readonly spec: VolumeSnapshotContentSpec;
  /** status represents the current information of a snapshot. */
  readonly status?: VolumeSnapshotContentStatus;
}

/** spec defines properties of a VolumeSnapshotContent created by the underlying storage system. */
export interface VolumeSnapshotContentSpec {
  /** deletionPolicy determines whether this VolumeSnapshotContent and its physical snapshot on the underlying storage system should be deleted when its bound VolumeSnapshot is deleted. */
  readonly deletionPolicy: 'Delete' | 'Retain';
  /** driver is the name of the CSI driver used to create the physical snapshot on the underlying storage system. */
  readonly driver: string;
  /** source specifies whether the snapshot is (or should be) dynamically provisioned or already exists, and just requires a Kubernetes object representation. */
  readonly source: {
    /** snapshotHandle specifies the CSI "snapshot_id" of a pre-existing snapshot on the underlying storage system for which a Kubernetes object representation was (or should be) created. */
    readonly snapshotHandle?: string;
    /** volumeHandle specifies the CSI "volume_id" of the volume from which a snapshot should be dynamically taken from. */
    readonly volumeHandle?: string;
  };
  /** SourceVolumeMode is the mode of the volume whose snapshot is taken. */
  readonly sourceVolumeMode?: string;
  /** name of the VolumeSnapshotClass from which this snapshot was (or will be) created. */
  readonly volumeSnapshotClassName?: string;
  /** volumeSnapshotRef specifies the VolumeSnapshot object to which this VolumeSnapshotContent object is bound. */
  readonly volumeSnapshotRef: {
    /** API version of the referent. */
    readonly apiVersion?: string;
    /** If referring to a piece of an object instead of an entire object, this string should contain a valid JSON/Go field access statement, such as desiredState.manifest.containers[2]. */
    readonly fieldPath?: string;
    /** Kind of the referent. */
    readonly kind?: string;
    /** Name of the referent. */
    readonly name?: string;
    /** Namespace of the referent. */
    readonly namespace?: string;
    /** Specific resourceVersion to which this reference is made, if any. */
    readonly resourceVersion?: string;
    /** UID of the referent. */
    readonly uid?: string;
  };
}

/** status represents the current information of a snapshot. */
export interface VolumeSnapshotContentStatus {
  /** creationTime is the timestamp when the point-in-time snapshot is taken by the underlying storage system. */
  readonly creationTime?: number;
  /** error is the last observed error during snapshot creation, if any. */
  readonly error?: {
    /** message is a string detailing the encountered error during snapshot creation if specified. */
    readonly message?: string;
    /** time is the timestamp when the error was encountered. */
    readonly time?: string;
  };
  /** readyToUse indicates if a snapshot is ready to be used to restore a volume. */
  readonly readyToUse?: boolean;
  /** restoreSize represents the complete size of the snapshot in bytes. */
  readonly restoreSize?: number;
  /** snapshotHandle is the CSI "snapshot_id" of a snapshot on the underlying storage system. */
  readonly snapshotHandle?: string;
  /** VolumeGroupSnapshotHandle is the CSI "group_snapshot_id" of a group snapshot on the underlying storage system. */
  readonly volumeGroupSnapshotHandle?: string;
}
