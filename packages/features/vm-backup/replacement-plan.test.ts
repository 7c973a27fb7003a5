import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PersistentVolumeClaim } from '@sheaf/api/virtualization/index';
import {
  actionsOf,
  backup,
  bound,
  data,
  namespace,
  now,
  restore as other,
  planOf,
  source,
  stepOf,
} from './restore.fixture.ts';
import type { RestoreFacts } from './restore-facts.ts';

const restore = {
  ...other,
  spec: {
    ...other.spec,
    newVM: false,
    deletionPolicy: 'delete',
    target: { kind: 'VirtualMachine', name: 'm' },
  },
};
const old: PersistentVolumeClaim = {
  metadata: { namespace, name: 'v', uid: 'v-1' },
  spec: {},
  status: { phase: 'Bound' },
};
const claims: Readonly<Record<string, PersistentVolumeClaim>> = { v: old, 'restore-s-u-root': bound };
const words = { metadata: { namespace, name: 'words' }, data };

function planWith(facts: Partial<RestoreFacts>) {
  return planOf({
    restore,
    target: source,
    findClaim: (name) => claims[name],
    secrets: new Map([['words', words]]),
    ...facts,
  });
}

const { status = {} } = planWith({});
const begun = { ...restore, status };
const { machine: exchanged } = stepOf(planWith({ restore: begun }), 'replace-disks');
const running = { metadata: {}, spec: { domain: { devices: {} } }, status: { phase: 'Running' } } as const;

describe('the disks of a machine that is there', () => {
  it('are written down before anything is done', () => {
    assert.deepEqual(
      [actionsOf(planWith({})), status.deletedVolumes, status.targetUID, status.restores?.length],
      [[], ['v'], 'm-1', 1],
    );
    const retaining = { ...restore, spec: { ...restore.spec, deletionPolicy: 'retain' } };
    assert.equal(planWith({ restore: retaining }).status?.deletedVolumes, undefined);
  });

  it('are made first', () => {
    const plan = planWith({ restore: begun, findClaim: (name) => (name === 'v' ? old : undefined) });
    assert.deepEqual([actionsOf(plan), plan.waiting?.reason], [['create-claim'], 'ClaimNotBound']);
  });

  it('take the places of the old ones, and the machine keeps who it is', () => {
    assert.deepEqual(exchanged.spec, {
      runStrategy: 'Halted',
      template: {
        ...source.spec.template,
        spec: {
          ...source.spec.template.spec,
          volumes: [
            { name: 'root', persistentVolumeClaim: { claimName: 'restore-s-u-root' } },
            { name: 'seed', cloudInitNoCloud: { secretRef: { name: 'words' } } },
          ],
        },
      },
    });
    assert.deepEqual(exchanged.metadata, {
      ...source.metadata,
      annotations: {
        kept: 'yes',
        'restore.harvesterhci.io/last-restore-uid': 'r-u',
        'restore.harvesterhci.io/name': 'r',
      },
    });
  });

  it('are gone, and all is complete, once the machine has others', () => {
    const there = { restore: begun, target: exchanged, machines: [exchanged] };
    const removal = stepOf(planWith(there), 'delete-claim');
    assert.deepEqual([removal.ref.name, removal.uid], ['v', 'v-1']);
    const plan = planWith({ ...there, findClaim: () => undefined });
    assert.deepEqual(
      [actionsOf(plan), plan.status?.complete, plan.status?.progress, plan.status?.restoreTime],
      [[], true, 100, now],
    );
  });

  it('stay as long as anything needs them', () => {
    const there = { restore: begun, target: exchanged };
    const owner = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', name: 'v', uid: 'v-1' };
    const taken = { metadata: { name: 't', ownerReferences: [owner] }, spec: { source: {} } };
    assert.deepEqual(actionsOf(planWith({ ...there, machines: [exchanged, source] })), []);
    assert.deepEqual(actionsOf(planWith({ ...there, machines: [exchanged], snapshots: [taken] })), []);
    const retaining = { ...begun, spec: { ...begun.spec, deletionPolicy: 'retain' } };
    const plan = planWith({ ...there, restore: retaining, machines: [exchanged] });
    assert.deepEqual([actionsOf(plan), plan.status?.complete], [[], true]);
  });

  it('go with the data volume that would make them again', () => {
    const owner = {
      apiVersion: 'cdi.kubevirt.io/v1beta1',
      kind: 'DataVolume',
      name: 'dv',
      uid: 'dv-1',
      controller: true,
    };
    const made = { ...old, metadata: { ...old.metadata, ownerReferences: [owner] } };
    const plan = planWith({
      restore: begun,
      target: exchanged,
      machines: [exchanged],
      findClaim: () => made,
    });
    assert.deepEqual(stepOf(plan, 'delete-data-volume').ref, { namespace, name: 'dv' });
  });

  it('are started as the machine of the snapshot ran, once', () => {
    const spec = { ...source.spec, runStrategy: 'Always' };
    const told = { ...backup, status: { ...backup.status, source: { spec } } };
    const plan = planWith({ restore: begun, target: exchanged, backup: told, machines: [exchanged] });
    const { machine } = stepOf(plan, 'start-machine');
    assert.deepEqual(
      [machine.spec.runStrategy, machine.metadata.annotations?.['harvesterhci.io/vmRunStrategy']],
      ['Always', 'Always'],
    );
    const after = { ...begun, ...(plan.status ? { status: plan.status } : {}) };
    const next = planWith({ restore: after, target: exchanged, backup: told, machines: [exchanged] });
    assert.deepEqual(actionsOf(next), ['delete-claim'], 'whoever has stopped it meanwhile finds it stopped');
  });

  it('are not started before it has been seen that the machine is off: its strategy would be one that had been carried out', () => {
    const spec = { ...source.spec, runStrategy: 'RerunOnFailure' };
    const told = { ...backup, status: { ...backup.status, source: { spec } } };
    const seen = (runStrategy: string) => {
      const target = { ...exchanged, status: { runStrategy } };
      return planWith({ restore: begun, target, backup: told, machines: [target] });
    };
    const waits = seen('RerunOnFailure');
    assert.deepEqual([actionsOf(waits), waits.waiting?.reason], [[], 'Replacing']);
    assert.notEqual(waits.status?.progress, 95);
    assert.deepEqual(actionsOf(seen('Halted')), ['start-machine']);
  });

  const gone = { ...source, metadata: { ...source.metadata, uid: 'm-2' } };
  const cases: readonly [string, Partial<RestoreFacts>, string][] = [
    ['a machine that runs', { instance: running }, 'TargetRunning'],
    ['a machine that has been started meanwhile', { restore: begun, instance: running }, 'TargetRunning'],
    ['a machine that is about to start', { target: withStrategy('Always') }, 'TargetRunning'],
    ['no machine', { target: undefined }, 'TargetNotFound'],
    ['another machine of the name', { restore: begun, target: gone }, 'TargetLost'],
  ];
  for (const [name, facts, reason] of cases)
    it(`${name}: ${reason}`, () => {
      const plan = planWith(facts);
      assert.deepEqual([actionsOf(plan), plan.waiting?.reason, plan.waiting?.nature], [[], reason, 'fault']);
    });
});

describe('the Secrets of a machine whose disks are replaced', () => {
  const changed = { ...words, data: { userdata: 'eA==' } };

  it('are what they were', () => {
    const lost = planWith({ restore: begun, secrets: new Map() });
    assert.deepEqual(actionsOf(lost), ['create-secret', 'replace-disks']);
    const { secret } = stepOf(
      planWith({ restore: begun, secrets: new Map([['words', changed]]) }),
      'update-secret',
    );
    assert.deepEqual(secret, words);
  });

  it('are copies where the name is used otherwise by now', () => {
    const { template } = source.spec;
    const without = {
      ...source,
      spec: { ...source.spec, template: { spec: { ...template.spec, volumes: [] } } },
    };
    const target = without as typeof source;
    const plan = planWith({ restore: begun, target, secrets: new Map([['words', changed]]) });
    const { name } = stepOf(plan, 'create-secret').secret.metadata;
    assert.match(name ?? '', /^vm-m-[0-9a-f]{8}-ref$/);
    const [, seed] = stepOf(plan, 'replace-disks').machine.spec.template.spec?.volumes ?? [];
    assert.equal(seed?.cloudInitNoCloud?.secretRef?.name, name);
  });
});

function withStrategy(runStrategy: string): typeof source {
  return { ...source, spec: { ...source.spec, runStrategy } };
}
