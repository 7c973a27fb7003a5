import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { resources } from '@sheaf/client';
import { until, whySkipped } from '../../packages/drivers/local-disk/local-disk.fixture.ts';
import { noMachines, withLocalStorage } from './local-storage.ts';

const place = (name: string) => ({ namespace: 'default', name });
const signal = new AbortController().signal;

describe('claims on the local disk', { skip: whySkipped, timeout: 120_000 }, () => {
  it('are made, written, kept, restored, expanded and removed', () =>
    withLocalStorage(noMachines, async (client, { volumes, open }) => {
      const create = (name: string, dataSource?: { apiGroup: string; kind: string; name: string }) =>
        client.create(resources.persistentVolumeClaims, {
          metadata: place(name),
          spec: {
            accessModes: ['ReadWriteOnce'],
            volumeMode: 'Block',
            resources: { requests: { storage: '4Mi' } },
            ...(dataSource ? { dataSource } : {}),
          },
        });
      const read = (name: string) => client.get(resources.persistentVolumeClaims, place(name));
      const untilBound = (name: string) => until(async () => (await read(name)).status?.phase === 'Bound');
      const fileOf = async (name: string) => {
        const volume = await volumes.find((await read(name)).metadata.uid ?? '', signal);
        return volume?.file ?? assert.fail(`${name} has no volume`);
      };
      await create('v');
      await untilBound('v');
      const disk = await open(await fileOf('v'));
      await disk.write(0, 7);
      await disk.close();
      await client.create(resources.volumeSnapshots, {
        metadata: place('s'),
        spec: { source: { persistentVolumeClaimName: 'v' } },
      });
      await until(
        async () => (await client.get(resources.volumeSnapshots, place('s'))).status?.readyToUse === true,
      );
      await create('r', { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: 's' });
      await untilBound('r');
      const restored = await open(await fileOf('r'));
      assert.equal(await restored.read(0), 7);
      await restored.close();
      await client.patch(resources.persistentVolumeClaims, place('r'), {
        type: 'merge',
        body: { spec: { resources: { requests: { storage: '8Mi' } } } },
      });
      await until(async () => (await read('r')).status?.capacity?.['storage'] === '8Mi');
      await client.delete(resources.volumeSnapshots, place('s'));
      for (const name of ['v', 'r']) await client.delete(resources.persistentVolumeClaims, place(name));
      await until(async () => (await client.list(resources.persistentVolumes)).items.length === 0);
      await until(async () => (await volumes.listSnapshots(signal)).length === 0);
      assert.deepEqual(await volumes.list(signal), []);
    }));
});
