import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { KubeObject } from '@sheaf/api';
import { resources } from '@sheaf/client';
import { haltedMachine, snapshotOf } from './halted-machine.ts';
import { StorageWorld } from './storage-world.ts';

const namespace = 'default';
const place = (name: string) => ({ namespace, name });
const data = (text: string) => ({ userdata: Buffer.from(text).toString('base64') });

interface Told {
  readonly end: object;
  /** From the restore on. */
  readonly changes: number;
}

/** A machine is taken a snapshot of, goes on, and becomes again what it was; that dies once, if it is to. */
async function tell(world: StorageWorld, diesAfter?: number): Promise<Told> {
  const { client } = world;
  await world.createClaim('v');
  const { metadata } = await world.untilPhase('v', 'Bound');
  const seed = await client.create<KubeObject>(resources.secrets, {
    metadata: place('seed'),
    data: data('old'),
  });
  await client.create(resources.virtualMachines, haltedMachine('m', { claims: ['v'], secret: 'seed' }));
  const first = await world.startMachine('m', 'v');
  await world.machines.write(first, 0, 1);
  await client.create(resources.virtualMachineBackups, snapshotOf('m', 's', 'snapshot'));
  await world.until(
    async () => (await client.get(resources.virtualMachineBackups, place('s'))).status?.readyToUse === true,
  );
  await world.machines.write(first, 0, 2);
  await client.update<KubeObject>(resources.secrets, { ...seed, data: data('new') });
  await world.stopMachine('m');
  const begun = world.changes;
  if (diesAfter !== undefined) world.diesBefore = begun + diesAfter;
  const restore = await client.create(resources.virtualMachineRestores, {
    metadata: place('r'),
    spec: {
      target: { apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name: 'm' },
      virtualMachineBackupName: 's',
      virtualMachineBackupNamespace: namespace,
      newVM: false,
      deletionPolicy: 'delete',
    },
  });
  await world.until(
    async () => (await client.get(resources.virtualMachineRestores, place('r'))).status?.complete === true,
  );
  await world.until(() => Promise.resolve(!world.medium.volumes.has(metadata.uid ?? '')));
  world.diesBefore = undefined;
  const changes = world.changes - begun;
  const machine = await client.get(resources.virtualMachines, place('m'));
  const [claimName = ''] =
    machine.spec.template.spec?.volumes?.flatMap((volume) => volume.persistentVolumeClaim?.claimName ?? []) ??
    [];
  const second = await world.startMachine('m', claimName);
  const { items } = await client.list(resources.persistentVolumeClaims, { namespace });
  const end = {
    claim: claimName.replace(restore.metadata.uid ?? '', 'UID'),
    claims: items.length,
    content: await world.machines.read(second, 0),
    seed: (await client.get<KubeObject>(resources.secrets, place('seed')))['data'],
    snapshots: world.medium.snapshots.size,
  };
  return { end, changes };
}

async function clear(world: StorageWorld): Promise<void> {
  const { virtualMachineRestores, virtualMachineBackups, virtualMachines, secrets } = resources;
  for (const resource of [virtualMachineRestores, virtualMachineBackups, virtualMachines, secrets] as const)
    await world.client.deleteCollection(resource, { namespace });
  await world.clear();
}

describe('a restore over a machine, cut off before any of its changes', { timeout: 300_000 }, () => {
  let world: StorageWorld;
  before(async () => {
    world = await StorageWorld.open({ hasBackups: true });
  });
  after(() => world.close());

  it('goes on where it was', async (context) => {
    const { end, changes } = await tell(world);
    await clear(world);
    assert.deepEqual(end, {
      claim: 'restore-s-UID-disk-v',
      claims: 1,
      content: 1,
      seed: data('old'),
      snapshots: 1,
    });
    let deaths = 0;
    for (let at = 1; at <= changes; at++) {
      const lives = world.lives;
      assert.deepEqual((await tell(world, at)).end, end, `dying before change ${at}`);
      deaths += world.lives - lives;
      await clear(world);
    }
    assert.ok(deaths > changes / 2, 'it has hardly died');
    context.diagnostic(`died in ${deaths} of ${changes} places`);
  });
});
