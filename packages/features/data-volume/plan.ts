import { type Condition, findCondition, type Waiting } from '@sheaf/api';
import type { DataVolume, PersistentVolumeClaim } from '@sheaf/api/virtualization/index';
import { formatQuantity, quantityOf } from '@sheaf/base';
import type { ImageObservation } from '@sheaf/ports';
import { bytesOf, claimOf, isOwnedBy } from './claim-of-data-volume.ts';
import { problemOf, type SourceOrder, sourceOrderOf } from './source-plan.ts';

/** Keeps a data volume until what it has fetched belongs to a volume, or is removed. */
export const imageFinalizer = 'sheaf.dev/data-volume-image';

export interface DataVolumeFacts {
  readonly dataVolume: DataVolume;
  readonly claim: PersistentVolumeClaim | undefined;
  /** What has been fetched for it. */
  readonly image: ImageObservation | undefined;
  /** The size of what it is cloned from. */
  readonly sourceSize: string | undefined;
  /** A volume has its image, and will take it along. */
  readonly isImageOwned: boolean;
  readonly nowMs: number;
}

export type DataVolumeStep =
  | { readonly action: 'none' }
  | { readonly action: 'wait'; readonly waiting: Waiting }
  | { readonly action: 'update'; readonly dataVolume: DataVolume }
  | { readonly action: 'request-image'; readonly order: Exclude<SourceOrder, { kind: 'none' }> }
  | { readonly action: 'create-claim'; readonly claim: PersistentVolumeClaim }
  /** Removes what was fetched, then lets go. */
  | { readonly action: 'remove-image'; readonly released: DataVolume };

const none: DataVolumeStep = { action: 'none' };

/** The next step for a data volume. */
export function planDataVolume(facts: DataVolumeFacts): DataVolumeStep {
  const { dataVolume, claim } = facts;
  const order = sourceOrderOf(dataVolume);
  if (dataVolume.metadata.deletionTimestamp !== undefined) return planDeletion(facts);
  // What was fetched once is not fetched again, also when its volume has gone since.
  if (dataVolume.status?.phase === 'Succeeded') return none;
  const problem = problemOf(dataVolume);
  if (problem)
    return wait({
      reason: 'SourceUnsupported',
      text: `${problem.field}: ${problem.text}`,
      nature: 'fault',
      wayOut: `delete it; ${problem.wayOut}`,
    });
  if (claim && !isOwnedBy(claim, dataVolume)) return wait(takenName(dataVolume));
  return (order.kind === 'none' ? undefined : planImage(facts, order)) ?? (claim ? none : planClaim(facts));
}

function planImage(
  facts: DataVolumeFacts,
  order: Exclude<SourceOrder, { kind: 'none' }>,
): DataVolumeStep | undefined {
  const { dataVolume } = facts;
  const { finalizers = [] } = dataVolume.metadata;
  if (!finalizers.includes(imageFinalizer))
    return { action: 'update', dataVolume: withFinalizers(dataVolume, [...finalizers, imageFinalizer]) };
  return needsRequest(facts, order) ? { action: 'request-image', order } : undefined;
}

/** What was uploaded and is no good is replaced by whoever uploads the next. */
function needsRequest(facts: DataVolumeFacts, { kind }: SourceOrder): boolean {
  if (facts.claim?.status?.phase === 'Bound') return false;
  return facts.image === undefined || (kind !== 'upload' && retryInMs(facts) === 0);
}

const firstRetryMs = 10_000;
const longestRetryMs = 300_000;

/** When a failed import is tried again, longer each time; `undefined`: none has failed, or it has not been told yet. */
export function retryInMs({ image, dataVolume: { status }, nowMs }: DataVolumeFacts): number | undefined {
  const told = status?.conditions?.find(({ type, reason }) => type === 'Running' && reason === 'Error');
  if (image?.progress.state !== 'failed' || !told) return undefined;
  const restMs = Math.min(longestRetryMs, firstRetryMs * 2 ** Math.min(status?.restartCount ?? 0, 10));
  return Math.max(0, Date.parse(told.lastHeartbeatTime ?? '') + restMs - nowMs);
}

function planDeletion({ dataVolume, isImageOwned, image, claim }: DataVolumeFacts): DataVolumeStep {
  const { finalizers = [] } = dataVolume.metadata;
  if (!finalizers.includes(imageFinalizer))
    return claim && isOwnedBy(claim, dataVolume) ? wait(claimRemaining(claim)) : none;
  const rest = finalizers.filter((name) => name !== imageFinalizer);
  const released = withFinalizers(dataVolume, rest);
  if (isImageOwned || !image) return { action: 'update', dataVolume: released };
  return { action: 'remove-image', released };
}

function withFinalizers(dataVolume: DataVolume, finalizers: readonly string[]): DataVolume {
  return { ...dataVolume, metadata: { ...dataVolume.metadata, finalizers: [...finalizers] } };
}

/** Who deletes it in the foreground waits for its claim, which is not deleted while a machine or a Pod has it. */
function claimRemaining({ metadata }: PersistentVolumeClaim): Waiting {
  const { namespace = '', name = '' } = metadata;
  return {
    reason: 'ClaimRemaining',
    text: 'It is being deleted, and goes when its claim has gone, which stays as long as machines or Pods use it: stop what uses it',
    nature: 'transient',
    object: { kind: 'PersistentVolumeClaim', namespace, name },
  };
}

function takenName({ metadata }: DataVolume): Waiting {
  const { namespace = '', name = '' } = metadata;
  return {
    reason: 'ClaimExists',
    text: 'There is a claim of its name that is not its own',
    nature: 'fault',
    wayOut: 'delete that claim, or make the data volume with another name',
    object: { kind: 'PersistentVolumeClaim', namespace, name },
  };
}

function planClaim({ dataVolume, image, sourceSize }: DataVolumeFacts): DataVolumeStep {
  const known = image?.image && formatQuantity(quantityOf(image.image.virtualBytes, 'BinarySI'));
  const size = askedSize(dataVolume) ?? sourceSize ?? known;
  if (size !== undefined && bytesOf(size) > 0)
    return { action: 'create-claim', claim: claimOf(dataVolume, String(size)) };
  return wait({
    reason: 'SizeUnknown',
    text: 'It asks for no size, and that of its source is not known yet',
    nature: 'transient',
  });
}

function askedSize({ spec: { pvc, storage } }: DataVolume): string | number | undefined {
  return (pvc ?? storage)?.resources?.requests?.['storage'];
}

function wait(waiting: Waiting): DataVolumeStep {
  return { action: 'wait', waiting };
}

/** Why a claim waits, in its own words. */
export function claimCondition(claim: PersistentVolumeClaim | undefined): Condition | undefined {
  return findCondition(claim?.status?.conditions, 'Bound');
}
