import { createHash } from 'node:crypto';
import type { Waiting } from '@sheaf/api';
import type { VirtualMachineImage } from '@sheaf/api/virtualization/index';
import type { ImageOrder, ImageOrigin } from '@sheaf/ports';
import { isImported } from './image-conditions.ts';
import { cloneAnnotation, imageIdOf, mirrorsOf, placeOf } from './image-names.ts';
import type { ImageSource, SourceObjects } from './source-objects.ts';
import { volumeSource } from './volume-source.ts';

export function sourceOf(image: VirtualMachineImage, objects: SourceObjects): ImageSource {
  const { spec } = image;
  switch (spec.sourceType) {
    case 'download':
      return downloadSource(image, objects);
    case 'upload':
      return { state: 'ready', origin: { kind: 'upload' } };
    case 'export-from-volume':
      return volumeSource(image, objects);
    case 'clone':
      return cloneSource(image, objects);
    case 'restore':
      return wait({
        reason: 'RestoreUnavailable',
        text: 'It is to come from a backup, and this release has no backups',
        nature: 'fault',
        wayOut: 'delete the image and make it by download or upload',
      });
  }
}

function downloadSource(image: VirtualMachineImage, { additionalAuthorities }: SourceObjects): ImageSource {
  const urls = [image.spec.url ?? '', ...mirrorsOf(image)].filter((url) => url !== '');
  const trust = additionalAuthorities ? { additionalAuthorities } : {};
  return { state: 'ready', origin: { kind: 'download', urls, ...trust } };
}

/** The image that a clone is made from. */
export function originalOf({
  metadata,
  spec,
}: VirtualMachineImage): { readonly namespace: string; readonly name: string } | undefined {
  if (spec.sourceType !== 'clone') return undefined;
  const { securityParameters: security } = spec;
  if (!security) return placeOf(metadata.annotations?.[cloneAnnotation]);
  return { namespace: security.sourceImageNamespace, name: security.sourceImageName };
}

function cloneSource(image: VirtualMachineImage, { original }: SourceObjects): ImageSource {
  if (image.spec.securityParameters)
    return wait({
      reason: 'EncryptionUnavailable',
      text: 'It is to be encrypted or decrypted, and images in a directory are kept as they are',
      nature: 'fault',
      wayOut: `delete the image, make it with the annotation ${cloneAnnotation}, and encrypt the file system of the host`,
    });
  const place = originalOf(image);
  const object = place && { kind: 'VirtualMachineImage', ...place };
  if (!original)
    return wait({
      reason: 'ImageNotFound',
      text: 'The image that it is to be a copy of is not there',
      nature: 'fault',
      wayOut: 'create that image, or delete this one',
      ...(object ? { object } : {}),
    });
  if (!isImported(original))
    return wait({
      reason: 'ImageNotReady',
      text: 'The image that it is to be a copy of is not ready',
      nature: 'transient',
      ...(object ? { object } : {}),
    });
  return { state: 'ready', origin: { kind: 'image', imageId: original.metadata.uid ?? '' } };
}

export function orderOf(image: VirtualMachineImage, origin: ImageOrigin, maxBytes: number): ImageOrder {
  const { checksum } = image.spec;
  return {
    id: image.metadata.uid ?? '',
    title: imageIdOf(image),
    origin,
    ...(checksum ? { sha512: checksum.toLowerCase() } : {}),
    maxBytes,
  };
}

/** Equal for orders of the same content. A volume is never changed for another, and may be read in two ways. */
export function orderDigest({ origin, sha512 = '' }: ImageOrder): string {
  const place = origin.kind === 'volume' || origin.kind === 'snapshot' ? 'volume' : placeIn(origin);
  return createHash('sha256')
    .update(JSON.stringify([place, sha512]))
    .digest('hex')
    .slice(0, 16);
}

function placeIn(origin: ImageOrigin): unknown {
  return origin.kind === 'download' ? origin.urls : origin;
}

function wait(waiting: Waiting): ImageSource {
  return { state: 'waiting', waiting };
}
