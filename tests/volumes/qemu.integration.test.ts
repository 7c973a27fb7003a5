import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type Client, resources } from '@sheaf/client';
import type { DiskFile, Hypervisor, MachineMemories, Volumes } from '@sheaf/ports';
import { until } from '../../packages/drivers/local-disk/local-disk.fixture.ts';
import { withLocalStorage } from './local-storage.ts';
import { claims, createBound, place, signal, startMachine, withQemu } from './real-machine.ts';

async function takeSnapshot(client: Client, name: string): Promise<void> {
  const snapshots = resources.volumeSnapshots;
  const source = { persistentVolumeClaimName: 'v' };
  await client.create(snapshots, { metadata: place(name), spec: { source } });
  await until(async () => (await client.get(snapshots, place(name))).status?.readyToUse === true);
}

/** Of both disks at one moment. */
async function takeTogether(client: Client): Promise<void> {
  const snapshots = resources.volumeSnapshots;
  const annotations = { 'sheaf.dev/moment': 'now', 'sheaf.dev/moment-size': '2' };
  for (const name of ['v', 'w'])
    await client.create(snapshots, {
      metadata: { ...place(`both-${name}`), annotations },
      spec: { source: { persistentVolumeClaimName: name } },
    });
  for (const name of ['both-v', 'both-w'])
    await until(async () => {
      const { status, metadata } = await client.get(snapshots, place(name));
      return status?.readyToUse === true && metadata.annotations?.['sheaf.dev/consistency'] === 'crash';
    });
}

/** Of both disks at one moment, with what the machine has in its memory. */
async function takeWithMemory(client: Client, memories: MachineMemories): Promise<void> {
  const snapshots = resources.volumeSnapshots;
  const annotations = {
    'sheaf.dev/moment': 'memory',
    'sheaf.dev/moment-size': '2',
    'sheaf.dev/moment-memory': 'true',
  };
  for (const name of ['v', 'w'])
    await client.create(snapshots, {
      metadata: { ...place(`memory-${name}`), annotations },
      spec: { source: { persistentVolumeClaimName: name } },
    });
  for (const name of ['memory-v', 'memory-w'])
    await until(async () => (await client.get(snapshots, place(name))).status?.readyToUse === true);
  const [kept, ...others] = await memories.list(signal);
  assert.deepEqual([kept?.id, kept?.state, others], ['memory', 'kept', []]);
}

/** Both disks at one moment, as the action `clone` asks for it. */
async function cloneTogether(client: Client): Promise<void> {
  const annotations = { 'sheaf.dev/moment': 'clone', 'sheaf.dev/moment-size': '2' };
  for (const name of ['v', 'w'])
    await client.create(claims, {
      metadata: { ...place(`clone-${name}`), annotations },
      spec: {
        accessModes: ['ReadWriteMany'],
        volumeMode: 'Block',
        resources: { requests: { storage: '4Mi' } },
        dataSource: { kind: 'PersistentVolumeClaim', name },
      },
    });
  for (const name of ['clone-v', 'clone-w'])
    await until(async () => (await client.get(claims, place(name))).status?.phase === 'Bound');
}

async function expand(client: Client): Promise<void> {
  const body = { spec: { resources: { requests: { storage: '8Mi' } } } };
  await client.patch(claims, place('v'), { type: 'merge', body });
  await until(async () => (await client.get(claims, place('v'))).status?.capacity?.['storage'] === '8Mi');
}

async function removeAll(client: Client): Promise<void> {
  await client.delete(resources.virtualMachineInstances, place('m'));
  for (const name of ['s1', 's2', 'both-v', 'both-w', 'memory-v', 'memory-w'])
    await client.delete(resources.volumeSnapshots, place(name));
  for (const name of ['v', 'w', 'clone', 'clone-v', 'clone-w']) await client.delete(claims, place(name));
  await until(async () => (await client.list(resources.persistentVolumes)).items.length === 0);
}

async function story(
  client: Client,
  hypervisor: Hypervisor,
  { volumes, memories }: { readonly volumes: Volumes; readonly memories: MachineMemories },
): Promise<void> {
  const fileOf = async (volumeId: string): Promise<DiskFile> =>
    (await volumes.find(volumeId, signal))?.file ?? assert.fail('there is no volume');
  const volumeIds = [await createBound(client, 'v'), await createBound(client, 'w')];
  const filesOf = () => Promise.all(volumeIds.map(fileOf));
  const [v, w] = (await filesOf()) as [DiskFile, DiskFile];
  const id = await startMachine(client, hypervisor, [
    { claimName: 'v', file: v },
    { claimName: 'w', file: w },
  ]);
  const writes = async (): Promise<readonly (string | undefined)[]> => {
    const { devices = [] } = (await hypervisor.find(id, signal)) ?? {};
    return ['disk-0', 'disk-1'].map((name) => devices.find((device) => device.name === name)?.path);
  };
  const paths = async () => (await filesOf()).map(({ path }) => path);
  for (const name of ['s1', 's2']) await takeSnapshot(client, name);
  await createBound(client, 'clone', { dataSource: { kind: 'PersistentVolumeClaim', name: 'v' } });
  const [, second] = await paths();
  assert.deepEqual(await writes(), await paths(), 'the machine writes where the driver says');
  assert.equal(second, w.path, 'the other disk is left alone');
  await takeTogether(client);
  assert.deepEqual(await writes(), await paths(), 'with both disks');
  assert.notEqual((await paths())[1], second);
  await takeWithMemory(client, memories);
  assert.deepEqual(await writes(), await paths(), 'with both disks and its memory');
  assert.equal((await hypervisor.find(id, signal))?.state, 'running');
  await cloneTogether(client);
  assert.deepEqual(await writes(), await paths(), 'with both disks, for both clones');
  await expand(client);
  await hypervisor.end(id, signal);
  await hypervisor.forget(id, signal);
  await removeAll(client);
  await until(async () => (await volumes.listSnapshots(signal)).length === 0);
  assert.deepEqual(await volumes.list(signal), []);
}

it(
  'volumes in a real machine are kept one by one and together, cloned and expanded, and go after it',
  {
    timeout: 180_000,
  },
  (context) =>
    withQemu(context, ({ hypervisor }) =>
      withLocalStorage(hypervisor, (client, { volumes, disk }) =>
        story(client, hypervisor, { volumes, memories: disk.memories }),
      ),
    ),
);
