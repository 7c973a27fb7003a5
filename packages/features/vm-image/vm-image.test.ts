import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import {
  type StorageClass,
  storageDriver,
  type VirtualMachineImage,
  type VolumeSnapshot,
} from '@sheaf/api/virtualization/index';
import { type Client, resources } from '@sheaf/client';
import { cloneAnnotation, legacyClassAnnotation, mirrorsAnnotation, retryAnnotation } from './image-names.ts';
import { type ImageWorld, messageOf, rawDisk, refusal, saidBy, withImages } from './image-world.fixture.ts';

const disk = rawDisk(1, 2, 3);
const url = 'http://source.test/disk.img';
const sha512 = (bytes: Uint8Array): string => createHash('sha512').update(bytes).digest('hex');
const isImported = (image: VirtualMachineImage): boolean => saidBy(image, 'Imported') === 'True/Imported';
const hasEnded = (image: VirtualMachineImage): boolean => saidBy(image, 'Imported').startsWith('False/');

function retry(image: VirtualMachineImage): VirtualMachineImage {
  const { metadata } = image;
  return {
    ...image,
    metadata: { ...metadata, annotations: { ...metadata.annotations, [retryAnnotation]: 'now' } },
  };
}

describe('images from an address', () => {
  it('come in and can be used by their class', () =>
    withImages(async ({ client, create, until, sources }) => {
      sources.offer(url, [{ content: disk }]);
      await create('one', { url, checksum: sha512(disk).toUpperCase() });
      const image = await until('one', isImported);
      const { uid } = image.metadata;
      const { conditions = [], ...status } = image.status ?? {};
      assert.deepEqual(status, {
        appliedUrl: url,
        failed: 0,
        progress: 100,
        size: disk.length,
        virtualSize: disk.length,
        storageClassName: `lh-${uid}`,
      });
      assert.deepEqual(
        conditions.map(({ type, status: claim, reason, message }) => [type, claim, reason, message]),
        [
          ['Initialized', 'True', 'Initialized', ''],
          ['Imported', 'True', 'Imported', ''],
          ['RetryLimitExceeded', 'False', '', ''],
          [
            'MetadataReady',
            'Unknown',
            'NoBackupTarget',
            'no other cluster can take it over: this release keeps no backups',
          ],
        ],
      );
      const made = await client.get(resources.storageClasses, { name: `lh-${uid}` });
      assert.deepEqual(
        [made.provisioner, made.parameters, made.metadata.annotations, made.allowVolumeExpansion],
        [
          storageDriver,
          {
            backingImage: `vmi-${uid}`,
            migratable: 'true',
            numberOfReplicas: '3',
            staleReplicaTimeout: '30',
          },
          { 'harvesterhci.io/imageId': 'default/one' },
          true,
        ],
      );
    }));

  it('show how far they are, and never 100 before they can be used', () =>
    withImages(async ({ create, until, get, sources, eventually }) => {
      sources.offer(url, [
        { content: disk, etag: '"a"', breaksAfter: 128 * 1024 },
        { content: disk, etag: '"a"' },
      ]);
      await create('one', { url });
      const seen = new Set<string>();
      await eventually(async () => {
        const image = await get('one');
        seen.add(`${image.status?.progress ?? 'none'} ${saidBy(image, 'Imported')}`);
        return isImported(image);
      });
      assert.ok(seen.has('66 Unknown/Importing'), [...seen].join());
      assert.deepEqual(
        [...seen].filter((text) => text.startsWith('100')),
        ['100 True/Imported'],
      );
      assert.equal((await until('one', isImported)).status?.size, disk.length);
    }));

  it('tell in events that they begin, fail and are there', () =>
    withImages(async ({ client, create, until, sources, eventually }) => {
      sources.offer(url, [{ content: disk, status: 503 }]);
      await create('one', { url, retry: 3 });
      await until('one', (image) => saidBy(image, 'Imported') === 'Unknown/RetryPending');
      sources.offer(url, [{ content: disk }]);
      await until('one', isImported);
      const told = async (): Promise<readonly string[]> =>
        (await client.list(resources.events, { namespace: 'default' })).items
          .map((event) => `${String(event['type'])} ${String(event['reason'])}`)
          .sort();
      await eventually(async () => (await told()).includes('Normal Imported'));
      assert.deepEqual(
        [...new Set(await told())],
        ['Normal Imported', 'Normal Importing', 'Warning RetryPending'],
      );
    }));

  it('come from the first mirror that has them', () =>
    withImages(async ({ create, until, sources }) => {
      sources.offer('http://mirror.test/disk.img', [{ content: disk }]);
      await create('one', { url }, { [mirrorsAnnotation]: 'http://mirror.test/disk.img' });
      assert.ok(isImported(await until('one', isImported)));
    }));

  it('are tried again after ten seconds, up to a limit, and again when somebody wants it', () =>
    withImages(async ({ client, clock, create, until, sources }) => {
      sources.offer(url, [{ content: disk, status: 503 }]);
      await create('one', { url, retry: 1 });
      const first = await until('one', (image) => saidBy(image, 'Imported') === 'Unknown/RetryPending');
      assert.equal(
        messageOf(first, 'Imported'),
        'attempt 1 of 2: the server answers 503; tried again by itself',
      );
      const failedAt = clock.now();
      const image = await until('one', hasEnded);
      assert.ok(clock.now() - failedAt >= 9000);
      assert.deepEqual(
        [image.status?.failed, saidBy(image, 'RetryLimitExceeded')],
        [2, 'True/RetryLimitExceeded'],
      );
      assert.equal(
        messageOf(image, 'Imported'),
        `attempt 2 of 2: the server answers 503; needs someone: set the annotation ${retryAnnotation}, or a higher spec.retry, to try again`,
      );
      await client.update(resources.virtualMachineImages, { ...image, spec: { ...image.spec, retry: 2 } });
      const again = await until('one', (each) => hasEnded(each) && each.status?.failed === 3);
      sources.offer(url, [{ content: disk }]);
      await client.update(resources.virtualMachineImages, retry(again));
      const done = await until('one', isImported);
      assert.deepEqual(
        [
          done.status?.failed,
          done.metadata.annotations?.[retryAnnotation],
          saidBy(done, 'RetryLimitExceeded'),
        ],
        [0, undefined, 'False/'],
      );
    }));

  it('that are no good are not tried again until something is put right', () =>
    withImages(async ({ client, create, until, sources }) => {
      sources.offer(url, [{ content: disk }]);
      await create('one', { url, checksum: 'ab'.repeat(64) });
      const image = await until('one', hasEnded);
      assert.deepEqual(
        [image.status?.failed, saidBy(image, 'Imported'), saidBy(image, 'RetryLimitExceeded')],
        [1, 'False/ImportFailed', 'True/NotRetried'],
      );
      assert.match(messageOf(image, 'Imported'), /its SHA-512 is .*needs someone: correct spec\.checksum/);
      const spec = { ...image.spec, checksum: sha512(disk) };
      await client.update(resources.virtualMachineImages, { ...image, spec });
      assert.equal((await until('one', isImported)).status?.failed, 0);
    }));

  it('go on after a restart', () =>
    withImages(async ({ create, until, restart, sources }) => {
      sources.offer(url, [
        { content: disk, etag: '"a"', stallsAfter: 128 * 1024 },
        { content: disk, etag: '"a"' },
      ]);
      await create('one', { url });
      await until('one', ({ status }) => (status?.progress ?? 0) > 30);
      await restart();
      const image = await until('one', isImported);
      assert.deepEqual([image.status?.failed ?? 0, image.status?.size], [0, disk.length]);
    }));

  it('have a class of the old name where that is wanted and free', () =>
    withImages(async ({ client, create, until, sources, eventually }) => {
      sources.offer(url, [{ content: disk }]);
      const taken = { metadata: { name: 'longhorn-two' }, provisioner: 'example.com/other' };
      await client.create(resources.storageClasses, taken);
      for (const name of ['one', 'two']) {
        await create(name, { url }, { [legacyClassAnnotation]: 'true' });
        await until(name, isImported);
      }
      const find = (name: string): Promise<StorageClass | undefined> =>
        client.find(resources.storageClasses, { name });
      const { metadata } = await until('one', isImported);
      assert.equal((await find('longhorn-one'))?.parameters?.['backingImage'], `vmi-${metadata.uid}`);
      for (const name of ['one', 'two'])
        await client.delete(resources.virtualMachineImages, { namespace: 'default', name });
      await eventually(async () => (await client.list(resources.virtualMachineImages)).items.length === 0);
      assert.equal(await find('longhorn-one'), undefined);
      assert.equal((await find('longhorn-two'))?.provisioner, 'example.com/other');
    }));

  it('get their class back, and say when their content is gone', () =>
    withImages(async ({ client, create, until, sources, medium, eventually, restart }) => {
      sources.offer(url, [{ content: disk }]);
      await create('one', { url });
      const { metadata } = await until('one', isImported);
      const name = `lh-${metadata.uid}`;
      await client.delete(resources.storageClasses, { name });
      await eventually(async () => (await client.find(resources.storageClasses, { name })) !== undefined);
      medium.images.clear();
      await restart();
      const lost = await until(
        'one',
        (image) => saidBy(image, 'BackingImageMissing') === 'True/ContentNotFound',
      );
      assert.ok(isImported(lost));
      await client.update(resources.virtualMachineImages, retry(lost));
      await until('one', (image) => saidBy(image, 'BackingImageMissing') === 'False/' && isImported(image));
    }));
});

const fromVolume = { sourceType: 'export-from-volume', pvcName: 'data', pvcNamespace: 'default' } as const;

async function createVolume({ client, medium }: ImageWorld): Promise<void> {
  medium.volumes.set('v-1', {
    id: 'v-1',
    title: 'default/data',
    provisioning: 'thin',
    bytes: 65_536,
    top: medium.layer('v-1', 65_536),
  });
  await client.create(resources.persistentVolumeClaims, {
    metadata: { namespace: 'default', name: 'data' },
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '64Ki' } },
      volumeName: 'pv-1',
      storageClassName: '',
    },
  });
}

async function bind({ client }: ImageWorld): Promise<void> {
  await client.create(resources.persistentVolumes, {
    metadata: { name: 'pv-1' },
    spec: {
      capacity: { storage: '64Ki' },
      accessModes: ['ReadWriteOnce'],
      csi: { driver: storageDriver, volumeHandle: 'v-1' },
    },
  });
  const claim = await client.get(resources.persistentVolumeClaims, { namespace: 'default', name: 'data' });
  await client.updateStatus(resources.persistentVolumeClaims, { ...claim, status: { phase: 'Bound' } });
}

/** As the feature of snapshots does it. */
async function takeSnapshot(client: Client, snapshot: VolumeSnapshot): Promise<void> {
  const { namespace = '', name = '', uid = '' } = snapshot.metadata;
  const content = await client.create(resources.volumeSnapshotContents, {
    metadata: { name: 'content-1' },
    spec: {
      deletionPolicy: 'Delete',
      driver: storageDriver,
      source: { volumeHandle: 'v-1' },
      volumeSnapshotRef: { namespace, name, uid },
    },
  });
  const taken = { readyToUse: true, snapshotHandle: 's-1' };
  await client.updateStatus(resources.volumeSnapshotContents, { ...content, status: taken });
  const status = { readyToUse: true, boundVolumeSnapshotContentName: 'content-1' };
  await client.updateStatus(resources.volumeSnapshots, { ...snapshot, status });
}

describe('images from what is there', () => {
  it('are made from a volume, when it is bound', () =>
    withImages(async (world) => {
      await createVolume(world);
      await world.create('one', fromVolume);
      const waiting = await world.until(
        'one',
        (image) => saidBy(image, 'Initialized') === 'Unknown/VolumeUnbound',
      );
      assert.match(messageOf(waiting, 'Initialized'), /waits for PersistentVolumeClaim default\/data/);
      await bind(world);
      assert.equal((await world.until('one', isImported)).status?.virtualSize, 65_536);
      assert.deepEqual((await world.client.list(resources.volumeSnapshots)).items, []);
    }));

  it('are made from a snapshot of a volume that a machine runs on', () =>
    withImages(async (world) => {
      const { client, medium, until, eventually } = world;
      await createVolume(world);
      await bind(world);
      await client.create(resources.virtualMachineInstances, {
        metadata: { namespace: 'default', name: 'vm' },
        spec: {
          domain: { devices: {} },
          volumes: [{ name: 'd', persistentVolumeClaim: { claimName: 'data' } }],
        },
      });
      await world.create('one', fromVolume);
      const waiting = await until(
        'one',
        (image) => saidBy(image, 'Initialized') === 'Unknown/SnapshotNotReady',
      );
      const ref = { namespace: 'default', name: `image-${waiting.metadata.uid}` };
      const snapshot = await client.get(resources.volumeSnapshots, ref);
      assert.deepEqual(snapshot.spec.source, { persistentVolumeClaimName: 'data' });
      const layer = medium.layer('s-1', 65_536);
      medium.snapshots.set('s-1', { id: 's-1', volumeId: 'v-1', bytes: 65_536, takenAt: 0, layer });
      await takeSnapshot(client, snapshot);
      assert.equal((await until('one', isImported)).status?.virtualSize, 65_536);
      await eventually(async () => (await client.find(resources.volumeSnapshots, ref)) === undefined);
    }));

  it('are copies of others', () =>
    withImages(async ({ create, until, sources }) => {
      sources.offer(url, [{ content: disk }]);
      await create('one', { url });
      await until('one', isImported);
      await create('two', { sourceType: 'clone' }, { [cloneAnnotation]: 'default/one' });
      assert.equal((await until('two', isImported)).status?.virtualSize, disk.length);
    }));
});

describe('images that are deleted', () => {
  it('go with their class and content, also in the middle', () =>
    withImages(async ({ client, create, until, medium, sources, eventually }) => {
      sources.offer(url, [{ content: disk, stallsAfter: 65_536 }]);
      await create('one', { url });
      const { metadata } = await until('one', ({ status }) => (status?.progress ?? 0) > 0);
      await client.delete(resources.virtualMachineImages, { namespace: 'default', name: 'one' });
      const ref = { namespace: 'default', name: 'one' };
      await eventually(async () => (await client.find(resources.virtualMachineImages, ref)) === undefined);
      assert.equal(await client.find(resources.storageClasses, { name: `lh-${metadata.uid}` }), undefined);
      assert.equal(medium.images.size, 0);
    }));

  it('stay while others use them', () =>
    withImages(async ({ client, create, until, sources }) => {
      sources.offer(url, [{ content: disk }]);
      await create('one', { url });
      const { status } = await until('one', isImported);
      const claim = { namespace: 'default', name: 'data' };
      await client.create(resources.persistentVolumeClaims, {
        metadata: claim,
        spec: {
          accessModes: ['ReadWriteMany'],
          resources: { requests: { storage: '1Gi' } },
          storageClassName: status?.storageClassName ?? '',
        },
      });
      await client.create(resources.virtualMachineTemplateVersions, {
        metadata: { namespace: 'default', name: 'small-1' },
        spec: { templateId: 'default/small', imageId: 'default/one' },
      });
      assert.equal(
        await refusal(client.delete(resources.virtualMachineImages, { namespace: 'default', name: 'one' })),
        '422: Cannot delete image default/one (one): being used by template version default/small-1, volume default/data. Delete these first.',
      );
    }));
});
