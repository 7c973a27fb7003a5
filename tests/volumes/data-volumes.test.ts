import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { DataVolume } from '@sheaf/api/virtualization/index';
import { resources } from '@sheaf/client';
import { StorageWorld } from './storage-world.ts';

const place = (name: string) => ({ namespace: 'default', name });
const mebibyte = 1024 ** 2;

describe('data volumes', { timeout: 120_000 }, () => {
  let world: StorageWorld;
  before(async () => {
    world = await StorageWorld.open();
  });
  after(() => world.close());

  const create = (name: string, source: NonNullable<DataVolume['spec']['source']>, storage: object = {}) =>
    world.client.create(resources.dataVolumes, {
      metadata: place(name),
      spec: { source, storage },
    });
  const read = (name: string) => world.client.get(resources.dataVolumes, place(name));
  const untilPhase = (name: string, phase: string) =>
    world.until(async () => (await read(name)).status?.phase === phase);
  const sized = { resources: { requests: { storage: '4Mi' } } };
  const remove = async (name: string) => {
    await world.client.delete(resources.dataVolumes, place(name));
    await world.until(async () => world.medium.volumes.size === 0 && world.medium.images.size === 0);
  };

  it('are blank disks', async () => {
    await create('blank', { blank: {} }, sized);
    await untilPhase('blank', 'Succeeded');
    const { status } = await read('blank');
    assert.deepEqual(
      [
        status?.claimName,
        status?.progress,
        status?.conditions?.map(({ type, status: is }) => `${type} ${is}`),
      ],
      ['blank', '100.0%', ['Bound True', 'Running False', 'Ready True']],
    );
    assert.equal((await world.claim('blank')).metadata.ownerReferences?.[0]?.kind, 'DataVolume');
    await remove('blank');
  });

  it('are fetched, of the size of their source if they name none, and go with all that was fetched', async () => {
    const url = 'http://source.test/disk.raw';
    world.sources.offer(url, [{ content: new Uint8Array(2 * mebibyte).fill(1) }]);
    await create('fetched', { http: { url } });
    await untilPhase('fetched', 'Succeeded');
    const claim = await world.claim('fetched');
    assert.deepEqual(claim.status?.capacity, { storage: '2Mi' });
    assert.equal(claim.metadata.annotations?.['cdi.kubevirt.io/storage.import.endpoint'], url);
    assert.equal(world.medium.images.size, 1);
    await remove('fetched');
  });

  it('say why nothing can be fetched, and try again', async () => {
    const url = 'http://source.test/late.raw';
    await create('late', { http: { url } }, sized);
    const isRefused = async () => {
      const { status } = await read('late');
      return (
        status?.conditions?.some(({ type, reason }) => type === 'Running' && reason === 'Error') === true
      );
    };
    await world.until(isRefused);
    const ready = (await read('late')).status?.conditions?.find(({ type }) => type === 'Ready');
    assert.equal(ready?.reason, 'ImportFailed');
    world.sources.offer(url, [{ content: new Uint8Array(mebibyte).fill(1) }]);
    await untilPhase('late', 'Succeeded');
    assert.ok(((await read('late')).status?.restartCount ?? 0) > 0);
    await remove('late');
  });

  it('are clones of claims', async () => {
    await create('first', { blank: {} }, sized);
    await create('second', { pvc: place('first') });
    await untilPhase('second', 'Succeeded');
    assert.deepEqual((await world.claim('second')).status?.capacity, { storage: '4Mi' });
    await world.client.delete(resources.dataVolumes, place('second'));
    await remove('first');
  });

  it('wait for an upload', async () => {
    await create('sent', { upload: {} }, sized);
    await untilPhase('sent', 'UploadReady');
    await remove('sent');
  });

  it('are refused where their source cannot be had', async () => {
    await assert.rejects(create('r', { s3: { url: 'http://x' } }, sized), {
      code: 422,
      message: /S3 buckets is not fetched.*use spec\.source\.http/,
    });
  });

  it('need a right to content of other namespaces', async () => {
    await world.client.create(resources.namespaces, { metadata: { name: 'other' } });
    await world.client.create(resources.clusterRoleBindings, {
      metadata: { name: 'dv' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'dv' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'jane' }],
    });
    await world.client.create(resources.clusterRoles, {
      metadata: { name: 'dv' },
      rules: [{ apiGroups: ['cdi.kubevirt.io'], resources: ['datavolumes'], verbs: ['*'] }],
    });
    const jane = world.server.clientAs({ name: 'jane', groups: ['system:authenticated'] });
    const theft = jane.create(resources.dataVolumes, {
      metadata: place('theft'),
      spec: { source: { pvc: { namespace: 'other', name: 'secret' } }, storage: sized },
    });
    await assert.rejects(theft, { code: 403, message: /datavolumes\/source/ });
  });
});
