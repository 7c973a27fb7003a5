import { identityOf, type WaitedFor, type Waiting } from '@sheaf/api';
import {
  type DataVolume,
  isUploadTarget,
  type PersistentVolumeClaim,
  type StorageClass,
  uploadImageIdOf,
} from '@sheaf/api/virtualization/index';

/** Where the first content of a claim's volume is to come from, as the API names it. */
export type ClaimOrigin =
  | { readonly kind: 'blank' }
  | { readonly kind: 'claim' | 'snapshot'; readonly namespace: string; readonly name: string }
  /** An image that was fetched for this claim alone; it goes with its volume. */
  | { readonly kind: 'own-image'; readonly imageId: string; readonly object: WaitedFor }
  /** The image that a class stands for. */
  | { readonly kind: 'class-image'; readonly className: string; readonly backingImage: string }
  | { readonly kind: 'impossible'; readonly waiting: Waiting };

const snapshotGroup = 'snapshot.storage.k8s.io';

/** `dataVolume`: the one that the claim was made for. */
export function originOf(
  claim: PersistentVolumeClaim,
  storageClass: StorageClass | undefined,
  dataVolume: DataVolume | undefined,
): ClaimOrigin {
  if (dataVolume) return dataVolumeOrigin(dataVolume);
  if (isUploadTarget(claim)) return uploadOrigin(claim);
  const source = claim.spec.dataSourceRef ?? claim.spec.dataSource;
  if (source) return sourceOrigin(source, identityOf(claim).namespace);
  const backingImage = storageClass?.parameters?.['backingImage'];
  if (backingImage)
    return { kind: 'class-image', className: storageClass?.metadata.name ?? '', backingImage };
  return { kind: 'blank' };
}

function uploadOrigin(claim: PersistentVolumeClaim): ClaimOrigin {
  const { namespace = '', name = '' } = claim.metadata;
  const object = { kind: 'PersistentVolumeClaim', namespace, name };
  return { kind: 'own-image', imageId: uploadImageIdOf(claim), object };
}

type Source = NonNullable<PersistentVolumeClaim['spec']['dataSource']>;

function sourceOrigin({ apiGroup, kind, name, namespace }: Source, ownNamespace: string): ClaimOrigin {
  const group = apiGroup ?? '';
  if (namespace && namespace !== ownNamespace)
    return impossible(
      `Its data source is in namespace ${namespace}`,
      'use a DataVolume, which may take its content from another namespace, or a source in this one',
    );
  if (group === '' && kind === 'PersistentVolumeClaim')
    return { kind: 'claim', namespace: ownNamespace, name };
  if (group === snapshotGroup && kind === 'VolumeSnapshot')
    return { kind: 'snapshot', namespace: ownNamespace, name };
  return impossible(
    `Nothing here fills volumes from a ${kind}${group === '' ? '' : ` of ${group}`}`,
    'use a PersistentVolumeClaim, a VolumeSnapshot or a DataVolume as source',
  );
}

function dataVolumeOrigin({ metadata, spec }: DataVolume): ClaimOrigin {
  const { namespace = '', name = '', uid = '' } = metadata;
  const { source = {} } = spec;
  if (source.pvc) return { kind: 'claim', ...placeOf(source.pvc, namespace) };
  if (source.snapshot) return { kind: 'snapshot', ...placeOf(source.snapshot, namespace) };
  if (isFetched(source))
    return { kind: 'own-image', imageId: uid, object: { kind: 'DataVolume', namespace, name } };
  if (source.blank) return { kind: 'blank' };
  return impossible('The source of its DataVolume is not available', 'see the conditions of the DataVolume');
}

/** By the feature of data volumes, into an image of its own. */
function isFetched({ http, upload, registry }: NonNullable<DataVolume['spec']['source']>): boolean {
  return (http ?? upload ?? registry) !== undefined;
}

function placeOf(
  { namespace, name }: { readonly namespace?: string; readonly name: string },
  ownNamespace: string,
): { readonly namespace: string; readonly name: string } {
  return { namespace: namespace === undefined || namespace === '' ? ownNamespace : namespace, name };
}

function impossible(text: string, wayOut: string): ClaimOrigin {
  return { kind: 'impossible', waiting: { reason: 'SourceUnsupported', text, nature: 'fault', wayOut } };
}
