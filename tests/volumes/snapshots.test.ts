import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { resources } from '@sheaf/client';
import { StorageWorld } from './storage-world.ts';

describe('snapshots', { timeout: 120_000 }, () => {
  let world: StorageWorld;
  before(async () => {
    world = await StorageWorld.open();
  });
  after(() => world.close());

  const place = (name: string) => ({ namespace: 'default', name });
  const snapshot = (name: string) => world.client.get(resources.volumeSnapshots, place(name));
  const take = (name: string, claim: string, volumeSnapshotClassName?: string) =>
    world.client.create(resources.volumeSnapshots, {
      metadata: { name, namespace: 'default' },
      spec: {
        source: { persistentVolumeClaimName: claim },
        ...(volumeSnapshotClassName === undefined ? {} : { volumeSnapshotClassName }),
      },
    });
  const untilReady = (name: string) =>
    world.until(async () => (await snapshot(name)).status?.readyToUse === true);
  const isGone = async (name: string) =>
    (await world.client.find(resources.volumeSnapshots, place(name))) === undefined;

  it('keep what a running machine has written, and are restored', async () => {
    await world.createClaim('v');
    await world.untilPhase('v', 'Bound');
    const machine = await world.startMachine('m', 'v');
    await world.machines.write(machine, 0, 1);
    const { metadata } = await take('s', 'v');
    await untilReady('s');
    const { status, spec } = await snapshot('s');
    assert.equal(spec.volumeSnapshotClassName, 'longhorn-snapshot');
    assert.deepEqual(
      [status?.boundVolumeSnapshotContentName, status?.restoreSize, status?.error],
      [`snapcontent-${metadata.uid}`, '8Mi', undefined],
    );
    assert.match(status?.creationTime ?? '', /^2026-01-01T/);
    await world.machines.write(machine, 0, 2);
    const answer = await world.client.send({
      method: 'POST',
      target: '/v1/harvester/snapshot.storage.k8s.io.volumesnapshots/default/s?action=restore',
      body: '{"name":"restored"}',
      headers: { 'content-type': 'application/json' },
    });
    assert.equal(answer.status, 204, await answer.text());
    await world.untilPhase('restored', 'Bound');
    const second = await world.startMachine('second', 'restored');
    assert.deepEqual([await world.machines.read(machine, 0), await world.machines.read(second, 0)], [2, 1]);
    await world.stopMachine('second');
  });

  it('say what they are worth: as after a power cut, or with file systems frozen, which are thawed', async () => {
    const worthOf = async (name: string) => {
      const { annotations = {} } = (await snapshot(name)).metadata;
      return [annotations['sheaf.dev/consistency'], annotations['sheaf.dev/consistency-reason']];
    };
    const untilTold = (name: string) => world.until(async () => (await worthOf(name))[0] !== undefined);
    await untilTold('s');
    assert.deepEqual(await worthOf('s'), [
      'crash',
      'no guest agent listens: install and start qemu-guest-agent in the guest',
    ]);
    const place = { namespace: 'default', name: 'm' };
    const { metadata } = await world.client.get(resources.virtualMachineInstances, place);
    const id = metadata.uid ?? '';
    world.machines.installAgent(id);
    world.machines.done.length = 0;
    await take('frozen', 'v');
    await untilTold('frozen');
    assert.deepEqual(await worthOf('frozen'), ['filesystem', 'the guest had its file systems frozen']);
    assert.deepEqual(world.machines.done, ['freeze', 'switch', 'thaw']);
    await world.machines.askAgent(id, { execute: 'guest-fsfreeze-freeze' });
    world.machines.done.length = 0;
    await take('by-user', 'v');
    await untilTold('by-user');
    assert.deepEqual(world.machines.done, ['switch']);
    assert.equal(world.machines.isFrozen(id), true, 'the freeze of somebody else stays');
    await world.machines.askAgent(id, { execute: 'guest-fsfreeze-thaw' });
    for (const name of ['frozen', 'by-user']) {
      await world.client.delete(resources.volumeSnapshots, { namespace: 'default', name });
      await world.until(() => isGone(name));
    }
  });

  it('go with their data when they are deleted', async () => {
    await world.client.delete(resources.volumeSnapshots, place('s'));
    await world.until(() => isGone('s'));
    assert.deepEqual(
      [world.medium.snapshots.size, (await world.client.list(resources.volumeSnapshotContents)).items],
      [0, []],
    );
    await world.stopMachine('m');
  });

  it('leave their content behind where the class retains it, and another snapshot may take it up', async () => {
    await world.client.create(resources.volumeSnapshotClasses, {
      metadata: { name: 'kept' },
      driver: 'driver.longhorn.io',
      deletionPolicy: 'Retain',
      parameters: { type: 'snap' },
    });
    const { metadata } = await take('k', 'v', 'kept');
    await untilReady('k');
    await world.client.delete(resources.volumeSnapshots, place('k'));
    await world.until(() => isGone('k'));
    assert.equal(world.medium.snapshots.size, 1);
    const snapshotHandle = metadata.uid ?? '';
    await world.client.delete(resources.volumeSnapshotContents, { name: `snapcontent-${snapshotHandle}` });
    await world.client.create(resources.volumeSnapshotContents, {
      metadata: { name: 'found' },
      spec: {
        driver: 'driver.longhorn.io',
        deletionPolicy: 'Delete',
        source: { snapshotHandle },
        volumeSnapshotRef: place('k2'),
      },
    });
    await world.client.create(resources.volumeSnapshots, {
      metadata: place('k2'),
      spec: { source: { volumeSnapshotContentName: 'found' } },
    });
    await untilReady('k2');
    await world.client.delete(resources.volumeSnapshots, place('k2'));
    await world.until(() => isGone('k2'));
    assert.equal(world.medium.snapshots.size, 0);
  });

  it('say what they wait for', async () => {
    const error = async (name: string) => (await snapshot(name)).status?.error?.message;
    await take('of-nothing', 'nothing');
    await world.until(async () => (await error('of-nothing')) !== undefined);
    assert.match(
      (await error('of-nothing')) ?? '',
      /^SourceNotFound: .*waits for PersistentVolumeClaim default\/nothing; needs someone/,
    );
    await take('backup', 'v', 'longhorn');
    await world.until(async () => (await error('backup')) !== undefined);
    assert.match((await error('backup')) ?? '', /^BackupUnavailable: .*use class longhorn-snapshot/);
  });
});
