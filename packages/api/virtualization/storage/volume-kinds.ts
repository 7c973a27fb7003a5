import type { Condition } from '../../meta/conditions.ts';
import type { KubeObject } from '../../meta/object.ts';

/** The name under which manifests and clients of Harvester know the storage of a cluster. */
export const storageDriver = 'driver.longhorn.io';

interface TypedReference {
  readonly apiGroup?: string | null;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
}

export interface PersistentVolumeClaim extends KubeObject {
  readonly spec: {
    readonly accessModes?: readonly string[];
    readonly resources?: { readonly requests?: Readonly<Record<string, string>> };
    readonly storageClassName?: string;
    readonly volumeMode?: string;
    readonly volumeName?: string;
    readonly dataSource?: TypedReference;
    readonly dataSourceRef?: TypedReference;
  };
  readonly status?: PersistentVolumeClaimStatus;
}

export interface PersistentVolumeClaimStatus {
  readonly phase?: string;
  readonly accessModes?: readonly string[];
  readonly capacity?: Readonly<Record<string, string>>;
  readonly allocatedResources?: Readonly<Record<string, string>> | undefined;
  readonly allocatedResourceStatuses?: Readonly<Record<string, string>> | undefined;
  readonly conditions?: readonly Condition[] | undefined;
}

export interface PersistentVolume extends KubeObject {
  readonly spec: {
    readonly capacity: Readonly<Record<string, string>>;
    readonly accessModes: readonly string[];
    readonly volumeMode?: string;
    readonly persistentVolumeReclaimPolicy?: string;
    readonly storageClassName?: string;
    readonly claimRef?: {
      readonly apiVersion?: string;
      readonly kind?: string;
      readonly namespace?: string;
      readonly name?: string;
      readonly uid?: string;
      readonly resourceVersion?: string;
    };
    readonly csi?: {
      readonly driver: string;
      readonly volumeHandle: string;
      readonly volumeAttributes?: Readonly<Record<string, string>>;
    };
  };
  readonly status?: { readonly phase?: string; readonly message?: string; readonly reason?: string };
}

export interface StorageClass extends KubeObject {
  readonly provisioner: string;
  readonly parameters?: Readonly<Record<string, string>>;
  readonly reclaimPolicy?: string;
  readonly volumeBindingMode?: string;
  readonly allowVolumeExpansion?: boolean;
}
