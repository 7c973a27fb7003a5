import { type Condition, findCondition, identityOf, type WaitedFor, type Waiting } from '@sheaf/api';
import type {
  PersistentVolume,
  PersistentVolumeClaim,
  VirtualMachineImage,
  VolumeSnapshot,
  VolumeSnapshotContent,
} from '@sheaf/api/virtualization/index';
import { parseQuantity, quantityAsBigInt } from '@sheaf/base';
import type { ImageObservation, VolumeContent } from '@sheaf/ports';
import type { ClaimOrigin } from './claim-origin.ts';

/** What a volume is to hold at first, or why that cannot be said yet. */
export type ClaimContent =
  | {
      readonly state: 'ready';
      readonly content: VolumeContent;
      /** The volume must have at least these. */
      readonly leastBytes?: number;
      /** Goes with the volume. */
      readonly ownImageId?: string;
    }
  /** A machine writes to its source, or it is copied with others: a snapshot of it is wanted first, which goes when the claim is bound. */
  | {
      readonly state: 'needs-snapshot';
      readonly source: { readonly namespace: string; readonly name: string };
    }
  | { readonly state: 'waiting'; readonly waiting: Waiting };

/** The objects that origins name, as far as they are there. */
export interface ContentObjects {
  readonly claim?: PersistentVolumeClaim | undefined;
  readonly volume?: PersistentVolume | undefined;
  /** A machine is on that claim, or it is to be copied at one moment with others. */
  readonly needsSnapshot?: boolean;
  readonly snapshot?: VolumeSnapshot | undefined;
  readonly snapshotContent?: VolumeSnapshotContent | undefined;
  readonly image?: VirtualMachineImage | undefined;
  readonly ownImage?: ImageObservation | undefined;
}

export function contentOf(origin: ClaimOrigin, objects: ContentObjects): ClaimContent {
  switch (origin.kind) {
    case 'blank':
      return { state: 'ready', content: { kind: 'blank' } };
    case 'impossible':
      return { state: 'waiting', waiting: origin.waiting };
    case 'claim':
      return claimContent(origin, objects);
    case 'snapshot':
      return snapshotContent(origin, objects);
    case 'own-image':
      return ownImageContent(origin, objects.ownImage);
    case 'class-image':
      return classImageContent(origin, objects.image);
  }
}

type OriginOf<Kind extends ClaimOrigin['kind']> = Extract<ClaimOrigin, { kind: Kind }>;

function claimContent(
  { namespace, name }: { readonly namespace: string; readonly name: string },
  objects: ContentObjects,
): ClaimContent {
  const { claim, volume, needsSnapshot, snapshot } = objects;
  const object = { kind: 'PersistentVolumeClaim', namespace, name };
  if (!claim)
    return wait({
      reason: 'SourceNotFound',
      text: 'The claim whose content it is to have is not there',
      nature: 'fault',
      wayOut: 'create that claim, or delete this one',
      object,
    });
  const handle = volume?.spec.csi?.volumeHandle;
  if (claim.status?.phase !== 'Bound' || handle === undefined)
    return wait({
      reason: 'SourceUnbound',
      text: 'The claim whose content it is to have has no volume yet',
      nature: 'transient',
      object,
    });
  if (snapshot) return snapshotContent({ namespace, name: identityOf(snapshot).name }, objects);
  return needsSnapshot
    ? { state: 'needs-snapshot', source: { namespace, name } }
    : volumeContent(claim, handle);
}

function volumeContent(claim: PersistentVolumeClaim, volumeId: string): ClaimContent {
  const leastBytes = bytesOf(claim.status?.capacity?.['storage']);
  return { state: 'ready', content: { kind: 'volume', volumeId }, leastBytes };
}

function snapshotContent(
  { namespace, name }: { readonly namespace: string; readonly name: string },
  { snapshot, snapshotContent: taken }: ContentObjects,
): ClaimContent {
  const object = { kind: 'VolumeSnapshot', namespace, name };
  if (!snapshot)
    return wait({
      reason: 'SourceNotFound',
      text: 'The snapshot whose content it is to have is not there',
      nature: 'fault',
      wayOut: 'create that snapshot, or delete this claim',
      object,
    });
  const snapshotId = taken?.status?.snapshotHandle;
  if (snapshot.status?.readyToUse !== true || snapshotId === undefined)
    return wait({
      reason: 'SnapshotNotReady',
      text: 'The snapshot whose content it is to have is not ready',
      nature: 'transient',
      object,
    });
  const leastBytes = taken?.status?.restoreSize ?? 0;
  return { state: 'ready', content: { kind: 'snapshot', snapshotId }, leastBytes };
}

function ownImageContent(
  { imageId, object }: OriginOf<'own-image'>,
  observation: ImageObservation | undefined,
): ClaimContent {
  const progress = observation?.progress;
  if (observation?.image)
    return {
      state: 'ready',
      content: { kind: 'image', imageId },
      leastBytes: observation.image.virtualBytes,
      ownImageId: imageId,
    };
  const percent = progress?.state === 'working' ? `, ${progress.percent} %` : '';
  return wait({
    reason: progress?.state === 'failed' ? 'ImportFailed' : 'Importing',
    text:
      progress?.state === 'failed'
        ? `Its content could not be fetched: ${progress.message}`
        : `Its content is being fetched${percent}`,
    nature: 'transient',
    object,
  });
}

function classImageContent(
  { className, backingImage }: OriginOf<'class-image'>,
  image: VirtualMachineImage | undefined,
): ClaimContent {
  if (!image)
    return wait({
      reason: 'ImageNotFound',
      text: `The image ${backingImage} that class ${className} stands for is not there`,
      nature: 'fault',
      wayOut: 'delete the claim and make it with the class of an image that is there',
    });
  const { namespace, name, uid } = identityOf(image);
  const { conditions: all, virtualSize = 0, progress = 0 } = image.status ?? {};
  const conditions = all as readonly Condition[] | undefined;
  const imported = findCondition(conditions, 'Imported');
  if (imported?.status === 'True')
    return { state: 'ready', content: { kind: 'image', imageId: uid }, leastBytes: virtualSize };
  return wait(
    imageWaiting({ kind: 'VirtualMachineImage', namespace, name }, { conditions, imported, progress }),
  );
}

function imageWaiting(
  object: WaitedFor,
  {
    conditions,
    imported,
    progress,
  }: {
    readonly conditions: readonly Condition[] | undefined;
    readonly imported: Condition | undefined;
    readonly progress: number;
  },
): Waiting {
  if (findCondition(conditions, 'RetryLimitExceeded')?.status === 'True')
    return {
      reason: 'ImageFailed',
      text: `The image could not be had: ${imported?.message ?? 'see its conditions'}`,
      nature: 'fault',
      wayOut: 'delete the image, make it again, and then this claim',
      object,
    };
  return {
    reason: 'ImageNotReady',
    text: `The image is not ready, ${progress} %`,
    nature: 'transient',
    object,
  };
}

function wait(waiting: Waiting): ClaimContent {
  return { state: 'waiting', waiting };
}

/** Whole bytes of a quantity; none: 0. */
export function bytesOf(quantity: string | undefined): number {
  return quantity === undefined ? 0 : Number(quantityAsBigInt(parseQuantity(quantity)));
}
