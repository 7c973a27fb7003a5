import { timestampOf } from '@sheaf/api';
import type {
  Condition,
  PersistentVolume,
  PersistentVolumeClaim,
  Setting,
  StorageClass,
  VirtualMachineBackup,
  VirtualMachineImage,
  VirtualMachineInstance,
  VirtualMachineTemplateVersion,
  VolumeSnapshot,
  VolumeSnapshotContent,
} from '@sheaf/api/virtualization/index';
import { type Clock, type Logger, StatusError } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import type { ImageObservation, Images } from '@sheaf/ports';
import {
  again,
  done,
  type EventRecorder,
  type ObjectCache,
  type ReconcileResult,
  type RecordedEvent,
  waitFor,
} from '@sheaf/runtime';
import { waitingOfRefusal } from './driver-refusal.ts';
import { conditionOf, isImported } from './image-conditions.ts';
import { classNamesOf, imageFinalizer } from './image-names.ts';
import { importing } from './image-progress.ts';
import { sourceOf } from './image-source.ts';
import { imageAfter, type StepOutcome } from './image-status.ts';
import { letGo, removeSnapshot } from './let-go.ts';
import { dueMsOf, type ImageStep, planImage, retryMs } from './plan.ts';
import { readSources } from './source-reader.ts';
import { standsFor, storageClassOf } from './storage-class.ts';
import { noBytes, type UploadDesk } from './upload-desk.ts';

/** What is known of the objects around images. */
export interface ImageCaches {
  readonly images: ObjectCache<VirtualMachineImage>;
  readonly classes: ObjectCache<StorageClass>;
  readonly claims: ObjectCache<PersistentVolumeClaim>;
  readonly volumes: ObjectCache<PersistentVolume>;
  readonly instances: ObjectCache<VirtualMachineInstance>;
  readonly templateVersions: ObjectCache<VirtualMachineTemplateVersion>;
  readonly backups: ObjectCache<VirtualMachineBackup>;
  readonly settings: ObjectCache<Setting>;
  readonly snapshots: ObjectCache<VolumeSnapshot>;
  readonly snapshotContents: ObjectCache<VolumeSnapshotContent>;
}

export interface ImageParts {
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly recorder: EventRecorder;
  readonly images: Images;
  readonly uploads: UploadDesk;
  readonly maxBytes: number;
  readonly caches: ImageCaches;
}

/** While bytes come in, their number is looked at so often. */
const uploadLookMs = 1000;

/** One pass over an image: its class, the next step at the driver, and what the status says of it. */
export async function reconcileImage(
  parts: ImageParts,
  key: string,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const image = parts.caches.images.get(key);
  if (!image) return done;
  if (image.metadata.deletionTimestamp !== undefined) return letGo(parts, image, signal);
  if (image.metadata.finalizers?.includes(imageFinalizer) !== true) return hold(parts, image, signal);
  await ensureClasses(parts, image, signal);
  const outcome = await takeStep(parts, image, signal);
  await makeSnapshot(parts, outcome.step, signal);
  const next = imageAfter(image, outcome);
  if (next !== image) await parts.client.update(resources.virtualMachineImages, next, { signal });
  if (isImported(next)) await removeSnapshot(parts, next, signal);
  tell(parts, image, next);
  return resultOf(next, outcome, parts.clock.now());
}

/** What is ordered for it is removed with it. */
async function hold(
  { client }: ImageParts,
  image: VirtualMachineImage,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const finalizers = [...(image.metadata.finalizers ?? []), imageFinalizer];
  const metadata = { ...image.metadata, finalizers };
  await client.update(resources.virtualMachineImages, { ...image, metadata }, { signal });
  return done;
}

async function ensureClasses(
  { client, caches, logger }: ImageParts,
  image: VirtualMachineImage,
  signal: AbortSignal,
): Promise<void> {
  for (const name of classNamesOf(image)) {
    const known = caches.classes.get(name);
    if (known && !standsFor(known, image))
      logger.debug('a storage class of that name stands for something else', { storageClass: name });
    if (known) continue;
    try {
      await client.create(resources.storageClasses, storageClassOf(image, name), { signal });
    } catch (error) {
      if (!StatusError.is(error, 'AlreadyExists')) throw error;
    }
  }
}

async function takeStep(
  parts: ImageParts,
  image: VirtualMachineImage,
  signal: AbortSignal,
): Promise<StepOutcome> {
  const { images, uploads, maxBytes, clock } = parts;
  const { uid = '' } = image.metadata;
  const before = await images.find(uid, signal);
  const upload = uploads.factsOf(uid);
  const source = sourceOf(image, readSources(parts.caches, image));
  const facts = { image, source, observation: before, upload, maxBytes, nowMs: clock.now() };
  const step = planImage(facts);
  const known = { step, upload, now: timestampOf(clock) };
  try {
    return { ...known, observation: await atDriver(images, { step, before }, signal) };
  } catch (error) {
    const refusal = waitingOfRefusal(error);
    if (!refusal || signal.aborted) throw error;
    return { ...known, observation: before, refusal };
  }
}

async function atDriver(
  images: Images,
  { step, before }: { readonly step: ImageStep; readonly before: ImageObservation | undefined },
  signal: AbortSignal,
): Promise<ImageObservation | undefined> {
  switch (step.action) {
    case 'restart':
      await images.remove(step.order.id, signal);
      return images.request(step.order, signal);
    case 'request':
      return images.request(step.order, signal);
    case 'finish':
      return finish(images, step, signal);
    case 'wait':
    case 'none':
      return before;
  }
}

/** While what has come is being looked at already, the driver takes no more. */
async function finish(
  images: Images,
  { id, offset }: Extract<ImageStep, { action: 'finish' }>,
  signal: AbortSignal,
): Promise<ImageObservation | undefined> {
  try {
    return await images.receive(id, { offset, bytes: noBytes(), isLast: true }, signal);
  } catch (error) {
    if (StatusError.is(error, 'Conflict')) return images.find(id, signal);
    throw error;
  }
}

async function makeSnapshot({ client }: ImageParts, step: ImageStep, signal: AbortSignal): Promise<void> {
  if (step.action !== 'wait' || !step.snapshot) return;
  try {
    await client.create(resources.volumeSnapshots, step.snapshot, { signal });
  } catch (error) {
    if (!StatusError.is(error, 'AlreadyExists')) throw error;
  }
}

/** One line, and one event, for each outcome that is new. */
function tell(
  { logger, recorder }: ImageParts,
  before: VirtualMachineImage,
  after: VirtualMachineImage,
): void {
  const imported = conditionOf(after, 'Imported');
  if (!imported || imported.reason === conditionOf(before, 'Imported')?.reason) return;
  const { namespace = '', name = '', uid = '' } = after.metadata;
  const { reason = '', message } = imported;
  logger.info('an image has changed its state', { namespace, name, uid, reason, message });
  const about = { resource: resources.virtualMachineImages, namespace, name, uid };
  recorder.record({ about, reason, ...eventOf(imported) });
}

function eventOf({ status, reason, message }: Condition): Pick<RecordedEvent, 'type' | 'message'> {
  if (status === 'True') return { type: 'Normal', message: 'The image can be used' };
  if (reason === importing.reason) return { type: 'Normal', message: 'The image is being brought in' };
  return { type: 'Warning', message: message ?? '' };
}

function resultOf(
  image: VirtualMachineImage,
  { step, refusal, upload }: StepOutcome,
  nowMs: number,
): ReconcileResult {
  const waiting = refusal ?? (step.action === 'wait' ? step.waiting : undefined);
  if (waiting) return waitFor(waiting.reason, waiting.nature === 'transient' ? retryMs : undefined);
  if (upload.isActive) return again(uploadLookMs);
  const imported = conditionOf(image, 'Imported');
  if (imported?.reason !== 'RetryPending') return done;
  return waitFor(imported.reason, Math.max(1, dueMsOf(image) - nowMs));
}
