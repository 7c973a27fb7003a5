import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import type { PersistentVolumeClaim } from '@sheaf/api/virtualization/index';
import { silentLogger } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import { openQemu } from '@sheaf/drivers/qemu';
import { systemClock, systemRandom } from '@sheaf/drivers/system';
import type { DiskFile, Hypervisor, MachineSpec, Volumes } from '@sheaf/ports';
import { until } from '../../packages/drivers/local-disk/local-disk.fixture.ts';
import { withLocalStorage } from './local-storage.ts';

const place = (name: string) => ({ namespace: 'default', name });
const signal = AbortSignal.timeout(120_000);

async function withQemu(context: TestContext, use: (hypervisor: Hypervisor) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'volume-machine-'));
  const hypervisor = openQemu({
    directory,
    clock: systemClock,
    random: systemRandom,
    logger: silentLogger,
    accelerator: 'tcg',
  });
  try {
    const { hypervisor: ability } = await hypervisor.probe(AbortSignal.timeout(30_000));
    if (ability.isAvailable) await use(hypervisor);
    else context.skip(ability.reason);
  } finally {
    hypervisor.dispose();
    await rm(directory, { recursive: true, force: true });
  }
}

function specOf(id: string, files: readonly DiskFile[]): MachineSpec {
  return {
    id,
    title: 'default/m',
    machineType: 'q35',
    cpu: { sockets: 1, cores: 1, threads: 1 },
    memory: { bytes: 2 ** 26 },
    firmware: { kind: 'bios' },
    identity: { uuid: '00000000-0000-4000-8000-000000000000' },
    disks: files.map((file, index) => ({ name: `disk-${index}`, device: 'disk', bus: 'virtio', file })),
    nics: [],
    hasGraphics: false,
    hasSerialConsole: true,
    hasAgentChannel: false,
    hasRandomSource: false,
    hasBalloon: false,
  };
}

const claims = resources.persistentVolumeClaims;

async function createBound(
  client: Client,
  name: string,
  source: Partial<PersistentVolumeClaim['spec']> = {},
): Promise<string> {
  const { metadata } = await client.create(claims, {
    metadata: place(name),
    spec: {
      accessModes: ['ReadWriteMany'],
      volumeMode: 'Block',
      resources: { requests: { storage: '4Mi' } },
      ...source,
    },
  });
  await until(async () => (await client.get(claims, place(name))).status?.phase === 'Bound');
  return metadata.uid ?? '';
}

/** Its instance, and the machine with the files of the claims `v` and `w`. */
async function startMachine(
  client: Client,
  hypervisor: Hypervisor,
  files: readonly DiskFile[],
): Promise<string> {
  const { metadata } = await client.create(resources.virtualMachineInstances, {
    metadata: place('m'),
    spec: {
      domain: { devices: {}, memory: { guest: '64Mi' } },
      volumes: ['v', 'w'].map((claimName, index) => ({
        name: `disk-${index}`,
        persistentVolumeClaim: { claimName },
      })),
    },
  });
  const id = metadata.uid ?? '';
  await hypervisor.start(specOf(id, files), signal);
  await hypervisor.resume(id, signal);
  return id;
}

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

async function expand(client: Client): Promise<void> {
  const body = { spec: { resources: { requests: { storage: '8Mi' } } } };
  await client.patch(claims, place('v'), { type: 'merge', body });
  await until(async () => (await client.get(claims, place('v'))).status?.capacity?.['storage'] === '8Mi');
}

async function removeAll(client: Client): Promise<void> {
  await client.delete(resources.virtualMachineInstances, place('m'));
  for (const name of ['s1', 's2', 'both-v', 'both-w'])
    await client.delete(resources.volumeSnapshots, place(name));
  for (const name of ['v', 'w', 'clone']) await client.delete(claims, place(name));
  await until(async () => (await client.list(resources.persistentVolumes)).items.length === 0);
}

async function story(client: Client, hypervisor: Hypervisor, volumes: Volumes): Promise<void> {
  const fileOf = async (volumeId: string): Promise<DiskFile> =>
    (await volumes.find(volumeId, signal))?.file ?? assert.fail('there is no volume');
  const volumeIds = [await createBound(client, 'v'), await createBound(client, 'w')];
  const filesOf = () => Promise.all(volumeIds.map(fileOf));
  const before = await filesOf();
  const id = await startMachine(client, hypervisor, before);
  const writes = async (): Promise<readonly (string | undefined)[]> => {
    const { devices = [] } = (await hypervisor.find(id, signal)) ?? {};
    return ['disk-0', 'disk-1'].map((name) => devices.find((device) => device.name === name)?.path);
  };
  const paths = async () => (await filesOf()).map(({ path }) => path);
  for (const name of ['s1', 's2']) await takeSnapshot(client, name);
  await createBound(client, 'clone', { dataSource: { kind: 'PersistentVolumeClaim', name: 'v' } });
  const [, second] = await paths();
  assert.deepEqual(await writes(), await paths(), 'the machine writes where the driver says');
  assert.equal(second, before[1]?.path, 'the other disk is left alone');
  await takeTogether(client);
  assert.deepEqual(await writes(), await paths(), 'with both disks');
  assert.notEqual((await paths())[1], second);
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
    withQemu(context, (hypervisor) =>
      withLocalStorage(hypervisor, (client, { volumes }) => story(client, hypervisor, volumes)),
    ),
);
