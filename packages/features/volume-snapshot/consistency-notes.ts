import type { KubeObject } from '@sheaf/api';
import type { VolumeSnapshot, VolumeSnapshotContent } from '@sheaf/api/virtualization/index';
import type { Consistency } from './frozen-guest.ts';

const levelAnnotation = 'sheaf.dev/consistency';
const reasonAnnotation = 'sheaf.dev/consistency-reason';
/** The UID of a machine whose guest is being frozen for a content: it stays until the guest is thawed. */
const frozenAnnotation = 'sheaf.dev/frozen-machine';
/** How often a guest was to be frozen for a content. */
const triesAnnotation = 'sheaf.dev/freeze-tries';
const maxTries = 3;

/** False: a guest that takes too long, again and again, must not keep the snapshot from being taken. */
export function mayFreezeFor(content: KubeObject): boolean {
  return triesOf(content) < maxTries;
}

function triesOf({ metadata }: KubeObject): number {
  return Number(metadata.annotations?.[triesAnnotation] ?? 0);
}

export function frozenMachineOf({ metadata }: KubeObject): string | undefined {
  return metadata.annotations?.[frozenAnnotation];
}

export function withFrozenMachine(content: VolumeSnapshotContent, machineId: string): VolumeSnapshotContent {
  const { metadata } = content;
  const annotations = {
    ...metadata.annotations,
    [frozenAnnotation]: machineId,
    [triesAnnotation]: String(triesOf(content) + 1),
  };
  return { ...content, metadata: { ...metadata, annotations } };
}

export function isConsistencyNoted({ metadata }: KubeObject): boolean {
  return metadata.annotations?.[levelAnnotation] !== undefined;
}

/** What came of it, in place of the freeze. */
export function withConsistency(
  content: VolumeSnapshotContent,
  { level, reason }: Consistency,
): VolumeSnapshotContent {
  const { metadata } = content;
  const { [frozenAnnotation]: _, ...others } = metadata.annotations ?? {};
  const annotations = { ...others, [levelAnnotation]: level, [reasonAnnotation]: reason };
  return { ...content, metadata: { ...metadata, annotations } };
}

/** The snapshot with what its content says, once it is taken; `undefined`: it says so already. */
export function withConsistencyOf(
  snapshot: VolumeSnapshot,
  content: VolumeSnapshotContent,
): VolumeSnapshot | undefined {
  if (content.status?.readyToUse !== true) return undefined;
  const told = content.metadata.annotations ?? {};
  const own = snapshot.metadata.annotations ?? {};
  const missing = [levelAnnotation, reasonAnnotation].filter(
    (key) => told[key] !== undefined && own[key] !== told[key],
  );
  if (missing.length === 0) return undefined;
  const annotations = { ...own, ...Object.fromEntries(missing.map((key) => [key, told[key] ?? ''])) };
  return { ...snapshot, metadata: { ...snapshot.metadata, annotations } };
}
