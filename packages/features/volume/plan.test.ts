import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from '@sheaf/api/virtualization/index';
import { planClaimStatus } from './claim-status.ts';
import { copySnapshot } from './copy-snapshot.ts';
import { type ClaimFacts, type ClaimStep, planClaim } from './plan.ts';
import { phaseOf, planVolume } from './release-plan.ts';
import { adoptedClaim, boundClaim, claimFinalizer, volumeObject } from './volume-object.ts';

const can = { isAvailable: true, reason: 'it is there' };
const now = '2026-01-01T00:00:00Z';
const storageClass: StorageClass = {
  metadata: { name: 'usual' },
  provisioner: 'driver.longhorn.io',
  reclaimPolicy: 'Delete',
};
const fresh: PersistentVolumeClaim = {
  metadata: { namespace: 'default', name: 'a', uid: 'u', finalizers: [claimFinalizer] },
  spec: {
    accessModes: ['ReadWriteOnce'],
    resources: { requests: { storage: '1Mi' } },
    storageClassName: 'usual',
  },
};
const adopted = adoptedClaim(fresh);
const volume: PersistentVolume = volumeObject(fresh, storageClass, undefined);
const bound = boundClaim(adopted, volume);
const observation = {
  id: 'u',
  title: 'default/a',
  bytes: 2 ** 20,
  allocatedBytes: 0,
  file: { path: '/x', format: 'qcow2' },
  isBusy: false,
  snapshotIds: [],
} as const;
const user = { kind: 'VirtualMachineInstance', namespace: 'default', name: 'm' };
const pod = { kind: 'Pod', namespace: 'default', name: 'p' };

function factsOf(facts: Partial<ClaimFacts>): ClaimFacts {
  return {
    claim: adopted,
    storageClass,
    defaultClass: undefined,
    volume: undefined,
    content: { state: 'ready', content: { kind: 'blank' } },
    observation: undefined,
    capabilities: { volumes: can, snapshot: can, clone: can, expand: can, onlineExpand: can },
    users: [],
    pods: [],
    holders: [],
    copy: undefined,
    ...facts,
  };
}

function wordOf(step: ClaimStep): string {
  return step.action === 'wait' ? step.waiting.reason : step.action;
}

function asking(claim: PersistentVolumeClaim, storage: string): PersistentVolumeClaim {
  return { ...claim, spec: { ...claim.spec, resources: { requests: { storage } } } };
}

function deleted(claim: PersistentVolumeClaim): PersistentVolumeClaim {
  return { ...claim, metadata: { ...claim.metadata, deletionTimestamp: now } };
}

describe('the snapshot that a claim is copied from', () => {
  const source = { namespace: 'default', name: 's' };
  it('is of the moment that its claim asks for', () => {
    const annotations = { 'sheaf.dev/moment': 'm', 'sheaf.dev/moment-size': '2', other: 'x' };
    const claim = { ...adopted, metadata: { ...adopted.metadata, annotations } };
    const { other: _, ...moment } = annotations;
    assert.deepEqual(copySnapshot(claim, source).metadata.annotations, moment);
    assert.deepEqual(copySnapshot(claim, { ...source, namespace: 'far' }).metadata.annotations, {
      ...moment,
      'sheaf.dev/copy-for': `default/${adopted.metadata.name}`,
    });
    assert.equal(copySnapshot(adopted, source).metadata.annotations, undefined);
  });
});

describe('planClaim', () => {
  const late = { ...storageClass, volumeBindingMode: 'WaitForFirstConsumer' };
  const classless = { ...adopted, spec: { ...adopted.spec, storageClassName: undefined as never } };
  const unavailable = { isAvailable: false, reason: 'qemu-img is not installed', wayOut: 'install it' };
  const foreignCopy = copySnapshot(adopted, { namespace: 'other', name: 's' });
  const cases: readonly [string, Partial<ClaimFacts>, string][] = [
    ['a new claim', { claim: fresh }, 'update-claim'],
    ['one that its driver has taken on', {}, 'make'],
    ['its volume is there', { observation }, 'publish'],
    ['it has an object', { volume, observation }, 'update-claim'],
    ['both name each other', { claim: bound, volume, observation }, 'none'],
    ['no class at all', { claim: classless, storageClass: undefined }, 'NoStorageClass'],
    [
      'a default class that came later',
      { claim: classless, storageClass: undefined, defaultClass: 'usual' },
      'update-claim',
    ],
    ['a class that is not there', { storageClass: undefined }, 'StorageClassNotFound'],
    ['a class of others', { storageClass: { ...storageClass, provisioner: 'x' } }, 'ExternalProvisioning'],
    [
      'encryption',
      { storageClass: { ...storageClass, parameters: { encrypted: 'true' } } },
      'EncryptionUnavailable',
    ],
    ['no user yet', { storageClass: late }, 'WaitForFirstConsumer'],
    ['its first user', { storageClass: late, users: [user] }, 'make'],
    ['a pod as its first user', { storageClass: late, pods: [pod] }, 'make'],
    [
      'a source that a machine writes to',
      { content: { state: 'needs-snapshot', source: { namespace: 'default', name: 's' } } },
      'take-copy',
    ],
    [
      'a copy that is not needed any more',
      { claim: bound, volume, observation, copy: { metadata: { name: 'clone-u' }, spec: { source: {} } } },
      'drop-copy',
    ],
    [
      'a deleted claim with a copy in another namespace',
      { claim: deleted(adopted), copy: foreignCopy },
      'drop-copy',
    ],
    [
      'a content that is larger',
      { content: { state: 'ready', content: { kind: 'blank' }, leastBytes: 2 ** 21 } },
      'VolumeTooSmall',
    ],
    [
      'a volume of another claim',
      { volume: { ...volume, spec: { ...volume.spec, claimRef: { namespace: 'x', name: 'y' } } } },
      'VolumeTaken',
    ],
    [
      'a volume of another class',
      { volume: { ...volume, spec: { ...volume.spec, storageClassName: 'x' } } },
      'VolumeMismatch',
    ],
    ['more is asked for', { claim: asking(bound, '2Mi'), volume, observation }, 'expand'],
    ['a cancelled expansion', { claim: asking(bound, String(2 ** 20 + 1)), volume, observation }, 'none'],
    [
      'the file has grown',
      { claim: asking(bound, '2Mi'), volume, observation: { ...observation, bytes: 2 ** 21 } },
      'update-volume',
    ],
    ['deleted while a machine is on it', { claim: deleted(bound), volume, users: [user] }, 'InUse'],
    ['deleted while a pod is on it', { claim: deleted(bound), volume, pods: [pod] }, 'InUse'],
    [
      'asked to grow under a pod',
      { claim: asking(bound, '2Mi'), volume, observation, pods: [pod], holders: [pod] },
      'FileSystemResizePending',
    ],
    [
      'asked to grow for a pod that has not mounted it',
      { claim: asking(bound, '2Mi'), volume, observation, pods: [pod] },
      'expand',
    ],
    ['deleted', { claim: deleted(bound), volume }, 'let-go'],
    [
      'no driver',
      { capabilities: { ...factsOf({}).capabilities, volumes: unavailable } },
      'DriverUnavailable',
    ],
    [
      'no growth under machines',
      {
        claim: asking(bound, '2Mi'),
        volume,
        observation,
        users: [user],
        capabilities: { ...factsOf({}).capabilities, onlineExpand: unavailable },
      },
      'ExpansionUnavailable',
    ],
  ];
  for (const [name, facts, word] of cases)
    it(`${name}: ${word}`, () => assert.equal(wordOf(planClaim(factsOf(facts))), word));
});

describe('planClaimStatus', () => {
  const none: ClaimStep = { action: 'none' };

  it('says in a condition what is waited for, and takes it off with the binding', () => {
    const step = planClaim(factsOf({ storageClass: undefined }));
    const waiting = step.action === 'wait' ? step.waiting : undefined;
    const status = planClaimStatus(factsOf({}), { step, waiting, now });
    assert.deepEqual(
      [status.phase, status.conditions?.map(({ type, status: is, reason }) => `${type} ${is} ${reason}`)],
      ['Pending', ['Bound False StorageClassNotFound']],
    );
    const later = planClaimStatus(factsOf({ claim: { ...bound, status }, volume, observation }), {
      step: none,
      waiting: undefined,
      now,
    });
    assert.deepEqual(
      [later.phase, later.capacity, later.conditions],
      ['Bound', { storage: '1Mi' }, undefined],
    );
  });

  it('renews figures now and then, not with each look', () => {
    const step = { action: 'make', order: {} as never } as const;
    const shown = (text: string, old: ClaimFacts['claim']['status'], at: string) => {
      const waiting = { reason: 'InsufficientSpace', text, nature: 'fault', wayOut: 'x' } as const;
      const claim = old ? { ...adopted, status: old } : adopted;
      return planClaimStatus(factsOf({ claim }), { step, waiting, now: at });
    };
    const first = shown('1 left', undefined, now);
    const soon = shown('2 left', first, '2026-01-01T00:00:29Z');
    const later = shown('3 left', soon, '2026-01-01T00:00:30Z');
    assert.deepEqual(
      [first, soon, later].map(({ conditions }) => conditions?.[0]?.message?.slice(0, 6)),
      ['1 left', '1 left', '3 left'],
    );
  });

  it('is Lost without its file, and Bound again with it', () => {
    const facts = factsOf({ claim: bound, volume });
    const lost = planClaimStatus(facts, { step: none, waiting: undefined, now });
    assert.deepEqual([lost.phase, lost.conditions?.[0]?.reason], ['Lost', 'VolumeLost']);
    const found = factsOf({ claim: { ...bound, status: lost }, volume, observation });
    const again = planClaimStatus(found, { step: none, waiting: undefined, now });
    assert.deepEqual([again.phase, again.conditions], ['Bound', undefined]);
  });

  it('shows an expansion that cannot be', () => {
    const facts = factsOf({ claim: asking(bound, '2Mi'), volume, observation });
    const waiting = {
      reason: 'InsufficientSpace',
      text: 'no room',
      nature: 'fault',
      wayOut: 'make some',
    } as const;
    const status = planClaimStatus(facts, { step: { action: 'expand', bytes: 2 ** 21 }, waiting, now });
    assert.deepEqual(
      [status.capacity, status.allocatedResourceStatuses, status.conditions?.map(({ type }) => type)],
      [{ storage: '1Mi' }, { storage: 'ControllerResizeInfeasible' }, ['Resizing', 'ControllerResizeError']],
    );
  });
});

describe('planVolume', () => {
  const retained = { ...volume, spec: { ...volume.spec, persistentVolumeReclaimPolicy: 'Retain' } };
  const going = (object: PersistentVolume): PersistentVolume => ({
    ...object,
    metadata: { ...object.metadata, deletionTimestamp: now },
  });
  const cases: readonly [string, PersistentVolume, PersistentVolumeClaim | undefined, string, string][] = [
    ['bound', volume, bound, 'Bound', 'none'],
    ['bound and deleted', going(volume), bound, 'Bound', 'none'],
    ['its claim is gone', volume, undefined, 'Released', 'remove'],
    ['its claim is gone, and it is kept', retained, undefined, 'Released', 'none'],
    ['kept, and deleted', going(retained), undefined, 'Released', 'update'],
  ];
  for (const [name, object, claim, phase, action] of cases)
    it(`${name}: ${action}`, () =>
      assert.deepEqual(
        [phaseOf({ volume: object, claim }), planVolume({ volume: object, claim }).action],
        [phase, action],
      ));
});
