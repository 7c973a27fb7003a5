import { type Waiting, waitingCondition } from '@sheaf/api';
import type { VirtualMachineImage, VirtualMachineImageStatus } from '@sheaf/api/virtualization/index';
import type { ImageObservation } from '@sheaf/ports';
import { conditionOf, isImported, type NewCondition, withConditions } from './image-conditions.ts';
import { classNameOf, orderAnnotation, retryAnnotation } from './image-names.ts';
import {
  doneStatus,
  failedStatus,
  importing,
  type Now,
  notExceeded,
  workingStatus,
} from './image-progress.ts';
import { orderDigest } from './image-source.ts';
import { type ImageStep, isCounted } from './plan.ts';

/** What came of a step. */
export interface StepOutcome extends Now {
  readonly step: ImageStep;
  /** What the driver knows after it. */
  readonly observation: ImageObservation | undefined;
  /** Why the driver did not take the order. */
  readonly refusal?: Waiting | undefined;
}

const initialized = { type: 'Initialized', status: 'True', reason: 'Initialized', message: '' } as const;
const present = { type: 'BackingImageMissing', status: 'False', reason: '', message: '' } as const;

/** The image as it is to be written after a step; the very same object if that is how it is. */
export function imageAfter(image: VirtualMachineImage, outcome: StepOutcome): VirtualMachineImage {
  const { step, observation, refusal, now } = outcome;
  const waiting = refusal ?? (step.action === 'wait' ? step.waiting : undefined);
  if (waiting) return withStatus(image, withConditions(image.status ?? {}, now, initializing(waiting)));
  if (isImported(image) && !isBeginning(step)) return withPresence(image, outcome);
  return observation ? withProgress(image, observation, outcome) : image;
}

function withProgress(
  image: VirtualMachineImage,
  observation: ImageObservation,
  outcome: StepOutcome,
): VirtualMachineImage {
  const { step, now } = outcome;
  const { progress } = observation;
  const begun = withMarks(withStatus(image, begunStatus(image, outcome)), step);
  switch (progress.state) {
    case 'working':
      return withStatus(begun, workingStatus(begun, observation, outcome));
    case 'done':
      return withStatus(begun, doneStatus(begun, observation, now));
    case 'failed':
      return isCounted(image) && !isBeginning(step)
        ? begun
        : withStatus(begun, failedStatus(begun, progress, now));
  }
}

function isBeginning({ action }: ImageStep): boolean {
  return action === 'request' || action === 'restart';
}

function withStatus(image: VirtualMachineImage, status: VirtualMachineImageStatus): VirtualMachineImage {
  return status === image.status ? image : { ...image, status };
}

/** That it is there is looked at also afterwards: a directory may have been replaced. */
function withPresence(image: VirtualMachineImage, { observation, now }: StepOutcome): VirtualMachineImage {
  const status = image.status ?? {};
  if (observation)
    return conditionOf(image, present.type)?.status === 'True'
      ? withStatus(image, withConditions(status, now, present))
      : image;
  const message = `its content is not in the storage any more; put the storage back as it was, or set the annotation ${retryAnnotation} to fetch it again`;
  const missing = { type: present.type, status: 'True', reason: 'ContentNotFound', message };
  return withStatus(image, withConditions(status, now, missing));
}

function initializing(waiting: Waiting): NewCondition {
  const status = waiting.nature === 'fault' ? 'False' : 'Unknown';
  return waitingCondition({ type: 'Initialized', status }, waiting);
}

/** Which order was given, and that a retry that was asked for has begun. */
function withMarks(image: VirtualMachineImage, step: ImageStep): VirtualMachineImage {
  if (step.action !== 'request' && step.action !== 'restart') return image;
  const { [retryAnnotation]: asked, ...others } = image.metadata.annotations ?? {};
  const digest = orderDigest(step.order);
  if (asked === undefined && others[orderAnnotation] === digest) return image;
  const annotations = { ...others, [orderAnnotation]: digest };
  return { ...image, metadata: { ...image.metadata, annotations } };
}

/** What is so from when the driver has taken the order. */
function begunStatus(image: VirtualMachineImage, { step, now }: StepOutcome): VirtualMachineImageStatus {
  const status = named(image);
  if (step.action === 'restart') {
    const { failed: _failed, lastFailedTime: _time, size: _size, virtualSize: _virtual, ...rest } = status;
    const missing = conditionOf(image, present.type) ? [present] : [];
    const fresh = { ...rest, progress: 0, failed: 0 };
    return withConditions(fresh, now, initialized, importing, notExceeded, ...missing);
  }
  const isFirst = conditionOf(image, 'Imported') === undefined;
  const added = isFirst || step.action === 'request' ? [initialized, importing] : [initialized];
  return withConditions(status, now, ...added);
}

/** With the names that clients look for. */
function named(image: VirtualMachineImage): VirtualMachineImageStatus {
  const { status = {}, spec } = image;
  const storageClassName = classNameOf(image);
  const known = status.storageClassName === storageClassName ? status : { ...status, storageClassName };
  return !spec.url || known.appliedUrl === spec.url ? known : { ...known, appliedUrl: spec.url };
}
