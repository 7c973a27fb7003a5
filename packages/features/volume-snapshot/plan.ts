import { identityOf, timestampOf, type WaitedFor, type Waiting, waitingCondition } from '@sheaf/api';
import {
  type PersistentVolume,
  type PersistentVolumeClaim,
  storageDriver,
  type VolumeSnapshot,
  type VolumeSnapshotClass,
  type VolumeSnapshotContent,
} from '@sheaf/api/virtualization/index';
import { formatQuantity, quantityOf } from '@sheaf/base';
import type { Capability } from '@sheaf/ports';
import { withConsistencyOf } from './consistency-notes.ts';
import { newContent, snapshotFinalizers, withoutFinalizers } from './snapshot-objects.ts';

export interface SnapshotFacts {
  readonly snapshot: VolumeSnapshot;
  readonly snapshotClass: VolumeSnapshotClass | undefined;
  readonly defaultClass: string | undefined;
  readonly claim: PersistentVolumeClaim | undefined;
  readonly volume: PersistentVolume | undefined;
  readonly content: VolumeSnapshotContent | undefined;
  readonly canSnapshot: Capability;
  /** Claims that are still being filled from it. */
  readonly restoring: readonly WaitedFor[];
}

export type SnapshotStep =
  | { readonly action: 'none' }
  | { readonly action: 'wait'; readonly waiting: Waiting }
  | { readonly action: 'update-snapshot'; readonly snapshot: VolumeSnapshot }
  | { readonly action: 'create-content'; readonly content: VolumeSnapshotContent }
  | { readonly action: 'update-content'; readonly content: VolumeSnapshotContent }
  | { readonly action: 'delete-content'; readonly content: VolumeSnapshotContent };

const none: SnapshotStep = { action: 'none' };

/** The next step for a snapshot. */
export function planSnapshot(facts: SnapshotFacts): SnapshotStep {
  const { snapshot, content, defaultClass } = facts;
  if (snapshot.metadata.deletionTimestamp !== undefined) return planDeletion(facts);
  if (!holdsAll(snapshot)) return { action: 'update-snapshot', snapshot: held(snapshot) };
  if (content && isOf(content, snapshot)) return planTold(snapshot, content);
  if (snapshot.spec.source.volumeSnapshotContentName !== undefined) return planAdoption(facts);
  if (snapshot.spec.volumeSnapshotClassName === undefined && defaultClass !== undefined)
    return { action: 'update-snapshot', snapshot: withClass(snapshot, defaultClass) };
  return planTaking(facts);
}

function planTold(snapshot: VolumeSnapshot, content: VolumeSnapshotContent): SnapshotStep {
  const told = withConsistencyOf(snapshot, content);
  return told ? { action: 'update-snapshot', snapshot: told } : none;
}

/** True if the content is that of this very snapshot. */
export function isOf({ spec }: VolumeSnapshotContent, { metadata }: VolumeSnapshot): boolean {
  return spec.volumeSnapshotRef.uid === metadata.uid;
}

function holdsAll({ metadata }: VolumeSnapshot): boolean {
  return snapshotFinalizers.every((name) => metadata.finalizers?.includes(name));
}

function held(snapshot: VolumeSnapshot): VolumeSnapshot {
  const finalizers = [...new Set([...(snapshot.metadata.finalizers ?? []), ...snapshotFinalizers])];
  return { ...snapshot, metadata: { ...snapshot.metadata, finalizers } };
}

function withClass(snapshot: VolumeSnapshot, name: string): VolumeSnapshot {
  return { ...snapshot, spec: { ...snapshot.spec, volumeSnapshotClassName: name } };
}

function planDeletion({ snapshot, content, restoring }: SnapshotFacts): SnapshotStep {
  const isHeld = snapshot.metadata.finalizers?.some((name) => snapshotFinalizers.some((own) => own === name));
  if (isHeld !== true) return none;
  const [user] = isTaken(content) ? restoring : [];
  if (user)
    return wait({
      reason: 'InUse',
      text: 'It is being deleted, and goes when the claim that is filled from it is',
      nature: 'transient',
      object: user,
    });
  if (content && isOf(content, snapshot) && content.spec.deletionPolicy === 'Delete') {
    if (content.metadata.deletionTimestamp === undefined) return { action: 'delete-content', content };
    return wait({
      reason: 'ContentRemaining',
      text: 'Its content is being removed',
      nature: 'transient',
      object: { kind: 'VolumeSnapshotContent', namespace: '', name: content.metadata.name ?? '' },
    });
  }
  return { action: 'update-snapshot', snapshot: withoutFinalizers(snapshot, snapshotFinalizers) };
}

/** What was not taken before a deletion is never taken: claims that wait for it must not hold it, or both would wait for ever. */
function isTaken(content: VolumeSnapshotContent | undefined): boolean {
  return content?.status?.readyToUse === true;
}

/** A snapshot of a content that is there already. */
function planAdoption({ snapshot, content }: SnapshotFacts): SnapshotStep {
  const name = snapshot.spec.source.volumeSnapshotContentName ?? '';
  const object = { kind: 'VolumeSnapshotContent', namespace: '', name };
  if (!content)
    return wait({
      reason: 'ContentNotFound',
      text: 'The content that it names is not there',
      nature: 'fault',
      wayOut: 'create that VolumeSnapshotContent',
      object,
    });
  const { volumeSnapshotRef: ref } = content.spec;
  const isMeant = ref.namespace === snapshot.metadata.namespace && ref.name === snapshot.metadata.name;
  if (!isMeant || ref.uid)
    return wait({
      reason: 'ContentTaken',
      text: 'The content that it names belongs to another snapshot',
      nature: 'fault',
      wayOut: 'name a content whose volumeSnapshotRef names this snapshot',
      object,
    });
  const volumeSnapshotRef = { ...ref, uid: snapshot.metadata.uid ?? '' };
  return { action: 'update-content', content: { ...content, spec: { ...content.spec, volumeSnapshotRef } } };
}

function planTaking(facts: SnapshotFacts): SnapshotStep {
  const { snapshot, snapshotClass, claim, volume, canSnapshot } = facts;
  const missing = classWaiting(facts) ?? sourceWaiting(snapshot, claim);
  if (missing) return wait(missing);
  if (snapshotClass?.driver !== storageDriver) return none;
  const handle = handleOf(volume);
  if (handle === undefined)
    return wait({
      reason: 'SourceUnsupported',
      text: 'The volume of its claim is not kept by this driver',
      nature: 'fault',
      wayOut: 'use a snapshot class of the driver that keeps the volume',
      object: sourceOf(snapshot),
    });
  if (!canSnapshot.isAvailable)
    return wait({
      reason: 'DriverUnavailable',
      text: `Snapshots cannot be taken: ${canSnapshot.reason}`,
      nature: 'fault',
      wayOut: canSnapshot.wayOut ?? 'see the server log',
    });
  const content = newContent(snapshot, {
    snapshotClass,
    volumeHandle: handle,
    volumeMode: claim?.spec.volumeMode,
  });
  return { action: 'create-content', content };
}

function handleOf(volume: PersistentVolume | undefined): string | undefined {
  const { driver, volumeHandle } = volume?.spec.csi ?? {};
  return driver === storageDriver ? volumeHandle : undefined;
}

function classWaiting({ snapshot, snapshotClass }: SnapshotFacts): Waiting | undefined {
  const name = snapshot.spec.volumeSnapshotClassName;
  if (name === undefined)
    return {
      reason: 'NoSnapshotClass',
      text: 'It names no snapshot class, and there is no default one',
      nature: 'fault',
      wayOut: 'delete it and make it with a class, e.g. longhorn-snapshot',
    };
  const object = { kind: 'VolumeSnapshotClass', namespace: '', name };
  if (!snapshotClass)
    return {
      reason: 'SnapshotClassNotFound',
      text: `There is no snapshot class ${name}`,
      nature: 'fault',
      wayOut: 'create the class, or make the snapshot with one that is there',
      object,
    };
  if (snapshotClass.driver !== storageDriver || snapshotClass.parameters?.['type'] === 'snap')
    return undefined;
  return {
    reason: 'BackupUnavailable',
    text: `Class ${name} stands for copies on a backup target, which are not made yet`,
    nature: 'fault',
    wayOut: 'delete it and use class longhorn-snapshot, which keeps snapshots beside their volume',
    object,
  };
}

function sourceWaiting(
  snapshot: VolumeSnapshot,
  claim: PersistentVolumeClaim | undefined,
): Waiting | undefined {
  const object = sourceOf(snapshot);
  if (!claim)
    return {
      reason: 'SourceNotFound',
      text: 'The claim that it is of is not there',
      nature: 'fault',
      wayOut: 'create the claim, or delete the snapshot',
      object,
    };
  if (claim.status?.phase === 'Bound' && claim.metadata.deletionTimestamp === undefined) return undefined;
  return {
    reason: 'SourceNotBound',
    text: 'The claim that it is of has no volume that can be used',
    nature: 'transient',
    object,
  };
}

function sourceOf({ metadata, spec }: VolumeSnapshot): WaitedFor {
  const { persistentVolumeClaimName: name = '' } = spec.source;
  return { kind: 'PersistentVolumeClaim', namespace: metadata.namespace ?? '', name };
}

function wait(waiting: Waiting): SnapshotStep {
  return { action: 'wait', waiting };
}

type SnapshotStatus = NonNullable<VolumeSnapshot['status']>;

/** What is to be seen of a snapshot: what its content says, or why it has none. */
export function planSnapshotStatus(
  { snapshot, content }: SnapshotFacts,
  { waiting, now }: { readonly waiting: Waiting | undefined; readonly now: string },
): SnapshotStatus | undefined {
  const { status: old, metadata } = snapshot;
  if (!content || !isOf(content, snapshot)) {
    if (!waiting || metadata.deletionTimestamp !== undefined) return old;
    return { ...old, readyToUse: false, error: errorOf(messageOf(waiting), old?.error, now) };
  }
  const { status = {} } = content;
  const error = status.error?.message;
  return {
    boundVolumeSnapshotContentName: identityOf(content).name,
    ...takenStatus(status),
    ...(error === undefined ? {} : { error: errorOf(error, old?.error, now) }),
  };
}

/** The nanoseconds and bytes of the content as times and quantities. */
function takenStatus({
  readyToUse = false,
  creationTime,
  restoreSize,
}: NonNullable<VolumeSnapshotContent['status']>): SnapshotStatus {
  return {
    readyToUse,
    ...(creationTime === undefined ? {} : { creationTime: timestampOf({ now: () => creationTime / 1e6 }) }),
    ...(restoreSize === undefined
      ? {}
      : { restoreSize: formatQuantity(quantityOf(restoreSize, 'BinarySI')) }),
  };
}

/** The words of the house, where there is a place for one text only. */
export function messageOf(waiting: Waiting): string {
  const { message = '' } = waitingCondition({ type: 'Ready', status: 'False' }, waiting);
  return `${waiting.reason}: ${message}`;
}

const errorHoldMs = 30_000;

/** An error keeps its time as long as it stays the same. Its figures, which change with each write, are renewed now and then. */
export function errorOf(
  message: string,
  old: { readonly message?: string; readonly time?: string } | undefined,
  now: string,
): { readonly message: string; readonly time: string } {
  const { message: text = '', time = '' } = old ?? {};
  if (text === message) return { message, time: time || now };
  const isSameReason = text.split(':')[0] === message.split(':')[0];
  return isSameReason && Date.parse(now) - Date.parse(time) < errorHoldMs
    ? { message: text, time }
    : { message, time: now };
}
