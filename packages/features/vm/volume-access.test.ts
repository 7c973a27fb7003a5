import assert from 'node:assert/strict';
import { it } from 'node:test';
import { customResourceDefinitions, kindDefinitions } from '@sheaf/api/virtualization/kind-definitions';
import { resources } from '@sheaf/client';
import { startTestServer } from '@sheaf/testkit';
import type { VirtualMachine } from './virtual-machine.ts';
import { machineResource } from './vm-resources.ts';
import { volumeAccessRule } from './volume-access.ts';

const imageClass = {
  metadata: { name: 'lh-1', annotations: { 'harvesterhci.io/imageId': 'secret/image' } },
  provisioner: 'example.org/disks',
};

function machineWith(annotation: string, dataVolumeTemplates: readonly object[] = []): VirtualMachine {
  return {
    metadata: {
      namespace: 'default',
      name: 'a',
      annotations: { 'harvesterhci.io/volumeClaimTemplates': annotation },
    },
    spec: {
      runStrategy: 'Halted',
      template: { spec: { domain: { devices: {} } } },
      dataVolumeTemplates: dataVolumeTemplates as VirtualMachine['spec']['dataVolumeTemplates'],
    },
  };
}

const fromImage = JSON.stringify([{ metadata: { name: 'r' }, spec: { storageClassName: 'lh-1' } }]);
const copyOf = (namespace: string): object => ({
  metadata: { name: 'd' },
  spec: { source: { pvc: { namespace, name: 'c' } }, storage: {} },
});
const copyWithClass = {
  metadata: { name: 'd' },
  spec: { source: { blank: {} }, pvc: { storageClassName: 'lh-1' } },
};

it('nobody gets by a machine what they may not read', async () => {
  const { client, clientAs, close } = await startTestServer({
    extend: (api) => api.addAdmission(volumeAccessRule),
  });
  try {
    for (const name of ['default', 'secret', 'shared'])
      await client.create(resources.namespaces, { metadata: { name } });
    const definitions = kindDefinitions().filter(({ name }) => name === 'virtualmachines.kubevirt.io');
    for (const definition of customResourceDefinitions(definitions))
      await client.create(resources.customResourceDefinitions, definition);
    await client.create(resources.storageClasses, imageClass);
    const rules = [{ apiGroups: ['kubevirt.io'], resources: ['virtualmachines'], verbs: ['*'] }];
    await client.create(resources.clusterRoles, { metadata: { name: 'machines' }, rules });
    await client.create(resources.clusterRoleBindings, {
      metadata: { name: 'machines' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'machines' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'eve' }],
    });
    const eve = clientAs({ name: 'eve', groups: ['system:authenticated'] });
    const refused: readonly (readonly [VirtualMachine, RegExp])[] = [
      [machineWith(fromImage), /image secret\/image, which you may not read.*right to get that image/],
      [machineWith('', [copyWithClass]), /image secret\/image, which you may not read/],
      [machineWith('', [copyOf('secret')]), /copy of secret\/c.*datavolumes\/source in secret/],
    ];
    for (const [machine, words] of refused) await assert.rejects(eve.create(machineResource, machine), words);
    const machine = await eve.create(machineResource, machineWith('', [copyOf('default')]));
    const annotations = { 'harvesterhci.io/volumeClaimTemplates': fromImage };
    const changed = { ...machine, metadata: { ...machine.metadata, annotations } };
    await assert.rejects(eve.update(machineResource, changed), /which you may not read/);
    const allowed = await client.update(machineResource, changed);
    await eve.update(machineResource, { ...allowed, spec: { ...allowed.spec, runStrategy: 'Manual' } });
  } finally {
    await close();
  }
});
