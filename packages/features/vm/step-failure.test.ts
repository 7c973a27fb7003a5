import assert from 'node:assert/strict';
import { it } from 'node:test';
import { SimulatedHypervisor } from '@sheaf/testkit/hypervisor/index';
import { place, withNode } from './node-world.fixture.ts';
import { machineResource } from './vm-resources.ts';

const claimName = 'shared';

/** A machine that nothing in the API tells of has the file. */
async function holdFile(hypervisor: SimulatedHypervisor, signal: AbortSignal): Promise<void> {
  await hypervisor.start(
    {
      id: 'other',
      title: 'default/other',
      machineType: 'q35',
      cpu: { sockets: 1, cores: 1, threads: 1 },
      memory: { bytes: 2 ** 24 },
      firmware: { kind: 'bios' },
      identity: { uuid: '7b0cd4f6-6b1c-4f0e-9d4a-2f6f8a3c0001' },
      disks: [{ name: 'root', device: 'disk', bus: 'virtio', file: { path: '/v/shared', format: 'qcow2' } }],
      nics: [],
      hasGraphics: false,
      hasSerialConsole: false,
      hasAgentChannel: false,
      hasRandomSource: false,
      hasBalloon: false,
    },
    signal,
  );
}

it('a disk that another machine was faster to take is told with its holder, and plugged in when that lets go', async () => {
  await withNode(async (node) => {
    const { signal } = new AbortController();
    const hypervisor = new SimulatedHypervisor(node.host);
    await node.bindClaim(claimName, '/v/shared');
    await node.create('Always');
    await node.start();
    await node.untilShown('Running');
    await holdFile(hypervisor, signal);
    const machine = await node.client.get(machineResource, place);
    const { template } = machine.spec;
    const { domain } = template.spec;
    const devices = { ...domain.devices, disks: [{ name: 'late', disk: { bus: 'scsi' } }] };
    const volumes = [{ name: 'late', persistentVolumeClaim: { claimName, hotpluggable: true } }];
    const spec = { ...template.spec, domain: { ...domain, devices }, volumes };
    await node.client.update(machineResource, {
      ...machine,
      spec: { ...machine.spec, template: { ...template, spec } },
    });
    let told = '';
    await node.until((_, instance) => {
      const failed = instance?.status?.conditions?.find(({ reason }) => reason === 'StepFailed');
      told = failed?.message ?? '';
      return failed !== undefined;
    });
    assert.match(
      told,
      /attach-disk has failed: \/v\/shared is in use by machine default\/other: detach it there/,
    );
    await hypervisor.end('other', signal);
    await node.until((_, instance) => instance?.status?.volumeStatus?.[0]?.phase === 'Ready');
    hypervisor.dispose();
  });
});
