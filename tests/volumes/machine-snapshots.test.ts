import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { KubeObject } from '@sheaf/api';
import type { VirtualMachineRestore } from '@sheaf/api/virtualization/index';
import { StatusError } from '@sheaf/base';
import { resources } from '@sheaf/client';
import { haltedMachine, snapshotOf } from './halted-machine.ts';
import { StorageWorld } from './storage-world.ts';

const namespace = 'default';
const { virtualMachineBackups: backups, virtualMachineRestores: restores } = resources;

function ownedBy(machine: string): Record<string, string> {
  const owners = [{ schema: 'kubevirt.io.virtualmachine', refs: [`${namespace}/${machine}`] }];
  return { 'harvesterhci.io/owned-by': JSON.stringify(owners) };
}

describe('snapshots of machines', { timeout: 120_000 }, () => {
  let world: StorageWorld;
  before(async () => {
    world = await StorageWorld.open({ hasBackups: true });
  });
  after(() => world.close());

  const status = async (name: string) => (await world.client.get(backups, { namespace, name })).status;
  const take = (name: string, machine: string, type: 'backup' | 'snapshot') =>
    world.client.create(backups, snapshotOf(machine, name, type));
  const createMachine = (name: string, claims: readonly string[]) =>
    world.client.create(resources.virtualMachines, haltedMachine(name, { claims }));
  const restore = (name: string, spec: Partial<VirtualMachineRestore['spec']>) =>
    world.client.create(restores, {
      metadata: { namespace, name },
      spec: {
        target: { apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name: 'm' },
        virtualMachineBackupName: 's',
        virtualMachineBackupNamespace: namespace,
        ...spec,
      },
    });
  const readyOf = async (name: string) => {
    const { status: found } = await world.client.get(restores, { namespace, name });
    return found?.conditions?.find(({ type }) => type === 'Ready');
  };

  it('keep each of its disks, and go with them when they are deleted', async () => {
    for (const claim of ['a', 'b']) {
      await world.createClaim(claim);
      await world.untilPhase(claim, 'Bound');
    }
    const machine = await createMachine('m', ['a', 'b']);
    await take('s', 'm', 'snapshot');
    await world.until(async () => (await status('s'))?.readyToUse === true);
    const found = (await status('s')) ?? {};
    assert.deepEqual(
      [found.progress, found.sourceUID, found.error, found.conditions?.map((each) => each.status)],
      [100, machine.metadata.uid, undefined, ['True', 'False']],
    );
    assert.deepEqual(
      found.volumeBackups?.map((each) => [each.name, each.volumeName, each.readyToUse, each.volumeSize]),
      [
        ['s-volume-a', 'disk-a', true, 8 * 2 ** 20],
        ['s-volume-b', 'disk-b', true, 8 * 2 ** 20],
      ],
    );
    assert.equal(world.medium.snapshots.size, 2);
    await world.client.delete(backups, { namespace, name: 's' });
    await world.until(() => Promise.resolve(world.medium.snapshots.size === 0));
  });

  it('never hang silently: a backup says what can be done instead', async () => {
    await take('far', 'm', 'backup');
    await world.until(async () => (await status('far'))?.error !== undefined);
    assert.match(
      (await status('far'))?.error?.message ?? '',
      /^BackupTargetMissing: .*needs someone: .*snapshot/,
    );
  });

  it('become new machines', async () => {
    await restore('r', {
      target: { apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name: 'n' },
      virtualMachineBackupName: 'later',
      newVM: true,
    });
    await world.until(async () => (await readyOf('r'))?.reason === 'BackupNotFound');
    await take('later', 'm', 'snapshot');
    await world.until(async () => (await readyOf('r'))?.status === 'True');
    const { status: done, metadata } = await world.client.get(restores, { namespace, name: 'r' });
    const restored = await world.client.get(resources.virtualMachines, { namespace, name: 'n' });
    const { uid } = restored.metadata;
    assert.deepEqual([done?.complete, done?.progress, done?.targetUID], [true, 100, uid]);
    assert.deepEqual(
      metadata.ownerReferences?.map((owner) => owner.uid),
      [uid],
    );
    const names = ['a', 'b'].map((name) => `restore-later-${metadata.uid}-disk-${name}`);
    assert.deepEqual(
      restored.spec.template.spec?.volumes?.map((volume) => volume.persistentVolumeClaim?.claimName),
      names,
    );
    for (const name of names) assert.equal((await world.claim(name)).status?.phase, 'Bound');
  });

  it('wait for a machine that is not there, and are taken when it comes', async () => {
    await take('early', 'not-yet', 'snapshot');
    await world.until(async () => (await status('early'))?.error !== undefined);
    assert.match((await status('early'))?.error?.message ?? '', /^SourceNotFound: /);
    await createMachine('not-yet', ['a']);
    await world.until(async () => (await status('early'))?.readyToUse === true);
    assert.equal((await status('early'))?.error, undefined);
  });

  it('are not restored in ways that lose something, and what is done instead is told', async () => {
    await take('s', 'm', 'snapshot');
    await world.until(async () => (await status('s'))?.readyToUse === true);
    await world.startMachine('m', 'a');
    const m = { apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name: 'm' };
    const cases: readonly [Partial<VirtualMachineRestore['spec']>, RegExp][] = [
      [{ newVM: false, deletionPolicy: 'retain' }, /^Please stop the VM "m" before .*virtctl stop m/],
      [{ newVM: true }, /^VM m is already exists.*another name/],
      [{ newVM: true, target: { ...m, name: 'No' } }, /^Target VM name is invalid.*another name/],
      [{ newVM: false, target: { ...m, name: 'x' } }, /^can't replace nonexistent vm x.*newVM to true/],
      [
        { newVM: true, keepMacAddress: true, target: { ...m, name: 'x' } },
        /^can't restore the new vm with the same macaddress.*Leave keepMacAddress out/,
      ],
    ];
    for (const [spec, words] of cases) await assert.rejects(restore('no', spec), { message: words });
    await world.stopMachine('m');
    await assert.rejects(restore('no', { newVM: false }), {
      message: /^deletionPolicy has to say.*Set it to retain/,
    });
    const { uid = '' } = (await world.claim('b')).metadata;
    await world.client.create(resources.volumeSnapshots, {
      metadata: {
        namespace,
        name: 'own',
        ownerReferences: [{ apiVersion: 'v1', kind: 'PersistentVolumeClaim', name: 'b', uid }],
      },
      spec: { source: { persistentVolumeClaimName: 'b' } },
    });
    await assert.rejects(restore('no', { newVM: false, deletionPolicy: 'delete' }), {
      message: /^can't use delete policy, .* is used by the snapshots own.*Delete those first/,
    });
    await world.client.delete(resources.volumeSnapshots, { namespace, name: 'own' });
    const own = () => world.client.find(resources.volumeSnapshots, { namespace, name: 'own' });
    await world.until(async () => (await own()) === undefined);
  });

  it('are not taken of Secrets that their maker may not read', async () => {
    const made = ['virtualmachinebackups', 'virtualmachinerestores'];
    const rules = [{ apiGroups: ['harvesterhci.io'], resources: made, verbs: ['create'] }];
    await world.client.create(resources.roles, { metadata: { namespace, name: 'takers' }, rules });
    await world.client.create(resources.roleBindings, {
      metadata: { namespace, name: 'takers' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'takers' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'eve' }],
    });
    const machine = haltedMachine('secretive', { claims: [], secret: 'words' });
    await world.client.create(resources.virtualMachines, machine);
    const eve = world.server.clientAs({ name: 'eve', groups: ['system:authenticated'] });
    const takeAsEve = (name: string) => eve.create(backups, snapshotOf(name, `eves-${name}`, 'snapshot'));
    await assert.rejects(takeAsEve('secretive'), {
      code: 403,
      message: /the Secret default\/words, which you/,
    });
    await assert.rejects(takeAsEve('to-come'), { code: 403, message: /may come with any Secret of default/ });
    await takeAsEve('m');
    const spec = {
      target: { kind: 'VirtualMachine', name: 'x' },
      virtualMachineBackupName: 's',
      virtualMachineBackupNamespace: namespace,
      newVM: true,
    };
    await assert.rejects(eve.create(restores, { metadata: { namespace, name: 'eves' }, spec }), {
      code: 403,
      message: /may not read the VMBackup default\/s/,
    });
  });

  it('replace the disks of a machine', async () => {
    await restore('back', { newVM: false, deletionPolicy: 'delete' });
    await world.until(async () => (await readyOf('back'))?.status === 'True');
    const { status: done, metadata } = await world.client.get(restores, { namespace, name: 'back' });
    assert.deepEqual([done?.complete, done?.deletedVolumes], [true, ['a', 'b']]);
    const { spec } = await world.client.get(resources.virtualMachines, { namespace, name: 'm' });
    const names = ['a', 'b'].map((name) => `restore-s-${metadata.uid}-disk-${name}`);
    assert.deepEqual(
      spec.template.spec?.volumes?.map((volume) => volume.persistentVolumeClaim?.claimName),
      names,
    );
    const wordsOf = async (name: string): Promise<string> => {
      const told = await world.client.list<KubeObject>(resources.events, { namespace });
      const events = told.items.filter(
        (event) => (event['involvedObject'] as { readonly name?: string }).name === name,
      );
      return events.map((event) => `${String(event['reason'])}: ${String(event['message'])}`).join('\n');
    };
    await world.until(async () =>
      /^VirtualMachineRestoreComplete: Successfully completed VirtualMachineRestore back$/.test(
        await wordsOf('back'),
      ),
    );
    await world.until(async () =>
      /VirtualMachineRestoreError: .* encountered error .* is not there; delete it/.test(await wordsOf('r')),
    );
    const { items } = await world.client.list(resources.persistentVolumeClaims, { namespace });
    const kept = items.map((claim) => claim.metadata.name ?? '');
    // Another machine has it, too.
    assert.deepEqual([kept.includes('a'), kept.includes('b')], [true, false]);
    assert.equal((await status('s'))?.readyToUse, true, 'the snapshot outlives the volumes that it was of');
  });

  it('say what keeps a volume that was replaced, and are complete when nothing does', async () => {
    await world.createClaim('held', {}, { metadata: { annotations: ownedBy('keeper') } });
    await world.untilPhase('held', 'Bound');
    await createMachine('keeper', []);
    await createMachine('h', ['held']);
    await take('of-h', 'h', 'snapshot');
    await world.until(async () => (await status('of-h'))?.readyToUse === true);
    await restore('back-h', {
      target: { apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name: 'h' },
      virtualMachineBackupName: 'of-h',
      newVM: false,
      deletionPolicy: 'delete',
    });
    await world.until(async () => (await readyOf('back-h'))?.reason === 'RemovingOldVolumes');
    await world.until(async () => /default\/keeper/.test((await readyOf('back-h'))?.message ?? ''));
    await world.client.delete(resources.virtualMachines, { namespace, name: 'keeper' });
    await world.until(async () => (await readyOf('back-h'))?.status === 'True');
  });

  it('say what the server does not let them make, and go on when it does', async () => {
    const quota = await world.client.create(resources.resourceQuotas, {
      metadata: { namespace, name: 'none' },
      spec: { hard: { persistentvolumeclaims: '0' } },
    });
    const used = { hard: { persistentvolumeclaims: '0' }, used: { persistentvolumeclaims: '0' } };
    await world.client.updateStatus(resources.resourceQuotas, { ...quota, status: used });
    await restore('full', {
      target: { apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name: 'full' },
      newVM: true,
    });
    await world.until(async () => (await readyOf('full'))?.reason === 'StepRefused');
    assert.match((await readyOf('full'))?.message ?? '', /exceeded quota: none.*needs someone: change what/);
    await world.client.delete(resources.resourceQuotas, { namespace, name: 'none' });
    await world.until(async () => (await readyOf('full'))?.status === 'True');
  });

  it('stay what they are', async () => {
    const [backup, done] = [
      await world.client.get(backups, { namespace, name: 's' }),
      await world.client.get(restores, { namespace, name: 'back' }),
    ];
    const source = { ...backup.spec.source, name: 'other' };
    await assert.rejects(
      world.client.update(backups, { ...backup, spec: { ...backup.spec, source } }),
      (error) => StatusError.is(error, 'Invalid') && /immutable/.test(error.message),
    );
    await assert.rejects(
      world.client.update(restores, { ...done, spec: { ...done.spec, newVM: true } }),
      (error) => StatusError.is(error, 'Invalid') && /immutable/.test(error.message),
    );
  });
});
