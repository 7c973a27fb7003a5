import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  actionsOf,
  backup,
  bound,
  data,
  namespace,
  now,
  planOf,
  restore,
  source,
  stepOf,
} from './restore.fixture.ts';
import type { RestoreFacts } from './restore-facts.ts';

const copyName = 'vm-n-89759e12-ref';
const { machine } = stepOf(planOf({}), 'create-machine');
const made = { ...machine, metadata: { ...machine.metadata, uid: 'n-1' } };

describe('a new machine of a snapshot', () => {
  it('gets a claim for each disk, and copies of its Secrets once it is there', () => {
    const { claim } = stepOf(planOf({}), 'create-claim');
    assert.deepEqual(claim.metadata, {
      namespace,
      name: 'restore-s-u-root',
      annotations: { 'restore.harvesterhci.io/name': 'r' },
    });
    assert.deepEqual(claim.spec, {
      storageClassName: 'c',
      resources: { requests: { storage: '4Ki' } },
      dataSource: { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: 's-volume-v' },
    });
    const { secret } = stepOf(planOf({ target: made }), 'create-secret');
    assert.deepEqual(
      [secret.metadata.name, secret['data'], secret.metadata.ownerReferences?.map(({ uid }) => uid)],
      [copyName, data, ['n-1']],
    );
  });

  it('has disks, Secrets, addresses and identity of its own', () => {
    assert.deepEqual(made, {
      metadata: {
        namespace,
        name: 'n',
        uid: 'n-1',
        annotations: {
          kept: 'yes',
          'restore.harvesterhci.io/last-restore-uid': 'r-u',
          'restore.harvesterhci.io/name': 'r',
        },
      },
      spec: {
        runStrategy: 'Halted',
        template: {
          metadata: { labels: { 'harvesterhci.io/vmName': 'n' } },
          spec: {
            domain: {
              firmware: { bootloader: { efi: {} } },
              devices: { interfaces: [{ name: 'n', masquerade: {} }] },
            },
            volumes: [
              { name: 'root', persistentVolumeClaim: { claimName: 'restore-s-u-root' } },
              { name: 'seed', cloudInitNoCloud: { secretRef: { name: copyName } } },
            ],
          },
        },
      },
    });
    const keeping = { ...restore, spec: { ...restore.spec, keepMacAddress: true } };
    const other = stepOf(planOf({ restore: keeping, source: undefined }), 'create-machine').machine;
    const { interfaces } = other.spec.template.spec?.domain.devices ?? {};
    assert.equal(interfaces?.[0]?.macAddress, '02:00:00:00:00:01');
  });

  it('runs as the old one did, unless it is to stay off', () => {
    const strategyOf = (runStrategy: string, haltAfterRestore: boolean): string | undefined => {
      const spec = { ...source.spec, runStrategy };
      const told = { ...backup, status: { ...backup.status, source: { spec } } };
      const asked = { ...restore, spec: { ...restore.spec, haltAfterRestore } };
      return stepOf(planOf({ backup: told, restore: asked }), 'create-machine').machine.spec.runStrategy;
    };
    assert.deepEqual([strategyOf('Always', false), strategyOf('Always', true)], ['Always', 'Halted']);
  });

  it('is complete when it has its claims and Secrets, and then nothing more is done', () => {
    const there = { target: made, findClaim: () => bound };
    assert.deepEqual([planOf(there).status?.complete, planOf(there).status?.progress], [false, 90]);
    const secrets = new Map([[copyName, { metadata: {}, data }]]);
    const { status = {}, waiting } = planOf({ ...there, secrets });
    assert.deepEqual(
      [waiting, status.complete, status.progress, status.restoreTime],
      [undefined, true, 100, now],
    );
    assert.deepEqual(actionsOf(planOf({ restore: { ...restore, status } })), []);
  });

  const unfilled = {
    ...bound,
    status: {
      phase: 'Pending',
      conditions: [
        {
          type: 'Bound',
          status: 'False',
          reason: 'InsufficientSpace',
          message: 'No room; needs someone: make room',
        },
      ],
    },
  } as const;
  const cases: readonly [string, Partial<RestoreFacts>, string][] = [
    ['no snapshot', { backup: undefined }, 'BackupNotFound'],
    ['a backup', { backup: { ...backup, spec: { ...backup.spec, type: 'backup' } } }, 'BackupTargetMissing'],
    ['another namespace', { restore: { ...restore, metadata: { namespace: 'b' } } }, 'NamespaceDiffers'],
    ['a snapshot that is not ready', { backup: { ...backup, status: {} } }, 'BackupNotReady'],
    ['the name is taken', { target: source }, 'TargetExists'],
    ['the machine is gone', { restore: { ...restore, status: { targetUID: 'x' } } }, 'TargetLost'],
    [
      'addresses in use',
      { restore: { ...restore, spec: { ...restore.spec, keepMacAddress: true } } },
      'MacAddressInUse',
    ],
    ['a claim that needs someone', { findClaim: () => unfilled }, 'InsufficientSpace'],
    ['claims being filled', { target: made }, 'ClaimNotBound'],
    [
      'a Secret of the name',
      { target: made, findClaim: () => bound, secrets: new Map([[copyName, { metadata: {} }]]) },
      'SecretTaken',
    ],
  ];
  for (const [name, facts, reason] of cases)
    it(`${name}: ${reason}`, () => {
      const { waiting, status } = planOf(facts);
      assert.equal(waiting?.reason, reason);
      assert.equal(status?.conditions?.find(({ type }) => type === 'Ready')?.reason, reason);
    });
});
