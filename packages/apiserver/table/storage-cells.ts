import type { KubeObject } from '@sheaf/api';
import { ageCell, type CellSources, countOf, nameOf, or, partsOf, shaped } from './cell-source.ts';

interface Volume {
  readonly spec?: {
    readonly claimRef?: { readonly namespace?: string; readonly name?: string } | null;
    readonly accessModes?: readonly string[] | null;
    readonly persistentVolumeReclaimPolicy?: string;
    readonly capacity?: Record<string, string>;
    readonly storageClassName?: string;
    readonly volumeAttributesClassName?: string | null;
    readonly volumeMode?: string | null;
  };
  readonly status?: { readonly phase?: string; readonly reason?: string };
}

interface Claim {
  readonly spec?: {
    readonly volumeName?: string;
    readonly storageClassName?: string | null;
    readonly volumeAttributesClassName?: string | null;
    readonly volumeMode?: string | null;
  };
  readonly status?: {
    readonly phase?: string;
    readonly accessModes?: readonly string[] | null;
    readonly capacity?: Record<string, string>;
  };
}

interface StorageClass {
  readonly provisioner?: string;
  readonly reclaimPolicy?: string;
  readonly volumeBindingMode?: string;
  readonly allowVolumeExpansion?: boolean;
}

interface Driver {
  readonly spec?: {
    readonly attachRequired?: boolean | null;
    readonly podInfoOnMount?: boolean | null;
    readonly storageCapacity?: boolean | null;
    readonly tokenRequests?: readonly { readonly audience?: string }[] | null;
    readonly requiresRepublish?: boolean | null;
    readonly volumeLifecycleModes?: readonly string[] | null;
  };
}

interface Attachment {
  readonly spec?: {
    readonly attacher?: string;
    readonly nodeName?: string;
    readonly source?: { readonly persistentVolumeName?: string | null };
  };
  readonly status?: { readonly attached?: boolean };
}

const modeLetters: readonly (readonly [mode: string, letters: string])[] = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
];

function accessModesCell(modes: readonly string[] | null | undefined): string {
  return modeLetters
    .filter(([mode]) => modes?.includes(mode))
    .map(([, letters]) => letters)
    .join(',');
}

function classOf(object: KubeObject, name: string | null | undefined): string {
  return object.metadata.annotations?.['volume.beta.kubernetes.io/storage-class'] ?? or(name, '');
}

function isDefaultClass({ metadata: { annotations } }: KubeObject): boolean {
  const names = [
    'storageclass.kubernetes.io/is-default-class',
    'storageclass.beta.kubernetes.io/is-default-class',
  ];
  return names.some((name) => annotations?.[name] === 'true');
}

function phaseOf(object: KubeObject, phase: string | undefined): string {
  return object.metadata.deletionTimestamp ? 'Terminating' : or(phase, '');
}

export const storageCells: CellSources = {
  PersistentVolume: (object, now) => {
    const { spec, status } = partsOf<Volume>(object);
    const claim = spec.claimRef;
    return [
      nameOf(object),
      or(spec.capacity?.['storage'], '0'),
      accessModesCell(spec.accessModes),
      or(spec.persistentVolumeReclaimPolicy, ''),
      phaseOf(object, status.phase),
      claim ? `${or(claim.namespace, '')}/${or(claim.name, '')}` : '',
      classOf(object, spec.storageClassName),
      or(spec.volumeAttributesClassName, '<unset>'),
      or(status.reason, ''),
      ageCell(object, now),
      or(spec.volumeMode, '<unset>'),
    ];
  },
  PersistentVolumeClaim: (object, now) => {
    const { spec, status } = partsOf<Claim>(object);
    const isBound = Boolean(spec.volumeName);
    return [
      nameOf(object),
      phaseOf(object, status.phase),
      or(spec.volumeName, ''),
      isBound ? or(status.capacity?.['storage'], '0') : '',
      isBound ? accessModesCell(status.accessModes) : '',
      classOf(object, spec.storageClassName),
      or(spec.volumeAttributesClassName, '<unset>'),
      ageCell(object, now),
      or(spec.volumeMode, '<unset>'),
    ];
  },
  'storage.k8s.io/StorageClass': (object, now) => {
    const { provisioner, reclaimPolicy, volumeBindingMode, allowVolumeExpansion } =
      shaped<StorageClass>(object);
    return [
      isDefaultClass(object) ? `${nameOf(object)} (default)` : nameOf(object),
      or(provisioner, ''),
      or(reclaimPolicy, 'Delete'),
      or(volumeBindingMode, 'Immediate'),
      or(allowVolumeExpansion, false),
      ageCell(object, now),
    ];
  },
  'storage.k8s.io/CSINode': (object, now) => {
    const { spec } = shaped<{ readonly spec?: { readonly drivers?: readonly unknown[] } }>(object);
    return [nameOf(object), countOf(spec?.drivers), ageCell(object, now)];
  },
  'storage.k8s.io/CSIDriver': (object, now) => {
    const { spec } = shaped<Driver>(object);
    const audiences = spec?.tokenRequests?.map(({ audience }) => or(audience, '')).join(',');
    return [
      nameOf(object),
      or(spec?.attachRequired, true),
      or(spec?.podInfoOnMount, false),
      or(spec?.storageCapacity, false),
      or(audiences, '<unset>'),
      or(spec?.requiresRepublish, false),
      (spec?.volumeLifecycleModes ?? []).join(',') || '<none>',
      ageCell(object, now),
    ];
  },
  'storage.k8s.io/VolumeAttributesClass': (object, now) => {
    const { driverName } = shaped<{ readonly driverName?: string }>(object);
    return [nameOf(object), or(driverName, ''), ageCell(object, now)];
  },
  'storage.k8s.io/VolumeAttachment': (object, now) => {
    const { spec, status } = partsOf<Attachment>(object);
    return [
      nameOf(object),
      or(spec.attacher, ''),
      or(spec.source?.persistentVolumeName, ''),
      or(spec.nodeName, ''),
      or(status.attached, false),
      ageCell(object, now),
    ];
  },
};
