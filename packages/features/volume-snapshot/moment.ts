import type { KubeObject, Waiting } from '@sheaf/api';
import type { VolumeSnapshot, VolumeSnapshotContent } from '@sheaf/api/virtualization/index';
import type { ObjectCache } from '@sheaf/runtime';
import { contentNameOf } from './snapshot-objects.ts';

/** Snapshots of one namespace with the same value keep what their volumes had at one moment. */
const momentAnnotation = 'sheaf.dev/moment';
/** How many they are: none is taken under a running machine before all are there. */
const sizeAnnotation = 'sheaf.dev/moment-size';

/** Together with what their machine has in its memory, which is called as the moment is. */
const memoryAnnotation = 'sheaf.dev/moment-memory';

export interface MomentCaches {
  readonly snapshots: ObjectCache<VolumeSnapshot>;
  readonly contents: ObjectCache<VolumeSnapshotContent>;
}

/** A snapshot that is taken together with others. */
export interface Companion {
  readonly snapshot: VolumeSnapshot;
  readonly content: VolumeSnapshotContent;
}

/** The others of its moment that are still to be taken. */
export function companionsOf(snapshot: VolumeSnapshot, caches: MomentCaches): readonly Companion[] {
  return othersOf(snapshot, caches).flatMap((other) => {
    const content = caches.contents.get(contentNameOf(other));
    return content && isToBeTaken(content) ? [{ snapshot: other, content }] : [];
  });
}

/** Under which name the memory of its machine is to be kept with it. */
export function memoryIdOf(snapshot: VolumeSnapshot): string | undefined {
  return snapshot.metadata.annotations?.[memoryAnnotation] === 'true' ? momentOf(snapshot) : undefined;
}

/** Why it cannot be taken together with the others yet. */
export function othersAwaited(snapshot: VolumeSnapshot, caches: MomentCaches): Waiting | undefined {
  const size = Number(snapshot.metadata.annotations?.[sizeAnnotation] ?? 1);
  const others = othersOf(snapshot, caches);
  const there = others.filter((other) => caches.contents.get(contentNameOf(other))).length + 1;
  if (there >= size) return undefined;
  return {
    reason: 'OthersAwaited',
    text: `It is taken at one moment with others, of which ${there} of ${size} are there`,
    nature: 'transient',
  };
}

/** The contents whose turn may have come with a change of this one. */
export function contentNamesOfMoment(
  { spec }: VolumeSnapshotContent,
  caches: MomentCaches,
): readonly string[] {
  const { namespace = '', name = '' } = spec.volumeSnapshotRef;
  const snapshot = caches.snapshots.get(`${namespace}/${name}`);
  return snapshot ? othersOf(snapshot, caches).map(contentNameOf) : [];
}

function othersOf(snapshot: VolumeSnapshot, { snapshots }: MomentCaches): readonly VolumeSnapshot[] {
  const moment = momentOf(snapshot);
  if (moment === undefined) return [];
  const { namespace = '', uid } = snapshot.metadata;
  return snapshots
    .list(namespace)
    .filter((other) => momentOf(other) === moment && other.metadata.uid !== uid);
}

function momentOf({ metadata }: KubeObject): string | undefined {
  return metadata.annotations?.[momentAnnotation];
}

function isToBeTaken({ metadata, status }: VolumeSnapshotContent): boolean {
  return status?.readyToUse !== true && metadata.deletionTimestamp === undefined;
}
