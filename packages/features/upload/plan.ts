import {
  dataVolumeUidOf,
  isUploadTarget,
  type PersistentVolumeClaim,
  uploadImageIdOf,
} from '@sheaf/api/virtualization/index';
import { parseQuantity, quantityAsBigInt } from '@sheaf/base';
import type { ImageObservation, ImageOrder } from '@sheaf/ports';

/** Keeps a claim until what was sent for it belongs to its volume, or is removed. */
export const uploadFinalizer = 'sheaf.dev/claim-upload';
const phaseAnnotation = 'cdi.kubevirt.io/storage.pod.phase';
const readyAnnotation = 'cdi.kubevirt.io/storage.pod.ready';
const runningAnnotation = 'cdi.kubevirt.io/storage.condition.running';
const messageAnnotation = 'cdi.kubevirt.io/storage.condition.running.message';

/** What a file may have beyond the disk in it. */
const fileOverheadBytes = 64 * 1024 ** 2;

export interface UploadFacts {
  readonly claim: PersistentVolumeClaim;
  /** What has been sent for it. */
  readonly image: ImageObservation | undefined;
  /** A volume has the image, and will take it along. */
  readonly isImageOwned: boolean;
}

export type UploadStep =
  | { readonly action: 'none' }
  | { readonly action: 'update-claim'; readonly claim: PersistentVolumeClaim }
  | { readonly action: 'request-image'; readonly order: ImageOrder }
  /** Nobody will use what has come; then the claim is let go. */
  | { readonly action: 'let-go'; readonly released: PersistentVolumeClaim };

const none: UploadStep = { action: 'none' };

/** The next step for a claim whose content is uploaded. */
export function planUpload(facts: UploadFacts): UploadStep {
  const { claim, image } = facts;
  if (claim.metadata.deletionTimestamp !== undefined) return planDeletion(facts);
  if (!isUploadTarget(claim)) return none;
  const own = dataVolumeUidOf(claim) === undefined ? planOwnImage(claim, image) : undefined;
  if (own) return own;
  const next = withAnnotations(claim, told(claim, image));
  return next === claim ? none : { action: 'update-claim', claim: next };
}

/** The image of a claim that has no data volume is this feature's own affair. */
function planOwnImage(
  claim: PersistentVolumeClaim,
  image: ImageObservation | undefined,
): UploadStep | undefined {
  const { finalizers = [] } = claim.metadata;
  const isKept = finalizers.includes(uploadFinalizer);
  if (isBound(claim)) return isKept ? { action: 'update-claim', claim: released(claim) } : undefined;
  if (!isKept)
    return { action: 'update-claim', claim: withFinalizers(claim, [...finalizers, uploadFinalizer]) };
  return image ? undefined : { action: 'request-image', order: uploadOrder(claim) };
}

function planDeletion({ claim, image, isImageOwned }: UploadFacts): UploadStep {
  if (claim.metadata.finalizers?.includes(uploadFinalizer) !== true) return none;
  if (image && !isImageOwned) return { action: 'let-go', released: released(claim) };
  return { action: 'update-claim', claim: released(claim) };
}

/** What is asked of the image port for a claim. `totalBytes`: as the sender has announced. */
export function uploadOrder(claim: PersistentVolumeClaim, totalBytes?: number): ImageOrder {
  const { namespace = '', name = '' } = claim.metadata;
  const maxVirtualBytes = askedBytes(claim);
  return {
    id: uploadImageIdOf(claim),
    title: `${namespace}/${name}`,
    origin: { kind: 'upload', ...(totalBytes === undefined ? {} : { totalBytes }) },
    maxBytes: Math.ceil(maxVirtualBytes * 1.01) + fileOverheadBytes,
    maxVirtualBytes,
  };
}

function askedBytes({ spec }: PersistentVolumeClaim): number {
  const asked = spec.resources?.requests?.['storage'] ?? '0';
  return Number(quantityAsBigInt(parseQuantity(asked)));
}

export function isBound({ status }: PersistentVolumeClaim): boolean {
  return status?.phase === 'Bound';
}

/** Its volume is to be made for the first machine that uses it, and nobody has asked for it before. */
export function awaitsConsumer({ status }: PersistentVolumeClaim): boolean {
  return status?.conditions?.some(({ reason }) => reason === 'WaitForFirstConsumer') === true;
}

type Told = Readonly<Record<string, string>>;

/** As CDI tells of the pod that it takes uploads with. */
function told(claim: PersistentVolumeClaim, image: ImageObservation | undefined): Told {
  if (isBound(claim)) return inWords('Succeeded', false, 'Upload Complete');
  if (!image) return inWords('Pending', false, '');
  if (awaitsConsumer(claim)) return inWords('Pending', false, 'It waits for its first consumer');
  const { progress } = image;
  if (progress.state === 'done') return inWords('Running', false, 'Its volume is being made');
  return inWords('Running', true, progress.state === 'failed' ? progress.message : '');
}

function inWords(phase: string, isReady: boolean, message: string): Told {
  return {
    [phaseAnnotation]: phase,
    [readyAnnotation]: String(isReady),
    [runningAnnotation]: String(phase === 'Running'),
    [messageAnnotation]: message,
  };
}

function withAnnotations(claim: PersistentVolumeClaim, annotations: Told): PersistentVolumeClaim {
  const old = claim.metadata.annotations ?? {};
  if (Object.entries(annotations).every(([name, value]) => old[name] === value)) return claim;
  return { ...claim, metadata: { ...claim.metadata, annotations: { ...old, ...annotations } } };
}

function released(claim: PersistentVolumeClaim): PersistentVolumeClaim {
  const rest = (claim.metadata.finalizers ?? []).filter((name) => name !== uploadFinalizer);
  return withFinalizers(claim, rest);
}

function withFinalizers(claim: PersistentVolumeClaim, finalizers: readonly string[]): PersistentVolumeClaim {
  return { ...claim, metadata: { ...claim.metadata, finalizers: [...finalizers] } };
}
