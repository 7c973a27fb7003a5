import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { VolumeSnapshot, VolumeSnapshotContent } from '@sheaf/api/virtualization/index';
import { planContent } from './content-plan.ts';
import { planSnapshot, planSnapshotStatus, type SnapshotFacts, type SnapshotStep } from './plan.ts';
import {
  contentFinalizer,
  newContent,
  snapshotFinalizers,
  usualSnapshotClasses,
} from './snapshot-objects.ts';

const now = '2026-01-01T00:00:00Z';
const [snapshotClass] = usualSnapshotClasses;
const snapshot: VolumeSnapshot = {
  metadata: { namespace: 'default', name: 's', uid: 'u', finalizers: [...snapshotFinalizers] },
  spec: { source: { persistentVolumeClaimName: 'v' }, volumeSnapshotClassName: 'longhorn-snapshot' },
};
const claim = {
  metadata: { namespace: 'default', name: 'v', uid: 'c' },
  spec: { volumeName: 'pvc-c' },
  status: { phase: 'Bound' },
};
const volume = {
  metadata: { name: 'pvc-c' },
  spec: { capacity: {}, accessModes: [], csi: { driver: 'driver.longhorn.io', volumeHandle: 'c' } },
};
const content: VolumeSnapshotContent = newContent(snapshot, {
  snapshotClass: snapshotClass ?? assert.fail('there are no classes'),
  volumeHandle: 'c',
  volumeMode: 'Block',
});
const taken = { id: 'u', volumeId: 'c', bytes: 2 ** 20, takenAt: Date.parse(now) };

function factsOf(facts: Partial<SnapshotFacts>): SnapshotFacts {
  return {
    snapshot,
    snapshotClass,
    defaultClass: 'longhorn-snapshot',
    claim,
    volume,
    content: undefined,
    canSnapshot: { isAvailable: true, reason: 'it is there' },
    restoring: [],
    ...facts,
  };
}

function wordOf(step: SnapshotStep): string {
  return step.action === 'wait' ? step.waiting.reason : step.action;
}

function going<T extends VolumeSnapshot | VolumeSnapshotContent>(object: T): T {
  return { ...object, metadata: { ...object.metadata, deletionTimestamp: now } };
}

describe('planSnapshot', () => {
  const classless = { ...snapshot, spec: { source: snapshot.spec.source } };
  const cases: readonly [string, Partial<SnapshotFacts>, string][] = [
    [
      'a new one',
      { snapshot: { ...snapshot, metadata: { ...snapshot.metadata, finalizers: [] } } },
      'update-snapshot',
    ],
    ['no class', { snapshot: classless }, 'update-snapshot'],
    ['no class, and no default one', { snapshot: classless, defaultClass: undefined }, 'NoSnapshotClass'],
    ['a class that is not there', { snapshotClass: undefined }, 'SnapshotClassNotFound'],
    ['the class of backups', { snapshotClass: usualSnapshotClasses[1] }, 'BackupUnavailable'],
    ['no claim', { claim: undefined }, 'SourceNotFound'],
    ['a claim without a volume', { claim: { ...claim, status: { phase: 'Pending' } } }, 'SourceNotBound'],
    ['a volume of others', { volume: undefined }, 'SourceUnsupported'],
    ['all is there', {}, 'create-content'],
    ['it has its content', { content }, 'none'],
    [
      'deleted while a claim is filled from it',
      {
        snapshot: going(snapshot),
        content: { ...content, status: { readyToUse: true } },
        restoring: [{ kind: 'x', namespace: '', name: 'y' }],
      },
      'InUse',
    ],
    [
      'deleted before it was taken, while a claim waits for it',
      { snapshot: going(snapshot), content, restoring: [{ kind: 'x', namespace: '', name: 'y' }] },
      'delete-content',
    ],
    [
      'deleted before anything was made for it, while a claim waits for it',
      { snapshot: going(snapshot), restoring: [{ kind: 'x', namespace: '', name: 'y' }] },
      'update-snapshot',
    ],
    ['deleted', { snapshot: going(snapshot), content }, 'delete-content'],
    [
      'deleted, its content is going',
      { snapshot: going(snapshot), content: going(content) },
      'ContentRemaining',
    ],
    ['deleted, its content is gone', { snapshot: going(snapshot) }, 'update-snapshot'],
  ];
  for (const [name, facts, word] of cases)
    it(`${name}: ${word}`, () => assert.equal(wordOf(planSnapshot(factsOf(facts))), word));

  it('shows what the content says', () => {
    const status = { readyToUse: true, creationTime: taken.takenAt * 1e6, restoreSize: 2 ** 20 };
    assert.deepEqual(
      planSnapshotStatus(factsOf({ content: { ...content, status } }), { waiting: undefined, now }),
      {
        boundVolumeSnapshotContentName: 'snapcontent-u',
        readyToUse: true,
        creationTime: now,
        restoreSize: '1Mi',
      },
    );
  });
});

describe('planContent', () => {
  const ready = { ...content, status: { readyToUse: true, snapshotHandle: 'u' } };
  const retained = { ...content, spec: { ...content.spec, deletionPolicy: 'Retain' as const } };
  const facts = { content, snapshot, taken: undefined, isMemoryMissing: false };
  const cases: readonly [string, Parameters<typeof planContent>[0], string][] = [
    ['not taken', facts, 'take'],
    ['taken', { ...facts, taken }, 'record'],
    ['taken without its memory', { ...facts, taken, isMemoryMissing: true }, 'take'],
    ['recorded', { ...facts, content: ready, taken }, 'none'],
    ['recorded, its memory is gone', { ...facts, content: ready, taken, isMemoryMissing: true }, 'none'],
    ['lost: never taken anew', { ...facts, content: ready }, 'record'],
    ['its snapshot is gone', { ...facts, snapshot: undefined }, 'delete'],
    ['its snapshot is gone, and it is kept', { ...facts, content: retained, snapshot: undefined }, 'none'],
    ['deleted under its snapshot', { ...facts, content: going(content) }, 'none'],
    ['deleted with its snapshot', { ...facts, content: going(content), snapshot: going(snapshot) }, 'remove'],
    ['deleted, its data are kept', { ...facts, content: going(retained), snapshot: undefined }, 'release'],
    ['nobody holds it', { ...facts, content: { ...content, metadata: { name: 'x' } } }, 'hold'],
  ];
  for (const [name, given, action] of cases)
    it(`${name}: ${action}`, () => assert.equal(planContent(given).action, action));

  it('is held from its start', () => assert.deepEqual(content.metadata.finalizers, [contentFinalizer]));
});
