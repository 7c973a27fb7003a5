import { timestampOf, type WaitedFor, type Waiting } from '@sheaf/api';
import type {
  PersistentVolume,
  PersistentVolumeClaim,
  VolumeSnapshot,
  VolumeSnapshotClass,
  VolumeSnapshotContent,
} from '@sheaf/api/virtualization/index';
import { type Clock, StatusError } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import type { Volumes } from '@sheaf/ports';
import { done, type EventRecorder, type ObjectCache, type ReconcileResult, waitFor } from '@sheaf/runtime';
import { isSame } from './is-same.ts';
import { planSnapshot, planSnapshotStatus, type SnapshotFacts, type SnapshotStep } from './plan.ts';
import { contentNameOf, isDefaultClass } from './snapshot-objects.ts';

export interface SnapshotCaches {
  readonly snapshots: ObjectCache<VolumeSnapshot>;
  readonly contents: ObjectCache<VolumeSnapshotContent>;
  readonly classes: ObjectCache<VolumeSnapshotClass>;
  readonly claims: ObjectCache<PersistentVolumeClaim>;
  readonly volumes: ObjectCache<PersistentVolume>;
}

export interface SnapshotParts {
  readonly client: Client;
  readonly clock: Clock;
  readonly recorder: EventRecorder;
  readonly caches: SnapshotCaches;
  readonly volumes: Pick<Volumes, 'capabilities'>;
}

const faultMs = 60_000;
const transientMs = 5000;

/** One pass over a snapshot: one step, then its status. */
export async function reconcileSnapshot(
  parts: SnapshotParts,
  key: string,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const snapshot = parts.caches.snapshots.get(key);
  if (!snapshot) return done;
  const facts = await readSnapshot(parts, snapshot, signal);
  const step = planSnapshot(facts);
  await takeStep(parts.client, step, signal);
  const waiting = step.action === 'wait' ? step.waiting : undefined;
  if (step.action !== 'update-snapshot') await writeStatus(parts, { facts, waiting }, signal);
  if (!waiting) return done;
  if (waiting.nature === 'fault') tell(parts, snapshot, waiting);
  return waitFor(waiting.text, waiting.nature === 'fault' ? faultMs : transientMs);
}

async function readSnapshot(
  { client, caches, volumes }: SnapshotParts,
  snapshot: VolumeSnapshot,
  signal: AbortSignal,
): Promise<SnapshotFacts> {
  const { namespace = '' } = snapshot.metadata;
  const { persistentVolumeClaimName, volumeSnapshotContentName } = snapshot.spec.source;
  const claim = caches.claims.get(`${namespace}/${persistentVolumeClaimName ?? ''}`);
  const contentName = volumeSnapshotContentName ?? contentNameOf(snapshot);
  const isDeleting = snapshot.metadata.deletionTimestamp !== undefined;
  const known = caches.contents.get(contentName);
  return {
    snapshot,
    snapshotClass: caches.classes.get(snapshot.spec.volumeSnapshotClassName ?? ''),
    defaultClass: caches.classes.list().find(isDefaultClass)?.metadata.name,
    claim,
    volume: caches.volumes.get(claim?.spec.volumeName ?? ''),
    // A snapshot is let go only when the server says that its content is gone.
    content:
      known ??
      (isDeleting
        ? await client.find(resources.volumeSnapshotContents, { name: contentName }, signal)
        : undefined),
    canSnapshot: volumes.capabilities().snapshot,
    restoring: restoringFrom(snapshot, caches.claims.list(namespace)),
  };
}

function restoringFrom(
  { metadata }: VolumeSnapshot,
  claims: readonly PersistentVolumeClaim[],
): readonly WaitedFor[] {
  return claims
    .filter(({ spec, status, metadata: own }) => {
      const source = spec.dataSourceRef ?? spec.dataSource;
      const isFrom = source?.kind === 'VolumeSnapshot' && source.name === metadata.name;
      return isFrom && !spec.volumeName && status?.phase !== 'Bound' && own.deletionTimestamp === undefined;
    })
    .map(({ metadata: own }) => ({
      kind: 'PersistentVolumeClaim',
      namespace: own.namespace ?? '',
      name: own.name ?? '',
    }));
}

async function takeStep(client: Client, step: SnapshotStep, signal: AbortSignal): Promise<void> {
  const query = { signal };
  switch (step.action) {
    case 'none':
    case 'wait':
      return;
    case 'update-snapshot':
      await client.update(resources.volumeSnapshots, step.snapshot, query);
      return;
    case 'create-content':
      await client.create(resources.volumeSnapshotContents, step.content, query).catch((error: unknown) => {
        if (!StatusError.is(error, 'AlreadyExists')) throw error;
      });
      return;
    case 'update-content':
      await client.update(resources.volumeSnapshotContents, step.content, query);
      return;
    case 'delete-content': {
      const { name = '', uid = '' } = step.content.metadata;
      await client.delete(resources.volumeSnapshotContents, { name }, { uid, signal });
      return;
    }
  }
}

async function writeStatus(
  { client, clock }: SnapshotParts,
  { facts, waiting }: { readonly facts: SnapshotFacts; readonly waiting: Waiting | undefined },
  signal: AbortSignal,
): Promise<void> {
  const status = planSnapshotStatus(facts, { waiting, now: timestampOf(clock) });
  if (!status || isSame(status, facts.snapshot.status)) return;
  await client.updateStatus(resources.volumeSnapshots, { ...facts.snapshot, status }, { signal });
}

function tell({ recorder }: SnapshotParts, { metadata }: VolumeSnapshot, waiting: Waiting): void {
  const { namespace = '', name = '', uid = '' } = metadata;
  const about = { resource: resources.volumeSnapshots, namespace, name, uid };
  const message = `${waiting.text}; ${waiting.wayOut ?? ''}`;
  recorder.record({ about, type: 'Warning', reason: 'SnapshotContentCreationFailed', message });
}
