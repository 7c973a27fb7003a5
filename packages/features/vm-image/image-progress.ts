import { waitingCondition } from '@sheaf/api';
import type { VirtualMachineImage, VirtualMachineImageStatus } from '@sheaf/api/virtualization/index';
import type { ImageObservation, Progress } from '@sheaf/ports';
import { type NewCondition, withConditions } from './image-conditions.ts';
import { retryAnnotation } from './image-names.ts';
import { retriesOf, type UploadFacts } from './plan.ts';

type FailedProgress = Extract<Progress, { state: 'failed' }>;
type Imported = NewCondition & { readonly type: 'Imported' };

export const importing = { type: 'Imported', status: 'Unknown', reason: 'Importing', message: '' } as const;
export const notExceeded = { type: 'RetryLimitExceeded', status: 'False', reason: '', message: '' } as const;
const imported = { type: 'Imported', status: 'True', reason: 'Imported', message: '' } as const;
const noCopy = {
  type: 'MetadataReady',
  status: 'Unknown',
  reason: 'NoBackupTarget',
  message: 'no other cluster can take it over: this release keeps no backups',
} as const;

export interface Now {
  readonly upload: UploadFacts;
  /** RFC 3339 in seconds. */
  readonly now: string;
}

/** While its content is coming or being looked at. */
export function workingStatus(
  image: VirtualMachineImage,
  observation: ImageObservation,
  { upload, now }: Now,
): VirtualMachineImageStatus {
  const { status = {}, spec } = image;
  const size = upload.totalBytes ?? observation.totalBytes ?? status.size;
  const isUpload = spec.sourceType === 'upload';
  const progress = isUpload ? uploadPercent(observation, size) : percentOf(observation);
  const changed = {
    ...status,
    progress,
    ...(size === undefined ? {} : { size }),
  };
  const isSame = progress === status.progress && size === status.size;
  const condition = isUpload ? uploading(observation, upload, size) : importing;
  return withConditions(isSame ? status : changed, now, condition);
}

/** 100 is for what can be used. */
function percentOf({ progress }: ImageObservation): number {
  return progress.state === 'working' ? Math.min(99, Math.floor(progress.percent)) : 99;
}

function uploadPercent({ receivedBytes }: ImageObservation, size: number | undefined): number {
  return size === undefined || size === 0 ? 0 : Math.min(99, Math.floor((receivedBytes / size) * 100));
}

function uploading(
  { receivedBytes }: ImageObservation,
  { isActive, interruption }: UploadFacts,
  size: number | undefined,
): Imported {
  if (isActive || receivedBytes === size) return importing;
  if (receivedBytes === 0) return { ...importing, message: 'its content has not been uploaded yet' };
  return {
    ...waitingCondition(
      { type: 'Imported', status: 'Unknown' },
      {
        reason: 'UploadInterrupted',
        text: `${receivedBytes} of ${size ?? 'its'} bytes have come, and no more are coming${interruption === undefined ? '' : `: ${interruption}`}`,
        nature: 'fault',
        wayOut: `go on with ?action=upload&offset=${receivedBytes}, or upload the whole file again`,
      },
    ),
    type: 'Imported',
  };
}

/** It can be used. */
export function doneStatus(
  { status = {} }: VirtualMachineImage,
  { image, receivedBytes }: ImageObservation,
  now: string,
): VirtualMachineImageStatus {
  const size = receivedBytes > 0 ? receivedBytes : (image?.allocatedBytes ?? 0);
  const known = { ...status, progress: 100, size, virtualSize: image?.virtualBytes ?? 0 };
  return withConditions(known, now, imported, notExceeded, noCopy);
}

/** One more attempt has failed. */
export function failedStatus(
  image: VirtualMachineImage,
  progress: FailedProgress,
  now: string,
): VirtualMachineImageStatus {
  const failed = (image.status?.failed ?? 0) + 1;
  const counted = { ...image.status, failed, lastFailedTime: now };
  const retries = retriesOf(image);
  if (progress.nature === 'fault') return faultyStatus({ ...image, status: counted }, progress, now);
  const attempt = `attempt ${failed} of ${retries + 1}: ${progress.message}`;
  if (failed > retries)
    return withConditions(
      counted,
      now,
      ended(
        'ImportFailed',
        attempt,
        `set the annotation ${retryAnnotation}, or a higher spec.retry, to try again`,
      ),
      exceeded('RetryLimitExceeded', `${failed} attempts have failed, the last with: ${progress.message}`),
    );
  const waiting = waitingCondition(
    { type: 'Imported', status: 'Unknown' },
    { reason: 'RetryPending', text: attempt, nature: 'transient' },
  );
  return withConditions(counted, now, waiting, { ...notExceeded, message: attempt });
}

/** Trying again would come to the same. */
function faultyStatus(
  image: VirtualMachineImage,
  { message }: FailedProgress,
  now: string,
): VirtualMachineImageStatus {
  const { status = {}, spec } = image;
  if (spec.sourceType === 'upload')
    return withConditions(
      { ...status, progress: 0 },
      now,
      ended('UploadFailed', message, 'upload the right file, or correct spec.checksum and upload again'),
    );
  const wayOut = {
    download: `correct spec.checksum if that is what is wrong, set the annotation ${retryAnnotation} when the source has been put right, or delete the image and make it with another address`,
    others: `set the annotation ${retryAnnotation} when that has been put right, or delete the image and make it anew`,
  };
  return withConditions(
    status,
    now,
    ended('ImportFailed', message, spec.sourceType === 'download' ? wayOut.download : wayOut.others),
    exceeded('NotRetried', `it is not tried again, because it would come to the same: ${message}`),
  );
}

function ended(reason: string, text: string, wayOut: string): NewCondition {
  return waitingCondition({ type: 'Imported', status: 'False' }, { reason, text, nature: 'fault', wayOut });
}

function exceeded(reason: string, message: string): NewCondition {
  return { type: 'RetryLimitExceeded', status: 'True', reason, message };
}
