import assert from 'node:assert/strict';
import { it } from 'node:test';
import { customResourceDefinitions, kindDefinitions } from '@sheaf/api/virtualization/kind-definitions';
import { StatusError } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import { startTestServer } from '@sheaf/testkit';
import { claimUseRule } from './claim-use.ts';
import type { DiskSpec } from './instance-spec.ts';
import type { VirtualMachine } from './virtual-machine.ts';
import { machineResource } from './vm-resources.ts';

interface Wanted {
  readonly claim?: string;
  readonly disk?: Partial<DiskSpec>;
  readonly templates?: string;
  readonly labels?: Record<string, string>;
}

function machineOf({ claim = '', disk = {}, templates = '', labels = {} }: Wanted): VirtualMachine {
  const volumes = claim === '' ? [] : [{ name: 'd', persistentVolumeClaim: { claimName: claim } }];
  const disks = claim === '' ? [] : [{ name: 'd', disk: {}, ...disk }];
  const annotations = { 'harvesterhci.io/volumeClaimTemplates': templates };
  return {
    metadata: { namespace: 'default', name: 'a', annotations, labels },
    spec: { runStrategy: 'Halted', template: { spec: { domain: { devices: { disks } }, volumes } } },
  };
}

function templatesOf(storageClassName: string, storage: string): string {
  const spec = { accessModes: ['ReadWriteMany'], storageClassName, resources: { requests: { storage } } };
  return JSON.stringify([{ metadata: { name: 'root' }, spec }]);
}

async function withServer(run: (client: Client) => Promise<void>): Promise<void> {
  const { client, close } = await startTestServer({ extend: (api) => api.addAdmission(claimUseRule) });
  try {
    await client.create(resources.namespaces, { metadata: { name: 'default' } });
    const definitions = kindDefinitions().filter(({ name }) => name === 'virtualmachines.kubevirt.io');
    for (const definition of customResourceDefinitions(definitions))
      await client.create(resources.customResourceDefinitions, definition);
    for (const [name, provisioner] of [
      ['files', 'driver.longhorn.io'],
      ['block', 'example.org/block'],
    ] as const)
      await client.create(resources.storageClasses, { metadata: { name }, provisioner });
    const claims = [
      ['file', 'files', {}],
      ['block', 'block', {}],
      ['golden', 'files', { 'harvesterhci.io/goldenImage': 'true' }],
    ] as const;
    for (const [name, storageClassName, annotations] of claims)
      await client.create(resources.persistentVolumeClaims, {
        metadata: { namespace: 'default', name, annotations },
        spec: {
          accessModes: ['ReadWriteMany'],
          storageClassName,
          resources: { requests: { storage: '1Gi' } },
        },
      });
    await run(client);
  } finally {
    await close();
  }
}

async function answerTo(write: Promise<unknown>): Promise<string> {
  try {
    await write;
    return 'accepted';
  } catch (error) {
    if (!StatusError.is(error, 'Invalid')) throw error;
    return error.message;
  }
}

it('a machine uses no golden image, and shares no volume that has one writer', async () => {
  await withServer(async (client) => {
    const answer = (wanted: Wanted): Promise<string> =>
      answerTo(client.create(machineResource, machineOf(wanted), { dryRun: true }));
    assert.match(await answer({ claim: 'golden' }), /PVC default\/golden is a golden image/);
    assert.match(
      await answer({ claim: 'file', disk: { shareable: true } }),
      /the volume file cannot be shared: a volume in a file has one writer; remove shareable/,
    );
    assert.match(
      await answer({ claim: 'root', disk: { shareable: true }, templates: templatesOf('files', '1Gi') }),
      /the volume root cannot be shared/,
    );
    const fine: readonly Wanted[] = [
      { claim: 'file' },
      { claim: 'file', disk: { shareable: true, disk: { readonly: true } } },
      { claim: 'block', disk: { shareable: true } },
      { claim: 'not-there', disk: { shareable: true } },
    ];
    for (const wanted of fine) assert.equal(await answer(wanted), 'accepted', JSON.stringify(wanted));
  });
});

it('claims of templates keep their class and never shrink; what is there already hinders no other change', async () => {
  await withServer(async (client) => {
    await client.create(machineResource, machineOf({ templates: templatesOf('files', '2Gi') }));
    const change = async (wanted: Wanted): Promise<string> => {
      const now = await client.get(machineResource, { namespace: 'default', name: 'a' });
      const { metadata, spec } = machineOf(wanted);
      const { annotations, labels } = metadata;
      const next = { ...now, metadata: { ...now.metadata, annotations, labels }, spec } as VirtualMachine;
      return answerTo(client.update(machineResource, next));
    };
    assert.match(
      await change({ templates: templatesOf('block', '2Gi') }),
      /storage class of PVC root cannot be changed; leave it at "files"/,
    );
    assert.match(
      await change({ templates: templatesOf('files', '1Gi') }),
      /PVC root cannot become smaller than 2Gi/,
    );
    assert.equal(await change({ templates: templatesOf('files', '3Gi') }), 'accepted');
    assert.equal(await change({ templates: '' }), 'accepted');
    assert.equal(await change({ claim: 'late', disk: { shareable: true } }), 'accepted');
    await client.create(resources.persistentVolumeClaims, {
      metadata: { namespace: 'default', name: 'late' },
      spec: {
        accessModes: ['ReadWriteMany'],
        storageClassName: 'files',
        resources: { requests: { storage: '1Gi' } },
      },
    });
    assert.equal(await change({ claim: 'late', disk: { shareable: true }, labels: { a: 'b' } }), 'accepted');
    assert.match(await change({ claim: 'golden' }), /golden image/);
  });
});
