import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { VolumeSnapshotContent } from '@sheaf/api/virtualization/index';
import { StatusError } from '@sheaf/base';
import { TestClock } from '@sheaf/testkit';
import { type ContentParts, reconcileContent } from './reconcile-content.ts';
import { contentFinalizer } from './snapshot-objects.ts';

const content: VolumeSnapshotContent = {
  metadata: {
    name: 'snapcontent-u',
    uid: 'c',
    deletionTimestamp: '2026-01-01T00:00:00Z',
    finalizers: [contentFinalizer],
  },
  spec: {
    deletionPolicy: 'Delete',
    driver: 'driver.longhorn.io',
    source: { volumeHandle: 'v' },
    volumeSnapshotRef: { kind: 'VolumeSnapshot', namespace: 'red', name: 'then', uid: 'u' },
  },
};

it('a removal that is refused is told in the status, with the words of the driver, and tried again', async () => {
  const refusal = 'the file that was prepared for snapshot u is open in a machine; stop it';
  const written: VolumeSnapshotContent[] = [];
  const parts = {
    clock: new TestClock(),
    contents: { get: () => content },
    snapshots: { get: () => undefined },
    client: {
      find: () => Promise.resolve(undefined),
      updateStatus: (_: unknown, next: VolumeSnapshotContent) => Promise.resolve(written.push(next)),
      update: () => assert.fail('it lets go of what is still there'),
    },
    volumes: {
      listSnapshots: () => Promise.resolve([]),
      findPrepared: () => Promise.resolve(undefined),
      removeSnapshot: () => Promise.reject(new StatusError({ reason: 'Conflict', message: refusal })),
    },
  } as unknown as ContentParts;
  const result = await reconcileContent(parts, 'snapcontent-u', new AbortController().signal);
  assert.deepEqual(result, { outcome: 'waiting', reason: refusal, afterMs: 5000 });
  assert.equal(written.length, 1);
  assert.match(written[0]?.status?.error?.message ?? '', /prepared for snapshot u.*tried again by itself/);
});
