import {
  storageDriver,
  type VolumeSnapshot,
  type VolumeSnapshotClass,
  type VolumeSnapshotContent,
} from '@sheaf/api/virtualization/index';

export const snapshotFinalizers = [
  'snapshot.storage.kubernetes.io/volumesnapshot-as-source-protection',
  'snapshot.storage.kubernetes.io/volumesnapshot-bound-protection',
] as const;
export const contentFinalizer = 'snapshot.storage.kubernetes.io/volumesnapshotcontent-bound-protection';
const defaultAnnotation = 'snapshot.storage.kubernetes.io/is-default-class';

/** The classes that manifests written for Harvester name. Afterwards they belong to the users. */
export const usualSnapshotClasses: readonly VolumeSnapshotClass[] = [
  {
    metadata: { name: 'longhorn-snapshot', annotations: { [defaultAnnotation]: 'true' } },
    driver: storageDriver,
    deletionPolicy: 'Delete',
    parameters: { type: 'snap' },
  },
  { metadata: { name: 'longhorn' }, driver: storageDriver, deletionPolicy: 'Delete' },
];

export function isDefaultClass({ metadata, driver }: VolumeSnapshotClass): boolean {
  return driver === storageDriver && metadata.annotations?.[defaultAnnotation] === 'true';
}

export function contentNameOf({ metadata }: VolumeSnapshot): string {
  return `snapcontent-${metadata.uid ?? ''}`;
}

/** The content of a snapshot that is about to be taken: written before anything is, so that nothing is left without an owner. */
export function newContent(
  snapshot: VolumeSnapshot,
  parts: {
    readonly snapshotClass: VolumeSnapshotClass;
    readonly volumeHandle: string;
    readonly volumeMode: string | undefined;
  },
): VolumeSnapshotContent {
  const { namespace = '', name = '', uid = '' } = snapshot.metadata;
  return {
    metadata: { name: contentNameOf(snapshot), finalizers: [contentFinalizer] },
    spec: {
      deletionPolicy: parts.snapshotClass.deletionPolicy,
      driver: storageDriver,
      source: { volumeHandle: parts.volumeHandle },
      ...(parts.volumeMode === undefined ? {} : { sourceVolumeMode: parts.volumeMode }),
      volumeSnapshotClassName: parts.snapshotClass.metadata.name ?? '',
      volumeSnapshotRef: {
        apiVersion: 'snapshot.storage.k8s.io/v1',
        kind: 'VolumeSnapshot',
        namespace,
        name,
        uid,
      },
    },
  };
}

export function withoutFinalizers<T extends VolumeSnapshot | VolumeSnapshotContent>(
  object: T,
  names: readonly string[],
): T {
  const finalizers = (object.metadata.finalizers ?? []).filter((name) => !names.includes(name));
  return { ...object, metadata: { ...object.metadata, finalizers } };
}
