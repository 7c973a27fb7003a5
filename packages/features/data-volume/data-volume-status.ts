import { type Condition, identityOf, type Waiting, waitingCondition, withCondition } from '@sheaf/api';
import type { DataVolume } from '@sheaf/api/virtualization/index';
import { isOwnedBy } from './claim-of-data-volume.ts';
import { claimCondition, type DataVolumeFacts } from './plan.ts';
import { sourceOrderOf } from './source-plan.ts';

type DataVolumeStatus = NonNullable<DataVolume['status']>;
type Claim = Omit<Condition, 'lastTransitionTime'>;

/** What is to be seen of a data volume. `waiting`: what its step has come to. */
export function planDataVolumeStatus(
  facts: DataVolumeFacts,
  { waiting, now }: { readonly waiting: Waiting | undefined; readonly now: string },
): DataVolumeStatus {
  const { dataVolume, claim, image } = facts;
  const old = dataVolume.status ?? {};
  const phase = phaseOf(facts, waiting);
  const claims = [boundOf(facts), runningOf(facts, phase), readyOf(facts, { phase, waiting })];
  const { conditions: before = [], restartCount = 0 } = old;
  const hasFailedAnew = image?.progress.state === 'failed' && !before.some(isFailure);
  return {
    ...old,
    ...(claim ? { claimName: claim.metadata.name ?? '' } : {}),
    phase,
    progress: progressOf(facts, phase),
    restartCount: restartCount + (hasFailedAnew ? 1 : 0),
    conditions: withHeartbeats(before, claims, now),
  };
}

type DataVolumeCondition = NonNullable<DataVolumeStatus['conditions']>[number];

function isFailure({ type, reason }: DataVolumeCondition): boolean {
  return type === 'Running' && reason === 'Error';
}

/** A heartbeat tells since when a condition has had its reason: from there the next try of an import is counted. */
function withHeartbeats(
  before: readonly DataVolumeCondition[],
  claims: readonly Claim[],
  now: string,
): readonly DataVolumeCondition[] {
  const old = before as readonly Condition[];
  const next = claims.reduce<readonly Condition[]>((all, each) => withCondition(all, each, now), old);
  return next.map((condition) => {
    const last = before.find(({ type }) => type === condition.type);
    const isSame = last?.status === condition.status && last.reason === condition.reason;
    return { ...condition, lastHeartbeatTime: isSame ? (last.lastHeartbeatTime ?? now) : now };
  });
}

function phaseOf(facts: DataVolumeFacts, waiting: Waiting | undefined): string {
  const { dataVolume, claim } = facts;
  if (isDone(facts)) return 'Succeeded';
  if (waiting?.nature === 'fault') return 'Failed';
  if (claimCondition(claim)?.reason === 'WaitForFirstConsumer') return 'WaitForFirstConsumer';
  const { kind } = sourceOrderOf(dataVolume);
  return kind === 'none' ? clonePhase(dataVolume, claim !== undefined) : importPhase(facts, kind);
}

/** What has been there once stays so, whatever becomes of the claim. */
function isDone({ dataVolume, claim }: DataVolumeFacts): boolean {
  const isBound = claim?.status?.phase === 'Bound' && isOwnedBy(claim, dataVolume);
  return isBound || dataVolume.status?.phase === 'Succeeded';
}

function importPhase({ image, claim }: DataVolumeFacts, kind: 'upload' | 'download' | 'registry'): string {
  if (kind !== 'upload') return image ? 'ImportInProgress' : 'ImportScheduled';
  // What is sent is for the claim: before that is there, nobody gets a token.
  return image && claim && image.progress.state !== 'done' ? 'UploadReady' : 'UploadScheduled';
}

function clonePhase({ spec }: DataVolume, hasClaim: boolean): string {
  const isClone = spec.source?.pvc !== undefined || spec.source?.snapshot !== undefined;
  if (!isClone) return 'Pending';
  return hasClaim ? 'CloneInProgress' : 'CloneScheduled';
}

/** In the form of CDI. Of an upload, N/A until somebody sends; what was no good counts for nothing. */
function progressOf({ image }: DataVolumeFacts, phase: string): string {
  if (phase === 'Succeeded' || image?.progress.state === 'done') return '100.0%';
  if (phase === 'UploadReady') return image?.progress.state === 'working' ? sentPart(image) : 'N/A';
  if (phase !== 'ImportInProgress') return 'N/A';
  return inPercent(image?.progress.state === 'working' ? image.progress.percent : 0);
}

type Image = NonNullable<DataVolumeFacts['image']>;

function sentPart({ receivedBytes, totalBytes = 0 }: Image): string {
  return totalBytes > 0 ? inPercent((receivedBytes / totalBytes) * 100) : 'N/A';
}

function inPercent(percent: number): string {
  return `${percent.toFixed(2)}%`;
}

function boundOf({ claim }: DataVolumeFacts): Claim {
  if (!claim) return { type: 'Bound', status: 'Unknown', reason: 'NoClaim', message: 'No PVC found' };
  const name = claim.metadata.name ?? '';
  if (claim.status?.phase === 'Bound')
    return { type: 'Bound', status: 'True', reason: 'Bound', message: `PVC ${name} Bound` };
  const { reason = 'Pending', message = `PVC ${name} Pending` } = claimCondition(claim) ?? {};
  return { type: 'Bound', status: 'False', reason, message };
}

function runningOf({ image }: DataVolumeFacts, phase: string): Claim {
  const claim = { type: 'Running', status: 'False' } as const;
  if (phase === 'Succeeded') return { ...claim, reason: 'Completed', message: 'Import Complete' };
  if (image?.progress.state === 'failed')
    return { ...claim, reason: 'Error', message: image.progress.message };
  if (image?.progress.state !== 'working') return { ...claim, reason: 'Pending', message: '' };
  return { type: 'Running', status: 'True', reason: 'TransferRunning', message: '' };
}

function readyOf(
  facts: DataVolumeFacts,
  { phase, waiting }: { readonly phase: string; readonly waiting: Waiting | undefined },
): Claim {
  if (phase === 'Succeeded' && !waiting)
    return { type: 'Ready', status: 'True', reason: 'Ready', message: '' };
  return waitingCondition({ type: 'Ready', status: 'False' }, waiting ?? awaited(facts, phase));
}

function awaited({ claim, image, dataVolume }: DataVolumeFacts, phase: string): Waiting {
  if (phase === 'UploadReady') return awaitedUpload(image);
  if (image?.progress.state === 'failed') return failedImport(image.progress);
  const cause = claimCondition(claim);
  if (image?.progress.state === 'working' || !cause)
    return { reason: phase, text: 'Its content is on the way', nature: 'transient' };
  const { namespace, name } = identityOf(dataVolume);
  return {
    reason: cause.reason ?? 'ClaimPending',
    text: 'Its claim has no volume yet, and says why',
    nature: 'transient',
    object: { kind: 'PersistentVolumeClaim', namespace, name },
  };
}

function failedImport(progress: {
  readonly message: string;
  readonly nature: 'transient' | 'fault';
}): Waiting {
  const end = progress.message.lastIndexOf('; ');
  const { nature } = progress;
  return {
    reason: 'ImportFailed',
    text: nature === 'fault' && end > 0 ? progress.message.slice(0, end) : progress.message,
    nature,
    wayOut:
      end > 0
        ? progress.message.slice(end + 2)
        : 'make what is behind the address a disk image, or use another address',
  };
}

function awaitedUpload(image: Image | undefined): Waiting {
  const { progress, receivedBytes = 0, totalBytes } = image ?? {};
  const hasFailed = progress?.state === 'failed';
  if (!hasFailed && totalBytes !== undefined && receivedBytes === totalBytes)
    return { reason: 'UploadReady', text: 'What was uploaded is being looked at', nature: 'transient' };
  const part = totalBytes === undefined ? '' : `, of which ${receivedBytes} of ${totalBytes} bytes have come`;
  const words = hasFailed ? `; what came last is no good: ${progress.message}` : part;
  return {
    reason: 'UploadReady',
    text: `It waits for its content to be uploaded${words}`,
    nature: 'fault',
    wayOut: 'upload the image, e.g. with virtctl image-upload',
  };
}
