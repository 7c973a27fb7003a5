import type { Waiting } from '@sheaf/api';
import type { VirtualMachineImage, VolumeSnapshot } from '@sheaf/api/virtualization/index';
import type { ImageObservation, ImageOrder } from '@sheaf/ports';
import { conditionOf, isImported } from './image-conditions.ts';
import { orderAnnotation, retryAnnotation } from './image-names.ts';
import { orderDigest, orderOf } from './image-source.ts';
import type { ImageSource } from './source-objects.ts';

/** What is known of someone who sends the content. */
export interface UploadFacts {
  /** Bytes are coming in, or the next of them are about to. */
  readonly isActive: boolean;
  /** As its sender has announced. */
  readonly totalBytes?: number | undefined;
  /** Why the last sender did not come to its end. */
  readonly interruption?: string | undefined;
}

/** Everything that the next step for an image depends on. */
export interface ImageFacts {
  readonly image: VirtualMachineImage;
  readonly source: ImageSource;
  /** What the driver knows of it. */
  readonly observation: ImageObservation | undefined;
  readonly upload: UploadFacts;
  readonly maxBytes: number;
  readonly nowMs: number;
}

export type ImageStep =
  | { readonly action: 'none' }
  /** `snapshot`: made first. */
  | { readonly action: 'wait'; readonly waiting: Waiting; readonly snapshot?: VolumeSnapshot }
  /** Begins, or goes on with what has come. */
  | { readonly action: 'request'; readonly order: ImageOrder }
  /** All bytes of an upload have come, and nobody has said that they are all. */
  | { readonly action: 'finish'; readonly id: string; readonly offset: number }
  /** What has come is thrown away first. */
  | { readonly action: 'restart'; readonly order: ImageOrder };

/** Between a failure and the next attempt. */
export const retryMs = 10_000;
const usualRetries = 3;
const none: ImageStep = { action: 'none' };

/** The next step for an image that is not being deleted. */
export function planImage(facts: ImageFacts): ImageStep {
  const { image, observation } = facts;
  if (!observation) return planMissing(facts);
  if (isImported(image) || facts.upload.isActive) return none;
  return planKnown(facts, observation);
}

/** The driver has nothing of it: not yet, or not any more. */
function planMissing({ image, source, maxBytes }: ImageFacts): ImageStep {
  if (isImported(image) && !asksForRetry(image)) return none;
  if (source.state === 'waiting') return waitFor(source);
  const order = orderOf(image, source.origin, maxBytes);
  return { action: isImported(image) ? 'restart' : 'request', order };
}

function planKnown(facts: ImageFacts, { progress, receivedBytes }: ImageObservation): ImageStep {
  const { image, source, maxBytes } = facts;
  if (progress.state === 'done') return none;
  const hasFailed = progress.state === 'failed';
  // What has been begun goes on without its source.
  if (source.state === 'waiting') return hasFailed ? waitFor(source) : none;
  const order = orderOf(image, source.origin, maxBytes);
  if (isOther(image, order) || (hasFailed && asksForRetry(image))) return { action: 'restart', order };
  if (!hasFailed) return isComplete(facts) ? { action: 'finish', id: order.id, offset: receivedBytes } : none;
  return progress.nature === 'transient' ? planRetry(facts, order) : none;
}

function isComplete({ image, observation, upload }: ImageFacts): boolean {
  const size = upload.totalBytes ?? image.status?.size ?? 0;
  return image.spec.sourceType === 'upload' && size > 0 && observation?.receivedBytes === size;
}

function waitFor({ waiting, snapshot }: Extract<ImageSource, { state: 'waiting' }>): ImageStep {
  return { action: 'wait', waiting, ...(snapshot ? { snapshot } : {}) };
}

function planRetry({ image, nowMs }: ImageFacts, order: ImageOrder): ImageStep {
  if (!isCounted(image) || isExhausted(image)) return none;
  const isRaised = conditionOf(image, 'Imported')?.status === 'False';
  return isRaised || dueMsOf(image) <= nowMs ? { action: 'request', order } : none;
}

/** When what has failed is tried again, if it is. */
export function dueMsOf({ status }: VirtualMachineImage): number {
  const failedMs = Date.parse(status?.lastFailedTime ?? '');
  return Number.isNaN(failedMs) ? 0 : failedMs + retryMs;
}

/** The failure that the driver tells of is in the status already. */
export function isCounted(image: VirtualMachineImage): boolean {
  const imported = conditionOf(image, 'Imported');
  return imported?.status === 'False' || imported?.reason === 'RetryPending';
}

export function retriesOf({ spec }: VirtualMachineImage): number {
  return spec.retry ?? usualRetries;
}

/** It has failed more often than it may. */
function isExhausted(image: VirtualMachineImage): boolean {
  return (image.status?.failed ?? 0) > retriesOf(image);
}

function asksForRetry({ metadata }: VirtualMachineImage): boolean {
  return metadata.annotations?.[retryAnnotation] !== undefined;
}

/** What was ordered is not what is wanted now. */
function isOther({ metadata }: VirtualMachineImage, order: ImageOrder): boolean {
  const ordered = metadata.annotations?.[orderAnnotation];
  return ordered !== undefined && ordered !== orderDigest(order);
}
