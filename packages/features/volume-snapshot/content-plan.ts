import type { VolumeSnapshot, VolumeSnapshotContent } from '@sheaf/api/virtualization/index';
import type { SnapshotObservation } from '@sheaf/ports';
import { contentFinalizer, withoutFinalizers } from './snapshot-objects.ts';

export interface ContentFacts {
  readonly content: VolumeSnapshotContent;
  /** The snapshot that it belongs to, as the server has it. */
  readonly snapshot: VolumeSnapshot | undefined;
  /** What the driver knows of it. */
  readonly taken: SnapshotObservation | undefined;
  /** It is nothing without what its machine had in its memory at the same moment, which is not kept yet. */
  readonly isMemoryMissing: boolean;
}

export type ContentStep =
  | { readonly action: 'none' }
  | { readonly action: 'hold'; readonly content: VolumeSnapshotContent }
  | { readonly action: 'take' }
  | { readonly action: 'record'; readonly status: ContentStatus }
  | { readonly action: 'delete' }
  /** The data, then the object. */
  | { readonly action: 'remove'; readonly content: VolumeSnapshotContent }
  | { readonly action: 'release'; readonly content: VolumeSnapshotContent };

export type ContentStatus = NonNullable<VolumeSnapshotContent['status']>;

/** Under which id the driver keeps it: that of its snapshot, unless it was there before. */
export function handleOf({ spec, status }: VolumeSnapshotContent): string {
  return spec.source.snapshotHandle ?? status?.snapshotHandle ?? spec.volumeSnapshotRef.uid ?? '';
}

/** The next step for a content. */
export function planContent({ content, snapshot, ...data }: ContentFacts): ContentStep {
  const { metadata, spec } = content;
  if (metadata.deletionTimestamp !== undefined) return planContentDeletion(content, snapshot);
  if (metadata.finalizers?.includes(contentFinalizer) !== true)
    return { action: 'hold', content: { ...content, metadata: held(metadata) } };
  if (!snapshot) {
    // Without a uid, the snapshot that it is for has not come yet.
    const isUnused = (spec.volumeSnapshotRef.uid ?? '') !== '' && spec.deletionPolicy === 'Delete';
    return { action: isUnused ? 'delete' : 'none' };
  }
  return planData(content, { snapshot, ...data });
}

function planData(
  content: VolumeSnapshotContent,
  {
    snapshot,
    taken,
    isMemoryMissing,
  }: Pick<ContentFacts, 'taken' | 'isMemoryMissing'> & { readonly snapshot: VolumeSnapshot },
): ContentStep {
  const { spec, status } = content;
  const isWhole = status?.readyToUse === true || !isMemoryMissing;
  if (taken && isWhole)
    return isRecorded(status, taken) ? { action: 'none' } : { action: 'record', status: statusOf(taken) };
  // What has been ready and is not there is not taken anew: it would be another one.
  const isLost = status?.readyToUse === true || spec.source.snapshotHandle !== undefined;
  if (isLost) return { action: 'record', status: lostStatus(content) };
  return snapshot.metadata.deletionTimestamp === undefined ? { action: 'take' } : { action: 'none' };
}

function held(metadata: VolumeSnapshotContent['metadata']): VolumeSnapshotContent['metadata'] {
  return { ...metadata, finalizers: [...(metadata.finalizers ?? []), contentFinalizer] };
}

function planContentDeletion(
  content: VolumeSnapshotContent,
  snapshot: VolumeSnapshot | undefined,
): ContentStep {
  if (content.metadata.finalizers?.includes(contentFinalizer) !== true) return { action: 'none' };
  if (snapshot && snapshot.metadata.deletionTimestamp === undefined) return { action: 'none' };
  const released = withoutFinalizers(content, [contentFinalizer]);
  const action = content.spec.deletionPolicy === 'Delete' ? 'remove' : 'release';
  return { action, content: released };
}

function statusOf({ id, takenAt, bytes }: SnapshotObservation): ContentStatus {
  return { snapshotHandle: id, creationTime: takenAt * 1e6, readyToUse: true, restoreSize: bytes };
}

function isRecorded(status: ContentStatus | undefined, taken: SnapshotObservation): boolean {
  return status?.readyToUse === true && status.snapshotHandle === taken.id && status.error === undefined;
}

function lostStatus(content: VolumeSnapshotContent): ContentStatus {
  const message =
    'SnapshotLost: The snapshot is not there; needs someone: bring the directory of the volumes back, or delete it';
  return { ...content.status, readyToUse: false, error: { ...content.status?.error, message } };
}
