import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '@sheaf/api';
import { type InProcessUser, resources } from '@sheaf/client';
import type { InstanceSpec } from '../instance-spec.ts';
import { type RequestWorld, withRequests } from '../request-world.fixture.ts';
import type { VirtualMachine } from '../virtual-machine.ts';
import { machineResource } from '../vm-resources.ts';

const namespace = 'default';
const templates = 'harvesterhci.io/volumeClaimTemplates';

const withSpec =
  (spec: Partial<InstanceSpec>, annotations?: Record<string, string>) =>
  (machine: VirtualMachine): VirtualMachine => ({
    metadata: { ...machine.metadata, ...(annotations ? { annotations } : {}) },
    spec: { ...machine.spec, template: { spec: { ...machine.spec.template.spec, ...spec } } },
  });

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

function templatesOf({ metadata }: VirtualMachine): readonly KubeObject[] {
  return JSON.parse(metadata.annotations?.[templates] ?? '[]') as KubeObject[];
}

describe('copies of a machine', () => {
  const volumes = [
    { name: 'root', persistentVolumeClaim: { claimName: 'c' } },
    {
      name: 'init',
      cloudInitNoCloud: { secretRef: { name: 'seed' }, networkDataSecretRef: { name: 'seed' } },
    },
  ];
  const domain = {
    memory: { guest: '64Mi' },
    firmware: { uuid: '7b0cd4f6-6b1c-4f0e-9d4a-2f6f8a3c0001', serial: 's' },
    devices: {
      disks: [
        { name: 'root', disk: { bus: 'virtio' } },
        { name: 'init', disk: { bus: 'virtio' } },
      ],
      interfaces: [{ name: 'default', masquerade: {}, macAddress: '02:00:00:00:00:07' }],
    },
    resources: { limits: { cpu: 1, memory: '64Mi' } },
  };
  const networks = [{ name: 'default', pod: {} }];

  const data = { userdata: 'I2Nsb3VkLWNvbmZpZw==' };

  /** The copy of a Secret that goes with its owner. */
  async function secretOf({ client }: RequestWorld, uid: string | undefined): Promise<KubeObject> {
    const { items } = await client.list(resources.secrets, { namespace });
    const found = items.find(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid));
    assert.ok(found, 'there is a copy');
    return found;
  }

  async function prepare(world: RequestWorld): Promise<void> {
    await addClaim(world, 'c');
    await world.client.create(resources.secrets, { metadata: { namespace, name: 'seed' }, data });
    await world.machine(withSpec({ domain, volumes, networks }));
  }

  it('are clones with volumes, Secrets and an identity of their own', async () => {
    await withRequests(async (world) => {
      await prepare(world);
      assert.match((await world.act('clone', {}))[1], /Parameter `targetVm` is required/);
      assert.match(
        (await world.act('clone', { targetVm: 'b', runStrategy: 'Often' }))[1],
        /use one of Always, /,
      );
      assert.deepEqual(await world.act('clone', { targetVm: 'b', runStrategy: 'Halted' }), [204, '']);
      const clone = await world.client.get(machineResource, { namespace, name: 'b' });
      const copy = await secretOf(world, clone.metadata.uid);
      const [template] = templatesOf(clone);
      const claimName = template?.metadata.name;
      assert.match(String(claimName), /^b-root-.{5}$/);
      assert.deepEqual(template?.['spec'], {
        accessModes: ['ReadWriteMany'],
        dataSource: { kind: 'PersistentVolumeClaim', name: 'c' },
        resources: { requests: { storage: '1Gi' } },
        storageClassName: 'fast',
        volumeMode: 'Block',
      });
      assert.deepEqual(clone.spec, {
        runStrategy: 'Halted',
        template: {
          metadata: { labels: { 'harvesterhci.io/vmName': 'b' } },
          spec: {
            hostname: 'b',
            networks,
            domain: {
              ...domain,
              firmware: {},
              devices: { ...domain.devices, interfaces: [{ name: 'default', masquerade: {} }] },
            },
            volumes: [
              { name: 'root', persistentVolumeClaim: { claimName } },
              {
                name: 'init',
                cloudInitNoCloud: {
                  secretRef: { name: copy.metadata.name },
                  networkDataSecretRef: { name: copy.metadata.name },
                },
              },
            ],
          },
        },
      });
      assert.deepEqual(copy['data'], data);
      assert.equal((await world.act('clone', { targetVm: 'b' }))[0], 409);
    });
  });

  it('have what all disks held at one moment, each claim once', async () => {
    await withRequests(async (world) => {
      for (const claim of ['c', 'd']) await addClaim(world, claim);
      const on = (name: string, claimName: string) => ({ name, persistentVolumeClaim: { claimName } });
      const three = [on('root', 'c'), on('data', 'd'), on('again', 'd')];
      const disks = three.map(({ name }) => ({ name, disk: { bus: 'virtio' } }));
      const devices = { ...domain.devices, disks };
      await world.machine(withSpec({ domain: { ...domain, devices }, volumes: three, networks }));
      assert.deepEqual(await world.act('clone', { targetVm: 'b', runStrategy: 'Halted' }), [204, '']);
      const clone = await world.client.get(machineResource, { namespace, name: 'b' });
      const made = templatesOf(clone).map(({ metadata }) => metadata);
      const [moment, ...others] = new Set(made.map((each) => each.annotations?.['sheaf.dev/moment']));
      assert.match(String(moment), /^b-.{5}$/);
      assert.deepEqual(others, []);
      assert.deepEqual(
        made.map((each) => each.annotations?.['sheaf.dev/moment-size']),
        ['2', '2'],
      );
      const [root, data] = made.map(({ name }) => name);
      assert.deepEqual(
        clone.spec.template.spec.volumes?.map((volume) => volume.persistentVolumeClaim?.claimName),
        [root, data, data],
      );
    });
  });

  it('are not made of Secrets that the user may not read', async () => {
    await withRequests(async (world) => {
      await prepare(world);
      const rules = [
        { apiGroups: ['kubevirt.io'], resources: ['virtualmachines'], verbs: ['*'] },
        { apiGroups: [''], resources: ['persistentvolumeclaims'], verbs: ['*'] },
      ];
      await world.client.create(resources.roles, { metadata: { namespace, name: 'machines' }, rules });
      await world.client.create(resources.roleBindings, {
        metadata: { namespace, name: 'machines' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'machines' },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'eve' }],
      });
      const eve: InProcessUser = { name: 'eve', groups: ['system:authenticated'] };
      const [code, words] = await world.act('clone', { targetVm: 'b' }, eve);
      assert.equal(code, 403);
      assert.match(words, /secrets "seed" is forbidden/);
      assert.equal(await world.client.find(machineResource, { namespace, name: 'b' }), undefined);
    });
  });

  it('are templates, with their data if that is wanted', async () => {
    await withRequests(async (world) => {
      await prepare(world);
      const { virtualMachineTemplates, virtualMachineTemplateVersions, virtualMachineImages } = resources;
      assert.deepEqual(await world.act('createTemplate', { name: 't', description: 'mine' }), [204, '']);
      const template = await world.client.get(virtualMachineTemplates, { namespace, name: 't' });
      assert.deepEqual(template.spec, { description: 'mine' });
      const [version] = (await world.client.list(virtualMachineTemplateVersions, { namespace })).items;
      assert.ok(version);
      assert.equal(version.spec.templateId, 'default/t');
      const copy = await secretOf(world, version.metadata.uid);
      assert.match(String(copy.metadata.name), /^templateversion-t-.{6}-init-(userdata|networkdata)$/);
      assert.deepEqual(await world.act('createTemplate', { name: 'u', withData: true }), [204, '']);
      const [image] = (await world.client.list(virtualMachineImages, { namespace })).items;
      assert.ok(image);
      assert.deepEqual([image.spec.sourceType, image.spec.pvcName], ['export-from-volume', 'c']);
      const owners = image.metadata.ownerReferences?.map(({ kind }) => kind);
      assert.deepEqual(owners, ['VirtualMachineTemplateVersion']);
      assert.equal((await world.act('createTemplate', { name: 't' }))[0], 409);
    });
  });

  it('leave nothing behind where a part cannot be made', async () => {
    await withRequests(async (world) => {
      await world.machine(
        withSpec({ volumes: [{ name: 'root', persistentVolumeClaim: { claimName: 'gone' } }] }),
      );
      assert.equal((await world.act('createTemplate', { name: 't', withData: true }))[0], 404);
      assert.equal(
        await world.client.find(resources.virtualMachineTemplates, { namespace, name: 't' }),
        undefined,
      );
    });
  });
});

describe('removal', () => {
  const target = '/v1/harvester/kubevirt.io.virtualmachines/default/a';

  it('names the claims that go with the machine', async () => {
    await withRequests(async (world) => {
      await world.machine((machine) => {
        const volumes = [
          { name: 'root', persistentVolumeClaim: { claimName: 'c' } },
          { name: 'golden', persistentVolumeClaim: { claimName: 'g' } },
          { name: 'gone', persistentVolumeClaim: { claimName: 'x' } },
        ];
        const made = withSpec({ volumes })(machine);
        return { ...made, metadata: { ...made.metadata, finalizers: ['example.com/held'] } };
      });
      await addClaim(world, 'c');
      await addClaim(world, 'g');
      await world.client.patch(
        resources.persistentVolumeClaims,
        { namespace, name: 'g' },
        { type: 'merge', body: { metadata: { annotations: { 'harvesterhci.io/goldenImage': 'true' } } } },
      );
      const remove = (query: string) => world.client.send({ method: 'DELETE', target: `${target}${query}` });
      assert.equal((await remove('?removedDisks=other')).status, 422);
      const answer = await remove('?removedDisks=root&removedDisks=golden&removedDisks=gone');
      assert.equal(answer.status, 200);
      const { metadata } = await world.find();
      assert.equal(metadata.annotations?.['harvesterhci.io/removedPersistentVolumeClaims'], 'c');
      assert.notEqual(metadata.deletionTimestamp, undefined);
    });
  });

  it('answers 204 for one that is gone at once, 404 for one that was never there', async () => {
    await withRequests(async (world) => {
      await world.machine();
      assert.equal((await world.client.send({ method: 'DELETE', target })).status, 204);
      assert.equal((await world.client.send({ method: 'DELETE', target })).status, 404);
    });
  });
});
