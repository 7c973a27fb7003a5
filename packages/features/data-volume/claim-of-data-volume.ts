import { identityOf } from '@sheaf/api';
import {
  type DataVolume,
  type PersistentVolumeClaim,
  uploadTargetAnnotation,
} from '@sheaf/api/virtualization/index';
import { parseQuantity, quantityAsBigInt } from '@sheaf/base';

/** The claim that a data volume wants: of its name, and gone with it. `storage`: the size, as it is asked for or as its source has it. */
export function claimOf(dataVolume: DataVolume, storage: string): PersistentVolumeClaim {
  const { namespace, name, uid } = identityOf(dataVolume);
  return {
    metadata: {
      name,
      namespace,
      labels: { ...dataVolume.metadata.labels, app: 'containerized-data-importer' },
      annotations: { ...dataVolume.metadata.annotations, ...annotationsOf(dataVolume) },
      ownerReferences: [
        {
          apiVersion: 'cdi.kubevirt.io/v1beta1',
          kind: 'DataVolume',
          name,
          uid,
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: { ...wantedSpec(dataVolume), resources: { requests: { storage } } },
  };
}

/** What others look at in claims that CDI has made. */
function annotationsOf({ spec }: DataVolume): Readonly<Record<string, string>> {
  const url = spec.source?.http?.url;
  return {
    'cdi.kubevirt.io/storage.contentType': spec.contentType || 'kubevirt',
    ...(spec.source?.upload ? { [uploadTargetAnnotation]: '' } : {}),
    ...(spec.preallocation === true ? { 'cdi.kubevirt.io/storage.preallocation': 'true' } : {}),
    ...(url === undefined
      ? {}
      : {
          'cdi.kubevirt.io/storage.import.source': 'http',
          'cdi.kubevirt.io/storage.import.endpoint': url,
        }),
  };
}

const fields = ['storageClassName', 'volumeName', 'dataSource', 'dataSourceRef', 'selector'] as const;

/** What the storage can do, where the data volume leaves it open. */
function wantedSpec({ spec }: DataVolume): PersistentVolumeClaim['spec'] {
  const wanted = spec.pvc ?? spec.storage ?? {};
  const { accessModes = [], volumeMode = spec.storage ? 'Block' : 'Filesystem' } = wanted;
  const given = fields.filter((field) => wanted[field] !== undefined);
  return {
    accessModes: accessModes.length > 0 ? [...accessModes] : ['ReadWriteMany'],
    volumeMode,
    ...Object.fromEntries(given.map((field) => [field, wanted[field]])),
  };
}

export function isOwnedBy({ metadata }: PersistentVolumeClaim, dataVolume: DataVolume): boolean {
  return metadata.ownerReferences?.some(({ uid }) => uid === dataVolume.metadata.uid) === true;
}

/** Whole bytes of a quantity; none: 0. */
export function bytesOf(quantity: string | number | undefined): number {
  return quantity === undefined ? 0 : Number(quantityAsBigInt(parseQuantity(String(quantity))));
}
