import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Condition, KubeObject } from '@sheaf/api';
import type { VirtualMachineImage } from '@sheaf/api/virtualization/index';
import { type InProcessUser, resources } from '@sheaf/client';
import type { InstanceSpec, VolumeSpec } from '../instance-spec.ts';
import { type RequestWorld, withRequests } from '../request-world.fixture.ts';
import type { VirtualMachine, VirtualMachineStatus } from '../virtual-machine.ts';
import { instanceResource, machineResource } from '../vm-resources.ts';

const namespace = 'default';
const place = { namespace, name: 'a' };
const templates = 'harvesterhci.io/volumeClaimTemplates';

const withSpec =
  (spec: Partial<InstanceSpec>, annotations?: Record<string, string>) =>
  (machine: VirtualMachine): VirtualMachine => ({
    metadata: { ...machine.metadata, ...(annotations ? { annotations } : {}) },
    spec: { ...machine.spec, template: { spec: { ...machine.spec.template.spec, ...spec } } },
  });

async function withStatus({ client, find }: RequestWorld, status: VirtualMachineStatus): Promise<void> {
  await client.updateStatus(machineResource, { ...(await find()), status });
}

async function addClaim({ client }: RequestWorld, name: string, phase = 'Bound'): Promise<void> {
  const claims = resources.persistentVolumeClaims;
  const spec = {
    accessModes: ['ReadWriteMany'],
    volumeMode: 'Block',
    resources: { requests: { storage: '1Gi' } },
    storageClassName: 'fast',
  };
  const claim = await client.create(claims, { metadata: { namespace, name }, spec });
  await client.updateStatus(claims, { ...claim, status: { phase, capacity: { storage: '1Gi' } } });
}

async function addImage({ client }: RequestWorld, name: string): Promise<void> {
  const spec = { displayName: name, sourceType: 'download', url: 'https://images.example/a.iso' } as const;
  const status = { progress: 100, size: 10, virtualSize: 2 ** 30 + 1, storageClassName: 'lh-1' };
  const image: VirtualMachineImage = { metadata: { namespace, name }, spec, status };
  await client.create(resources.virtualMachineImages, image);
}

function templatesOf({ metadata }: VirtualMachine): readonly KubeObject[] {
  return JSON.parse(metadata.annotations?.[templates] ?? '[]') as KubeObject[];
}

function templateNames(machine: VirtualMachine): readonly string[] {
  return templatesOf(machine).map(({ metadata }) => metadata.name ?? '');
}

function volumesOf({ spec }: VirtualMachine): readonly VolumeSpec[] {
  return spec.template.spec.volumes ?? [];
}

describe('actions on virtual machines', () => {
  it('are for those who may change the machine, and answer in plain words', async () => {
    await withRequests(async (world) => {
      assert.match((await world.act('start'))[1], /^NotFound 404: .*"a" not found/);
      await world.machine();
      const reader: InProcessUser = { name: 'eve', groups: ['system:authenticated'] };
      const [code, words] = await world.act('start', undefined, reader);
      assert.equal(code, 403);
      assert.match(words, /^Forbidden 403: .*User "eve" cannot get resource "virtualmachines"/);
      assert.match(
        (await world.act('explode'))[1],
        /^ActionNotAvailable 403: .*no action "explode"; use one of start, /,
      );
      assert.deepEqual(await world.act('migrate', 'no json').then(([status]) => status), 422);
      const target = '/v1/harvester/kubevirt.io.virtualmachine/default/a';
      assert.equal((await world.client.send({ method: 'POST', target })).status, 405);
      assert.equal(
        (await world.client.send({ method: 'POST', target: `${target}?action=snapshot` })).status,
        204,
      );
    });
  });

  it('start, stop and restart', async () => {
    await withRequests(async (world) => {
      await world.machine();
      assert.deepEqual(await world.act('start'), [204, '']);
      assert.deepEqual((await world.find()).status?.stateChangeRequests, [{ action: 'Start' }]);
      assert.match(
        (await world.act('start'))[1],
        /^Conflict 409: start virtual machine default\/a failed, .*already underway; wait/,
      );
      assert.deepEqual(await world.act('stop'), [204, '']);
      assert.equal((await world.find()).spec.runStrategy, 'Halted');
      assert.deepEqual(await world.act('stop'), [204, '']);
      assert.match((await world.act('restart'))[1], /Halted does not support manual restart requests/);
      assert.equal((await world.act('forceStop'))[0], 409);
      assert.equal((await world.act('start'))[0], 204);
    });
  });

  it('stops at once, and takes one that is stopping already for stopped', async () => {
    await withRequests(async (world) => {
      await world.machine((machine) => ({ ...machine, spec: { ...machine.spec, runStrategy: 'Halted' } }));
      await world.instance('Running', (instance) => ({
        ...instance,
        spec: { ...instance.spec, terminationGracePeriodSeconds: 60 },
      }));
      assert.deepEqual(await world.act('forceStop'), [204, '']);
      const { spec } = await world.client.get(instanceResource, place);
      assert.equal(spec.terminationGracePeriodSeconds, 0);
      assert.deepEqual(await world.act('forceStop'), [204, '']);
    });
  });

  it('does not start on a volume that is growing', async () => {
    await withRequests(async (world) => {
      await world.machine(
        withSpec({ volumes: [{ name: 'root', persistentVolumeClaim: { claimName: 'c' } }] }),
      );
      await addClaim(world, 'c');
      const claims = resources.persistentVolumeClaims;
      const claim = await world.client.get(claims, { namespace, name: 'c' });
      const grown = { ...claim.spec, resources: { requests: { storage: '2Gi' } } };
      await world.client.create(resources.storageClasses, {
        metadata: { name: 'fast' },
        provisioner: 'p',
        allowVolumeExpansion: true,
      });
      await world.client.update(claims, { ...claim, spec: grown });
      assert.match((await world.act('start'))[1], /409: .*which has a resizing volume default\/c; wait/);
    });
  });

  it('pause, unpause and reboot', async () => {
    await withRequests(async (world) => {
      await world.machine();
      assert.equal((await world.act('pause'))[0], 404);
      await world.instance('Running');
      assert.deepEqual(await world.act('pause'), [204, '']);
      assert.match(
        (await world.act('unpause'))[1],
        /^Conflict 409: unpause virtual machine .*VMI is not paused/,
      );
      assert.match((await world.act('softreboot'))[1], /no agent connected; start the guest agent/);
    });
  });

  it('plug volumes in and out', async () => {
    await withRequests(async (world) => {
      await world.machine(withSpec({}, { [templates]: '[{"metadata":{"name":"root"},"spec":{}}]' }));
      const source = { diskName: 'data', volumeSourceName: 'c' };
      assert.match((await world.act('addVolume', {}))[1], /^InvalidBodyContent 422: Parameter `diskName`/);
      assert.equal((await world.act('addVolume', source))[0], 404);
      await addClaim(world, 'c', 'Pending');
      assert.match(
        (await world.act('addVolume', source))[1],
        /^Conflict 409: volume c is not bound yet; wait/,
      );
      await addClaim(world, 'd');
      assert.equal((await world.act('addVolume', { ...source, volumeSourceName: 'd' }))[0], 204);
      const plugged = await world.find();
      assert.deepEqual(plugged.spec.template.spec.volumes, [
        { name: 'data', persistentVolumeClaim: { claimName: 'd', hotpluggable: true } },
      ]);
      assert.deepEqual(plugged.spec.template.spec.domain.devices.disks, [
        { name: 'data', disk: { bus: 'scsi' }, serial: 'data' },
      ]);
      assert.deepEqual(templateNames(plugged), ['root', 'd']);
      assert.match(
        (await world.act('removeVolume', { diskName: 'x' }))[1],
        /does not exist; see spec\.volumes/,
      );
      assert.equal((await world.act('removeVolume', { diskName: 'data' }))[0], 204);
      assert.deepEqual(templateNames(await world.find()), ['root']);
    });
  });

  it('put an image into an empty drive and take it out again', async () => {
    await withRequests(async (world) => {
      const { memory, devices } = {
        memory: { guest: '64Mi' },
        devices: { disks: [{ name: 'cd', cdrom: { bus: 'sata' } }] },
      };
      await world.machine(withSpec({ domain: { memory, devices } }));
      const insert = { DeviceName: 'cd', imageName: 'default/iso' };
      assert.match(
        (await world.act('insertCdRomVolume', { ...insert, imageName: 'iso' }))[1],
        /should be namespace\/name/,
      );
      assert.equal((await world.act('insertCdRomVolume', insert))[0], 404);
      await addImage(world, 'iso');
      assert.match(
        (await world.act('insertCdRomVolume', { ...insert, DeviceName: 'dvd' }))[1],
        /^InvalidBodyContent 422: can not find the SATA CD-ROM device dvd/,
      );
      assert.equal((await world.act('insertCdRomVolume', insert))[0], 204);
      const filled = await world.find();
      const [template] = templatesOf(filled);
      const [volume] = volumesOf(filled);
      const [claimName] = templateNames(filled);
      assert.match(String(claimName), /^a-cd-.{5}$/);
      assert.deepEqual(volume, { name: 'cd', persistentVolumeClaim: { claimName, hotpluggable: true } });
      assert.deepEqual(template, {
        metadata: { name: claimName, annotations: { 'harvesterhci.io/imageId': 'default/iso' } },
        spec: {
          accessModes: ['ReadWriteMany'],
          volumeMode: 'Block',
          resources: { requests: { storage: '2Gi' } },
          storageClassName: 'lh-1',
        },
      });
      assert.match((await world.act('insertCdRomVolume', insert))[1], /is not empty; eject its medium first/);
      assert.equal((await world.act('ejectCdRomVolume', { deviceName: 'cd' }))[0], 204);
      const emptied = await world.find();
      assert.deepEqual(emptied.spec.template.spec.volumes, []);
      assert.deepEqual(templateNames(emptied), []);
    });
  });

  it('plug network cards in and out', async () => {
    await withRequests(async (world) => {
      await world.machine();
      const nic = { interfaceName: 'lan', networkName: 'default/lan', macAddress: '02:00:00:00:00:09' };
      assert.equal((await world.act('addNic', nic))[0], 404);
      const networks = resources.networkAttachmentDefinitions;
      await world.client.create(networks, { metadata: { namespace, name: 'lan' }, spec: { config: '{}' } });
      assert.equal((await world.act('addNic', nic))[0], 204);
      assert.match((await world.act('addNic', nic))[1], /has an interface lan already/);
      assert.match((await world.act('removeNic', { interfaceName: 'lan' }))[1], /has only one/);
      assert.equal((await world.act('addNic', { ...nic, interfaceName: 'two', macAddress: '' }))[0], 204);
      assert.deepEqual(await world.act('findHotunpluggableNics'), [200, '{"interfaces":["lan","two"]}']);
      assert.match(
        (await world.act('removeNic', { interfaceName: 'x' }))[1],
        /interface x doesn't exist; ask/,
      );
      assert.equal((await world.act('removeNic', { interfaceName: 'lan' }))[0], 204);
      assert.match((await world.act('removeNic', { interfaceName: 'lan' }))[1], /being removed already/);
      const { template } = (await world.find()).spec;
      assert.deepEqual(
        template.spec.domain.devices.interfaces?.map(({ name, state }) => [name, state]),
        [
          ['lan', 'absent'],
          ['two', undefined],
        ],
      );
      assert.deepEqual(template.spec.networks?.at(0), {
        name: 'lan',
        multus: { networkName: 'default/lan' },
      });
    });
  });

  it('move nothing: there is one place', async () => {
    await withRequests(async (world) => {
      await world.machine();
      assert.equal((await world.act('migrate', {}))[0], 404);
      await world.instance('Running', (instance) => ({
        ...instance,
        status: { ...instance.status, nodeName: 'node-1' },
      }));
      const table: readonly (readonly [string, object, number, RegExp])[] = [
        ['migrate', {}, 409, /there is no other node to migrate to; stop/],
        ['migrate', { nodeName: 'node-1' }, 422, /currently running on the target node/],
        ['abortMigration', {}, 409, /not in migrating state/],
        ['findMigratableNodes', {}, 200, /^\{"nodes":\[\]\}$/],
        ['storageMigration', { sourceVolume: 'a' }, 422, /`targetVolume` is required/],
        ['storageMigration', { sourceVolume: 'a', targetVolume: 'a' }, 422, /must be different/],
        [
          'storageMigration',
          { sourceVolume: 'a', targetVolume: 'b' },
          422,
          /^InvalidAction 422: .*stop it, clone/,
        ],
        ['cancelStorageMigration', {}, 409, /no active storage migration found/],
      ];
      for (const [action, body, code, words] of table) {
        const answer = await world.act(action, body);
        assert.equal(answer[0], code, action);
        assert.match(answer[1], words);
      }
    });
  });

  it('back up and restore once there is a target', async () => {
    await withRequests(async (world) => {
      await world.machine();
      assert.match(
        (await world.act('backup', {}))[1],
        /^InvalidBodyContent 422: Parameter `name` is required/,
      );
      assert.match(
        (await world.act('backup', { name: 'b' }))[1],
        /^Conflict 409: backup target is invalid: .*set the setting/,
      );
      const value = JSON.stringify({ type: 'nfs', endpoint: 'nfs://host/path' });
      await world.client.create(resources.settings, { metadata: { name: 'backup-target' }, value });
      assert.equal((await world.act('backup', { name: 'b' }))[0], 204);
      const backup = await world.client.get(resources.virtualMachineBackups, { namespace, name: 'b' });
      assert.deepEqual(backup.spec, {
        source: { apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name: 'a' },
        type: 'backup',
      });
      assert.equal((await world.act('backup', { name: 'b' }))[0], 409);
      assert.equal((await world.act('restore', { name: 'r', backupName: 'x' }))[0], 404);
      assert.equal((await world.act('restore', { name: 'r', backupName: 'b' }))[0], 204);
      const { spec } = await world.client.get(resources.virtualMachineRestores, { namespace, name: 'r' });
      assert.equal(spec.virtualMachineBackupName, 'b');
    });
  });

  it('restore snapshots, which need no target, and keep what they replace', async () => {
    await withRequests(async (world) => {
      await world.machine();
      const source = { apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name: 'a' };
      await world.client.create(resources.virtualMachineBackups, {
        metadata: { namespace, name: 's' },
        spec: { source, type: 'snapshot' },
      });
      const body = { name: 'r', backupName: 's', haltAfterRestore: true };
      assert.deepEqual(await world.act('restore', body), [204, '']);
      const { spec } = await world.client.get(resources.virtualMachineRestores, { namespace, name: 'r' });
      assert.deepEqual(spec, {
        target: source,
        virtualMachineBackupName: 's',
        virtualMachineBackupNamespace: namespace,
        newVM: false,
        deletionPolicy: 'retain',
        haltAfterRestore: true,
      });
    });
  });

  it('change the size of a machine that runs and was started for it', async () => {
    await withRequests(async (world) => {
      const domain = { cpu: { sockets: 1 }, memory: { guest: '64Mi' }, devices: {} };
      const hotplug = { 'harvesterhci.io/enableCPUAndMemoryHotplug': 'true' };
      await world.machine(withSpec({ domain }, hotplug));
      const size = { sockets: 2, memory: '128Mi' };
      assert.match(
        (await world.act('cpuAndMemoryHotplug', size))[1],
        /^InvalidAction 422: .*it is not running; edit it/,
      );
      await withStatus(world, { printableStatus: 'Running' });
      assert.match(
        (await world.act('cpuAndMemoryHotplug', { memory: 'much' }))[1],
        /^InvalidBodyContent 422: failed to parse/,
      );
      assert.match(
        (await world.act('cpuAndMemoryHotplug', { sockets: 1.5 }))[1],
        /sockets is no whole number/,
      );
      assert.equal((await world.act('cpuAndMemoryHotplug', size))[0], 204);
      const { cpu, memory } = (await world.find()).spec.template.spec.domain;
      assert.deepEqual([cpu?.sockets, memory?.guest], [2, '128Mi']);
      const condition = { type: 'RestartRequired', status: 'True' } as Condition;
      await withStatus(world, { printableStatus: 'Running', conditions: [condition] });
      assert.match((await world.act('cpuAndMemoryHotplug', size))[1], /has not taken effect yet/);
    });
  });

  it('take a message away', async () => {
    await withRequests(async (world) => {
      await world.machine(withSpec({}, { 'harvesterhci.io/insufficient-resource-quota': 'too much' }));
      assert.equal((await world.act('dismissInsufficientResourceQuota'))[0], 204);
      assert.match((await world.act('dismissInsufficientResourceQuota'))[1], /there is none/);
    });
  });

  it('limit what snapshots take', async () => {
    await withRequests(async (world) => {
      await world.machine();
      const update = (totalSnapshotSizeQuota: string): Promise<readonly [number, string]> =>
        world.act('updateResourceQuota', { totalSnapshotSizeQuota });
      assert.match(
        (await update('lots'))[1],
        /^InvalidBodyContent 422: Failed to parse totalSnapshotSizeQuota/,
      );
      assert.equal((await update('0'))[0], 204);
      assert.equal((await update('1Gi'))[0], 204);
      const quota = {
        group: 'harvesterhci.io',
        version: 'v1beta1',
        plural: 'resourcequotas',
        kind: 'ResourceQuota',
        namespaced: true,
      };
      const limits = async (): Promise<unknown> =>
        (await world.client.get(quota, { namespace, name: 'default-resource-quota' }))['spec'];
      assert.deepEqual(await limits(), { snapshotLimit: { vmTotalSnapshotSizeQuota: { a: 2 ** 30 } } });
      assert.equal((await world.act('deleteResourceQuota'))[0], 204);
      assert.deepEqual(await limits(), { snapshotLimit: { vmTotalSnapshotSizeQuota: {} } });
    });
  });
});
