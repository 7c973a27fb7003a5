import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { resources } from '@sheaf/client';
import { StorageWorld } from './storage-world.ts';

describe('claims', { timeout: 120_000 }, () => {
  let world: StorageWorld;
  before(async () => {
    world = await StorageWorld.open();
  });
  after(() => world.close());

  it('get a volume of the default class, and lose it with themselves', async () => {
    const claim = await world.createClaim('a');
    assert.equal(claim.spec.storageClassName, 'harvester-longhorn');
    const bound = await world.untilPhase('a', 'Bound');
    const name = `pvc-${claim.metadata.uid}`;
    assert.equal(bound.spec.volumeName, name);
    assert.deepEqual(bound.status?.capacity, { storage: '8Mi' });
    assert.equal(bound.status?.conditions, undefined);
    const volume = await world.client.get(resources.persistentVolumes, { name });
    const { csi, claimRef, persistentVolumeReclaimPolicy, volumeMode, accessModes } = volume.spec;
    assert.deepEqual(
      [csi, claimRef?.uid, persistentVolumeReclaimPolicy, volumeMode, accessModes],
      [
        { driver: 'driver.longhorn.io', volumeHandle: claim.metadata.uid },
        claim.metadata.uid,
        'Delete',
        'Block',
        ['ReadWriteMany'],
      ],
    );
    await world.until(
      async () => (await world.client.find(resources.persistentVolumes, { name }))?.status?.phase === 'Bound',
    );
    await world.client.delete(resources.persistentVolumeClaims, { namespace: 'default', name: 'a' });
    await world.until(
      async () => (await world.client.find(resources.persistentVolumes, { name })) === undefined,
    );
    assert.equal(world.medium.volumes.size, 0);
  });

  it('wait for room, say how much is missing, and go on when there is some', async () => {
    await world.createClaim('big', { resources: { requests: { storage: '200Mi' } } });
    await world.untilPhase('big', 'Bound');
    await world.createClaim('more', { resources: { requests: { storage: '100Mi' } } });
    const message = await world.untilWaiting('more', 'InsufficientSpace');
    assert.match(message, /needs 104857600 bytes, but only \d+ can be given; needs someone: remove volumes/);
    await world.client.delete(resources.persistentVolumeClaims, { namespace: 'default', name: 'big' });
    await world.untilPhase('more', 'Bound');
    await world.client.delete(resources.persistentVolumeClaims, { namespace: 'default', name: 'more' });
    await world.until(async () => world.medium.volumes.size === 0);
  });

  it('wait for what is missing, each with its reason', async () => {
    await world.createClaim('no-class', { storageClassName: 'nothing' });
    assert.match(
      await world.untilWaiting('no-class', 'StorageClassNotFound'),
      /waits for StorageClass nothing; needs someone/,
    );
    await world.createClaim('no-source', { dataSource: { kind: 'PersistentVolumeClaim', name: 'gone' } });
    assert.match(
      await world.untilWaiting('no-source', 'SourceNotFound'),
      /waits for PersistentVolumeClaim default\/gone/,
    );
    for (const name of ['no-class', 'no-source'])
      await world.client.delete(resources.persistentVolumeClaims, { namespace: 'default', name });
    await world.until(
      async () => (await world.client.list(resources.persistentVolumeClaims)).items.length === 0,
    );
  });

  it('wait for their first use where the class says so', async () => {
    await world.client.create(resources.storageClasses, {
      metadata: { name: 'late' },
      provisioner: 'driver.longhorn.io',
      volumeBindingMode: 'WaitForFirstConsumer',
    });
    await world.createClaim('late', { storageClassName: 'late' });
    await world.untilWaiting('late', 'WaitForFirstConsumer');
    await world.startMachine('user', 'late');
    await world.untilPhase('late', 'Bound');
    const deletion = world.client.delete(resources.persistentVolumeClaims, {
      namespace: 'default',
      name: 'late',
    });
    await assert.rejects(deletion, {
      code: 409,
      message: /in use by the virtual machine default\/user. stop the machine/,
    });
    await world.stopMachine('user');
    await world.client.delete(resources.persistentVolumeClaims, { namespace: 'default', name: 'late' });
    await world.until(async () => world.medium.volumes.size === 0);
  });

  it('grow, also under a machine, and take an expansion back', async () => {
    const claim = await world.createClaim('g');
    await world.untilPhase('g', 'Bound');
    const ask = (storage: string) =>
      world.client.patch(
        resources.persistentVolumeClaims,
        { namespace: 'default', name: 'g' },
        { type: 'merge', body: { spec: { resources: { requests: { storage } } } } },
      );
    const untilSize = (storage: string) =>
      world.until(async () => (await world.claim('g')).status?.capacity?.['storage'] === storage);
    await ask('16Mi');
    await untilSize('16Mi');
    const machine = await world.startMachine('m', 'g');
    await ask('24Mi');
    await untilSize('24Mi');
    await world.machines.write(machine, 300, 7);
    assert.equal((await world.claim('g')).status?.conditions, undefined);
    await ask('2Gi');
    const failed = await world.untilWaiting('g', 'InsufficientSpace');
    assert.match(failed, /needs someone: remove volumes/);
    const answer = await world.client.send({
      method: 'POST',
      target: '/v1/harvester/persistentvolumeclaims/default/g?action=cancelExpand',
    });
    assert.equal(answer.status, 204, await answer.text());
    await world.until(async () => (await world.claim('g')).status?.conditions === undefined);
    assert.deepEqual((await world.claim('g')).status?.capacity, { storage: '24Mi' });
    await assert.rejects(ask('8Mi'), { code: 422 });
    await world.stopMachine('m');
    await world.client.delete(resources.persistentVolumeClaims, { namespace: 'default', name: 'g' });
    await world.until(async () => !world.medium.volumes.has(claim.metadata.uid ?? ''));
  });

  it('are cloned, by dataSource and by the action', async () => {
    const source = await world.createClaim('source');
    await world.untilPhase('source', 'Bound');
    const answer = await world.client.send({
      method: 'POST',
      target: '/v1/harvester/persistentvolumeclaims/default/source?action=clone',
      body: '{"name":"copy"}',
      headers: { 'content-type': 'application/json' },
    });
    assert.equal(answer.status, 204, await answer.text());
    const copy = await world.untilPhase('copy', 'Bound');
    assert.equal(copy.spec.dataSource?.name, 'source');
    await world.client.delete(resources.persistentVolumeClaims, { namespace: 'default', name: 'source' });
    await world.until(async () => !world.medium.volumes.has(source.metadata.uid ?? ''));
    await world.client.delete(resources.persistentVolumeClaims, { namespace: 'default', name: 'copy' });
    await world.until(async () => world.medium.volumes.size === 0);
  });

  it('keep their data where the class retains it, and give it to the claim that names the volume', async () => {
    await world.client.create(resources.storageClasses, {
      metadata: { name: 'kept' },
      provisioner: 'driver.longhorn.io',
      reclaimPolicy: 'Retain',
    });
    await world.createClaim('k', { storageClassName: 'kept' });
    const { spec } = await world.untilPhase('k', 'Bound');
    const name = spec.volumeName ?? '';
    await world.client.delete(resources.persistentVolumeClaims, { namespace: 'default', name: 'k' });
    await world.until(
      async () =>
        (await world.client.get(resources.persistentVolumes, { name })).status?.phase === 'Released',
    );
    assert.equal(world.medium.volumes.size, 1);
    await world.client.patch(
      resources.persistentVolumes,
      { name },
      { type: 'merge', body: { spec: { claimRef: null } } },
    );
    await world.createClaim('k2', { storageClassName: 'kept', volumeName: name });
    await world.untilPhase('k2', 'Bound');
    await world.client.delete(resources.persistentVolumeClaims, { namespace: 'default', name: 'k2' });
    await world.client.delete(resources.persistentVolumes, { name });
    await world.until(
      async () => (await world.client.find(resources.persistentVolumes, { name })) === undefined,
    );
    assert.equal(world.medium.volumes.size, 1, 'the data are retained');
    await world.until(async () => {
      const driver = await world.client.get(resources.csiDrivers, { name: 'driver.longhorn.io' });
      return driver.metadata.annotations?.['sheaf.dev/unowned-space'] !== undefined;
    });
    const [left] = world.medium.volumes.keys();
    await world.volumes.remove(left ?? '', new AbortController().signal);
  });
});
