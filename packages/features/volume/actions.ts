import type { KubeObject } from '@sheaf/api';
import type {
  PersistentVolumeClaim,
  VirtualMachineImage,
  VolumeSnapshot,
} from '@sheaf/api/virtualization/index';
import { formatQuantity, quantityOf } from '@sheaf/base';
import { bytesOf } from './claim-content.ts';
import { classNameOf, requestedText } from './volume-object.ts';

const imageAnnotation = 'harvesterhci.io/imageId';
const classAnnotation = 'harvesterhci.io/storageClassName';
const provisionerAnnotation = 'harvesterhci.io/storageProvisioner';

/** An image with the content of a claim. */
export function exportedImage(
  claim: PersistentVolumeClaim,
  order: { readonly displayName: string; readonly namespace: string; readonly storageClassName: string },
): VirtualMachineImage {
  const { displayName, namespace, storageClassName } = order;
  return {
    metadata: {
      generateName: 'image-',
      namespace,
      ...(storageClassName === '' ? {} : { annotations: { [classAnnotation]: storageClassName } }),
    },
    spec: {
      backend: 'backingimage',
      displayName,
      sourceType: 'export-from-volume',
      pvcName: claim.metadata.name ?? '',
      pvcNamespace: claim.metadata.namespace ?? '',
    },
  };
}

/** A claim with the content of another. */
export function clonedClaim(claim: PersistentVolumeClaim, name: string): PersistentVolumeClaim {
  const { namespace = '', annotations = {}, name: sourceName = '' } = claim.metadata;
  const imageId = annotations[imageAnnotation];
  const storageClassName = classNameOf(claim);
  return {
    metadata: {
      name,
      namespace,
      ...(imageId === undefined ? {} : { annotations: { [imageAnnotation]: imageId } }),
    },
    spec: {
      accessModes: [...(claim.spec.accessModes ?? [])],
      ...(claim.spec.volumeMode === undefined ? {} : { volumeMode: claim.spec.volumeMode }),
      ...(storageClassName === undefined ? {} : { storageClassName }),
      resources: { requests: { storage: requestedText(claim) } },
      dataSource: { kind: 'PersistentVolumeClaim', name: sourceName },
    },
  };
}

/** A snapshot of a claim, which goes with it. */
export function snapshotOf(
  claim: PersistentVolumeClaim,
  order: { readonly name: string; readonly className: string; readonly provisioner: string },
): VolumeSnapshot {
  const { namespace = '', name = '', uid = '', annotations = {} } = claim.metadata;
  const imageId = annotations[imageAnnotation];
  return {
    metadata: {
      name: order.name,
      namespace,
      annotations: {
        [classAnnotation]: classNameOf(claim) ?? '',
        [provisionerAnnotation]: order.provisioner,
        ...(imageId === undefined ? {} : { [imageAnnotation]: imageId }),
      },
      ownerReferences: [{ apiVersion: 'v1', kind: 'PersistentVolumeClaim', name, uid }],
    },
    spec: { source: { persistentVolumeClaimName: name }, volumeSnapshotClassName: order.className },
  };
}

/**
 * The size that takes an expansion back. The API lets a request shrink only to more than the capacity: it is one byte more,
 * which is less than a block and therefore met.
 */
export function cancelledSize(claim: PersistentVolumeClaim): string | undefined {
  const capacity = bytesOf(claim.status?.capacity?.['storage']);
  if (bytesOf(requestedText(claim)) - capacity <= 1) return undefined;
  return formatQuantity(quantityOf(capacity + 1, 'BinarySI'));
}

/** Which class snapshots of volumes of a provisioner get, by the setting `csi-driver-config`. */
export function snapshotClassOf(setting: KubeObject | undefined, provisioner: string): string {
  const { value, default: usual } = (setting ?? {}) as { readonly value?: string; readonly default?: string };
  try {
    const drivers = JSON.parse(value || usual || '{}') as Readonly<
      Record<string, { readonly volumeSnapshotClassName?: unknown } | undefined>
    >;
    const name = drivers[provisioner]?.volumeSnapshotClassName;
    if (typeof name === 'string' && name !== '') return name;
  } catch {
    // A setting that cannot be read names nothing.
  }
  return 'longhorn-snapshot';
}
