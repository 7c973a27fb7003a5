import type { KubeObject } from '@sheaf/api';
import { type StorageClass, storageDriver } from '@sheaf/api/virtualization/index';

export const reservedAnnotation = 'harvesterhci.io/is-reserved-storageclass';
export const defaultClassAnnotation = 'storageclass.kubernetes.io/is-default-class';
/** On everything that bears Longhorn's name: what really serves it. */
const servedByAnnotation = 'sheaf.dev/served-by';
const servedBy =
  'qcow2 files in a directory of this machine; what is said of replicas, data locality and migration has no effect';

const expandable = {
  provisioner: storageDriver,
  reclaimPolicy: 'Delete',
  volumeBindingMode: 'Immediate',
  allowVolumeExpansion: true,
} as const;
const replicas = { numberOfReplicas: '3', staleReplicaTimeout: '30' } as const;

/** The classes that manifests written for Harvester name. Afterwards they belong to the users. */
export const usualClasses: readonly StorageClass[] = [
  storageClass('harvester-longhorn', {
    annotations: { [reservedAnnotation]: 'true', [defaultClassAnnotation]: 'true' },
    parameters: { ...replicas, migratable: 'true' },
  }),
  storageClass('longhorn', { parameters: { ...replicas, dataLocality: 'disabled', fsType: 'ext4' } }),
  storageClass('longhorn-static', { parameters: {} }),
  storageClass('vmstate-persistence', {
    annotations: { [reservedAnnotation]: 'true' },
    parameters: { ...replicas, fsType: 'ext4' },
  }),
];

function storageClass(
  name: string,
  {
    annotations,
    parameters,
  }: {
    readonly annotations?: Readonly<Record<string, string>>;
    readonly parameters: Readonly<Record<string, string>>;
  },
): StorageClass {
  return {
    metadata: { name, annotations: { ...annotations, [servedByAnnotation]: servedBy } },
    ...expandable,
    parameters,
  };
}

export const driverObject: KubeObject = {
  metadata: { name: storageDriver, annotations: { [servedByAnnotation]: servedBy } },
  spec: {
    attachRequired: true,
    podInfoOnMount: true,
    storageCapacity: false,
    volumeLifecycleModes: ['Persistent'],
  },
};

export function isDefaultClass({ metadata }: Pick<StorageClass, 'metadata'>): boolean {
  return metadata.annotations?.[defaultClassAnnotation] === 'true';
}

/** The class as it is made: two default ones would be none. */
export function newClass(wanted: StorageClass, existing: readonly StorageClass[]): StorageClass {
  if (!isDefaultClass(wanted) || !existing.some(isDefaultClass)) return wanted;
  const { [defaultClassAnnotation]: _, ...annotations } = wanted.metadata.annotations ?? {};
  return { ...wanted, metadata: { ...wanted.metadata, annotations } };
}
