import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { VirtualMachine, VirtualMachineBackup, VolumeSnapshot } from '@sheaf/api/virtualization/index';
import { type BackupFacts, planBackup } from './plan.ts';

const now = '2026-01-01T00:00:00Z';
const namespace = 'default';
const backup: VirtualMachineBackup = {
  metadata: { namespace, name: 's', uid: 'u' },
  spec: { type: 'snapshot', source: { kind: 'VirtualMachine', name: 'm' } },
};
const machine: VirtualMachine = {
  metadata: { namespace, name: 'm', uid: 'm-1' },
  spec: {
    template: {
      spec: {
        domain: { devices: {} },
        volumes: [
          { name: 'root', persistentVolumeClaim: { claimName: 'v' } },
          { name: 'again', dataVolume: { name: 'v' } },
          { name: 'seed', cloudInitNoCloud: { secretRef: { name: 'words' } } },
        ],
      },
    },
  },
};
const annotations = { 'harvesterhci.io/owned-by': '[]', 'harvesterhci.io/imageId': 'default/i' };
const claim = {
  metadata: { namespace, name: 'v', annotations },
  spec: { accessModes: ['ReadWriteMany'] },
  status: { phase: 'Bound', capacity: { storage: '1Mi' } },
};

function factsOf(facts: Partial<BackupFacts>): BackupFacts {
  return {
    backup,
    machine,
    instance: undefined,
    findClaim: (name) => (name === 'v' ? claim : undefined),
    findSnapshot: () => undefined,
    secrets: new Map([['words', { metadata: {}, data: { userdata: 'aGk=' } }]]),
    now,
    ...facts,
  };
}

const { status } = planBackup(factsOf({}));
const started: VirtualMachineBackup = { ...backup, ...(status ? { status } : {}) };
const [taken = assert.fail('no snapshot is taken')] = planBackup(factsOf({ backup: started })).snapshots;

/** What is planned when the snapshot of the only disk says this. */
function planWith(said: VolumeSnapshot['status'], change: Partial<BackupFacts> = {}) {
  const snapshot = { ...taken, ...(said ? { status: said } : {}) };
  return planBackup(factsOf({ backup: started, findSnapshot: () => snapshot, ...change }));
}

describe('planBackup', () => {
  it('writes down what it is of before anything is taken', () => {
    const plan = planBackup(factsOf({}));
    assert.deepEqual(
      [plan.snapshots, plan.status?.sourceUID, plan.status?.source?.spec],
      [[], 'm-1', machine.spec],
    );
    assert.deepEqual(plan.status?.volumeBackups, [
      {
        name: 's-volume-v',
        volumeName: 'root',
        csiDriverName: 'driver.longhorn.io',
        persistentVolumeClaim: {
          metadata: { namespace, name: 'v', annotations: { 'harvesterhci.io/imageId': 'default/i' } },
          spec: claim.spec,
        },
        progress: 0,
        readyToUse: false,
        volumeSize: 2 ** 20,
      },
    ]);
  });

  it('keeps the Secrets that the machine is started with', () => {
    assert.deepEqual(planBackup(factsOf({})).status?.secretBackups, [
      { name: 'words', data: { userdata: 'aGk=' } },
    ]);
  });

  it('takes a snapshot of each claim, which belongs to it; the machine may be gone by then', () => {
    const { snapshots } = planBackup(
      factsOf({ backup: started, machine: undefined, findClaim: () => undefined }),
    );
    assert.deepEqual(
      snapshots.map(({ metadata, spec }) => [metadata.name, metadata.ownerReferences?.[0]?.uid, spec]),
      [
        [
          's-volume-v',
          'u',
          { source: { persistentVolumeClaimName: 'v' }, volumeSnapshotClassName: 'longhorn-snapshot' },
        ],
      ],
    );
  });

  it('is ready when all are', () => {
    assert.deepEqual(
      [planWith(undefined).status?.progress, planWith(undefined).status?.readyToUse],
      [0, false],
    );
    const plan = planWith({ readyToUse: true, restoreSize: '2Mi', creationTime: now });
    assert.deepEqual(
      [plan.waiting, plan.status?.progress, plan.status?.readyToUse, plan.status?.creationTime],
      [undefined, 100, true, now],
    );
    assert.equal(plan.status?.volumeBackups?.[0]?.volumeSize, 2 ** 21);
  });

  it('never takes anew what is gone', () => {
    const { status: ready } = planWith({ readyToUse: true });
    const { status: lost } = planBackup(
      factsOf({ backup: { ...backup, ...(ready ? { status: ready } : {}) } }),
    );
    const again = planBackup(factsOf({ backup: { ...backup, ...(lost ? { status: lost } : {}) } }));
    assert.deepEqual(again.snapshots, []);
    assert.equal(again.waiting?.reason, 'SnapshotLost');
    assert.equal(again.status?.readyToUse, false);
  });

  it('is ready at once for a machine without disks', () => {
    const empty = { ...started, status: { ...started.status, volumeBackups: [] } };
    assert.equal(planBackup(factsOf({ backup: empty })).status?.readyToUse, true);
  });

  it('does nothing when it is deleted', () => {
    const metadata = { ...backup.metadata, deletionTimestamp: now };
    assert.deepEqual(planBackup(factsOf({ backup: { ...started, metadata } })), {
      snapshots: [],
      status: undefined,
      waiting: undefined,
    });
  });

  const full = 'InsufficientSpace: There is no room; needs someone: make room';
  const unbound = 'SourceNotBound: It has no volume; waits for X y; tried again by itself';
  const foreign = { ...taken, metadata: { name: 's-volume-v' } };
  const cases: readonly [string, ReturnType<typeof planBackup>, string, 'fault' | 'transient'][] = [
    [
      'no target',
      planBackup(factsOf({ backup: { ...backup, spec: { ...backup.spec, type: 'backup' } } })),
      'BackupTargetMissing',
      'fault',
    ],
    ['no machine', planBackup(factsOf({ machine: undefined })), 'SourceNotFound', 'fault'],
    ['no Secret', planBackup(factsOf({ secrets: new Map() })), 'SecretNotFound', 'fault'],
    ['no claim', planBackup(factsOf({ findClaim: () => undefined })), 'ClaimNotFound', 'fault'],
    [
      'the name is taken',
      planBackup(factsOf({ backup: started, findSnapshot: () => foreign })),
      'SnapshotTaken',
      'fault',
    ],
    ['a snapshot that needs someone', planWith({ error: { message: full } }), 'InsufficientSpace', 'fault'],
    ['a snapshot that waits', planWith({ error: { message: unbound } }), 'SourceNotBound', 'transient'],
    ['words of others', planWith({ error: { message: 'rpc failed' } }), 'SnapshotFailed', 'fault'],
  ];
  for (const [name, plan, reason, nature] of cases)
    it(`${name}: ${reason}`, () => {
      const { waiting = assert.fail('nothing is waited for'), status: said = {} } = plan;
      assert.deepEqual([waiting.reason, waiting.nature], [reason, nature]);
      assert.equal(said.error?.message?.split(': ')[0], nature === 'fault' ? reason : undefined);
      assert.deepEqual(
        said.conditions?.map((condition) => [condition.type, condition.status, condition.reason]),
        [
          ['Ready', 'False', reason],
          ['InProgress', nature === 'fault' ? 'False' : 'True', reason],
        ],
      );
    });
});
