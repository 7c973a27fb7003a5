import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { InstanceSpec } from './instance-spec.ts';
import { type Node, place, withNode } from './node-world.fixture.ts';
import type { RunStrategy } from './virtual-machine.ts';
import { machineResource } from './vm-resources.ts';

const withDisk: Partial<InstanceSpec> = {
  domain: {
    memory: { guest: '64Mi' },
    devices: { autoattachPodInterface: false, disks: [{ name: 'root' }] },
  },
  volumes: [{ name: 'root', persistentVolumeClaim: { claimName: 'c' } }],
};

/** The volume goes on in another file at a step of the first start, when its file has been looked up. */
async function startAcross(node: Node, step: string, strategy: RunStrategy): Promise<void> {
  const volumeId = await node.bindClaim('c', '/v/before');
  let isMoved = false;
  node.host.faults.onStep = (name, id) => {
    if (isMoved || step !== (name === 'called' ? id.split(' ')[0] : name)) return;
    isMoved = true;
    node.moveVolume(volumeId, '/v/after');
  };
  await node.create(strategy, withDisk);
  await node.start();
}

function pathOf(node: Node, uid: string): string | undefined {
  return node.host.machines.get(uid)?.process?.disks.get('root')?.file?.path;
}

/** What has run with the file that was left. */
function writersBelow({ host }: Node): readonly string[] {
  return [...host.machines.values()].flatMap(({ spec, serialLog }) =>
    spec.disks.some(({ file }) => file?.path === '/v/before') && serialLog !== '' ? [spec.id] : [],
  );
}

for (const step of ['start', 'recorded', 'prepared'])
  it(`a machine whose volume goes on in another file at the step "${step}" of its start writes there alone`, () =>
    withNode(async (node) => {
      await startAcross(node, step, 'RerunOnFailure');
      let below: readonly string[] = [];
      await node.until((machine) => {
        below = [...below, ...writersBelow(node)];
        return machine?.status?.printableStatus === 'Running';
      });
      assert.deepEqual([below, pathOf(node, await node.uid())], [[], '/v/after']);
    }));

it('where nothing starts it again, it says what to do', () =>
  withNode(async (node) => {
    await startAcross(node, 'prepared', 'Once');
    let told: string | undefined;
    await node.until((_, instance) => {
      told ??= instance?.status?.conditions?.find(({ message }) =>
        message?.includes('another file'),
      )?.message;
      return instance?.status?.phase === 'Failed';
    });
    assert.match(told ?? '', /disk root .* gone on in another file .*start the machine again/);
    assert.deepEqual(writersBelow(node), []);
  }));

it('a disk that is plugged in while its volume goes on in another file is that file', () =>
  withNode(async (node) => {
    const volumeId = await node.bindClaim('c', '/v/before');
    await node.create('Always');
    await node.start();
    await node.untilShown('Running');
    const uid = await node.uid();
    node.host.faults.onStep = (name, id) => {
      if (name !== 'called' || id !== `ask ${uid}` || node.volumeFiles.get(volumeId)?.path !== '/v/before')
        return;
      node.moveVolume(volumeId, '/v/after');
    };
    const machine = await node.client.get(machineResource, place);
    const { template } = machine.spec;
    const { domain } = template.spec;
    const devices = { ...domain.devices, disks: [{ name: 'root', disk: { bus: 'scsi' } }] };
    const volumes = [{ name: 'root', persistentVolumeClaim: { claimName: 'c', hotpluggable: true } }];
    const spec = { ...template.spec, domain: { ...domain, devices }, volumes };
    await node.client.update(machineResource, {
      ...machine,
      spec: { ...machine.spec, template: { ...template, spec } },
    });
    await node.until((_, instance) => {
      assert.notEqual(pathOf(node, uid), '/v/before');
      return instance?.status?.volumeStatus?.[0]?.phase === 'Ready';
    });
    assert.equal(pathOf(node, uid), '/v/after');
  }));
