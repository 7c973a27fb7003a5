import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { resources } from '@sheaf/client';
import { StorageWorld } from './storage-world.ts';

const mebibyte = 1024 ** 2;
const place = (name: string) => ({ namespace: 'default', name });
const url = 'http://source.test/disk.raw';

interface Story {
  readonly told: (world: StorageWorld) => Promise<void>;
}

/** What users do; between two steps they wait until the first has come to its end. */
const stories: Readonly<Record<string, Story>> = {
  'a claim that grows under a machine and goes': {
    async told(world) {
      await world.createClaim('v');
      await world.untilPhase('v', 'Bound');
      const machine = await world.startMachine('m', 'v');
      await world.client.patch(resources.persistentVolumeClaims, place('v'), {
        type: 'merge',
        body: { spec: { resources: { requests: { storage: '16Mi' } } } },
      });
      await world.until(async () => (await world.claim('v')).status?.capacity?.['storage'] === '16Mi');
      await world.machines.write(machine, 200, 1);
      await world.stopMachine('m');
      await world.client.delete(resources.persistentVolumeClaims, place('v'));
      await world.until(async () => world.medium.volumes.size === 0);
      await world.until(
        async () => (await world.client.list(resources.persistentVolumes)).items.length === 0,
      );
    },
  },
  'a snapshot under a machine, restored and removed': {
    async told(world) {
      await world.createClaim('v');
      await world.untilPhase('v', 'Bound');
      const machine = await world.startMachine('m', 'v');
      await world.machines.write(machine, 0, 1);
      await world.client.create(resources.volumeSnapshots, {
        metadata: place('s'),
        spec: { source: { persistentVolumeClaimName: 'v' } },
      });
      const isReady = async () =>
        (await world.client.get(resources.volumeSnapshots, place('s'))).status?.readyToUse === true;
      await world.until(isReady);
      await world.machines.write(machine, 0, 2);
      const dataSource = { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: 's' };
      await world.createClaim('r', { dataSource });
      await world.untilPhase('r', 'Bound');
      const second = await world.startMachine('second', 'r');
      assert.deepEqual([await world.machines.read(machine, 0), await world.machines.read(second, 0)], [2, 1]);
      await world.client.delete(resources.volumeSnapshots, place('s'));
      await world.until(async () => (await world.client.list(resources.volumeSnapshots)).items.length === 0);
      await world.until(async () => world.medium.snapshots.size === 0);
    },
  },
  'a snapshot for which a guest is frozen': {
    async told(world) {
      await world.createClaim('v');
      await world.untilPhase('v', 'Bound');
      const machine = await world.startMachine('m', 'v');
      world.machines.installAgent(machine);
      await world.client.create(resources.volumeSnapshots, {
        metadata: place('s'),
        spec: { source: { persistentVolumeClaimName: 'v' } },
      });
      const toldBy = async () => {
        const { status, metadata } = await world.client.get(resources.volumeSnapshots, place('s'));
        return status?.readyToUse === true ? metadata.annotations?.['sheaf.dev/consistency'] : undefined;
      };
      await world.until(async () => (await toldBy()) !== undefined);
      assert.equal(world.machines.isFrozen(machine), false, 'the guest is left frozen');
      const done = world.machines.done.join(' ');
      if (world.diesBefore === undefined) assert.equal(done, 'freeze switch thaw');
      // One that was frozen when its disk was switched, and no other, may be called consistent.
      if ((await toldBy()) === 'filesystem') assert.match(done, /freeze switch thaw/);
      await world.client.delete(resources.volumeSnapshots, place('s'));
      await world.until(async () => (await world.client.list(resources.volumeSnapshots)).items.length === 0);
      assert.equal(world.machines.isFrozen(machine), false);
      world.machines.done.length = 0;
    },
  },
  'a clone of what a machine writes to': {
    async told(world) {
      await world.createClaim('v');
      await world.untilPhase('v', 'Bound');
      const machine = await world.startMachine('m', 'v');
      await world.machines.write(machine, 0, 1);
      await world.createClaim('c', { dataSource: { kind: 'PersistentVolumeClaim', name: 'v' } });
      await world.untilPhase('c', 'Bound');
      await world.machines.write(machine, 0, 2);
      const second = await world.startMachine('second', 'c');
      assert.deepEqual([await world.machines.read(machine, 0), await world.machines.read(second, 0)], [2, 1]);
      await world.until(async () => (await world.client.list(resources.volumeSnapshots)).items.length === 0);
      await world.until(async () => world.medium.snapshots.size === 0);
    },
  },
  'a clone in another namespace of what a machine writes to': {
    async told(world) {
      await world.createClaim('v');
      const { status, metadata } = await world.untilPhase('v', 'Bound');
      const machine = await world.startMachine('m', 'v');
      await world.machines.write(machine, 0, 1);
      const there = { namespace: 'other', name: 'd' };
      await world.client.create(resources.dataVolumes, {
        metadata: there,
        spec: { source: { pvc: place('v') }, storage: {} },
      });
      const find = () => world.client.find(resources.persistentVolumeClaims, there);
      await world.until(async () => (await find())?.status?.phase === 'Bound');
      await world.until(async () => (await world.client.list(resources.volumeSnapshots)).items.length === 0);
      await world.until(async () => world.medium.snapshots.size === 0);
      await world.machines.write(machine, 0, 2);
      const id = (await find())?.metadata.uid ?? '';
      const volume = await world.volumes.find(id, new AbortController().signal);
      assert.ok(volume && id !== metadata.uid);
      world.machines.start('reader', [{ name: 'root', file: volume.file }]);
      assert.deepEqual([status?.phase, await world.machines.read('reader', 0)], ['Bound', 1]);
      await world.machines.end('reader');
      await world.client.delete(resources.dataVolumes, there);
      await world.until(async () => (await find()) === undefined);
      await world.until(async () => world.medium.volumes.size === 1);
    },
  },
  'a claim that is deleted while its volume is being copied': {
    async told(world) {
      await world.createClaim('v');
      await world.untilPhase('v', 'Bound');
      await world.createClaim('full', {
        storageClassName: 'full',
        dataSource: { kind: 'PersistentVolumeClaim', name: 'v' },
      });
      await world.untilWaiting('full', 'Provisioning');
      await world.client.delete(resources.persistentVolumeClaims, place('full'));
      await world.until(
        async () => (await world.client.list(resources.persistentVolumeClaims)).items.length === 1,
      );
      await world.until(
        async () => (await world.client.list(resources.persistentVolumes)).items.length === 1,
      );
    },
  },
  'a data volume that is fetched, cloned and removed': {
    async told(world) {
      world.sources.offer(url, [{ content: new Uint8Array(mebibyte).fill(1) }]);
      await world.client.create(resources.dataVolumes, {
        metadata: place('d'),
        spec: { source: { http: { url } }, storage: {} },
      });
      const phaseOf = async (name: string) =>
        (await world.client.get(resources.dataVolumes, place(name))).status?.phase;
      await world.until(async () => (await phaseOf('d')) === 'Succeeded');
      await world.client.create(resources.dataVolumes, {
        metadata: place('c'),
        spec: { source: { pvc: place('d') }, storage: {} },
      });
      await world.until(async () => (await phaseOf('c')) === 'Succeeded');
      await world.client.delete(resources.dataVolumes, place('c'));
      await world.client.delete(resources.dataVolumes, place('d'));
      await world.until(async () => world.medium.volumes.size === 0 && world.medium.images.size === 0);
      await world.until(async () => (await world.client.list(resources.dataVolumes)).items.length === 0);
      await world.until(
        async () => (await world.client.list(resources.persistentVolumes)).items.length === 0,
      );
    },
  },
};

async function tell(
  world: StorageWorld,
  { told }: Story,
  diesAfter: number,
): Promise<{ end: object; changes: number }> {
  const begun = world.changes;
  const lives = world.lives;
  world.diesBefore = begun + diesAfter;
  await told(world);
  const changes = world.changes - begun;
  // Who has died at the very end lives again.
  await world.until(() => Promise.resolve(true));
  const end = await world.picture();
  world.diesBefore = undefined;
  // The last changes of one run may not be needed in another.
  const isReached = diesAfter > 0 && changes >= diesAfter;
  assert.equal(world.lives, isReached ? lives + 1 : lives, 'it has died as often as it was to');
  await world.clear();
  return { end, changes };
}

describe('a process that dies before any of its changes comes to the same end', { timeout: 300_000 }, () => {
  let world: StorageWorld;
  before(async () => {
    world = await StorageWorld.open();
    await world.client.create(resources.namespaces, { metadata: { name: 'other' } });
    await world.client.create(resources.storageClasses, {
      metadata: { name: 'full' },
      provisioner: 'driver.longhorn.io',
      parameters: { 'sheaf.dev/provisioning': 'full' },
    });
  });
  after(() => world.close());

  for (const [name, story] of Object.entries(stories))
    it(name, async (context) => {
      const { end, changes } = await tell(world, story, 0);
      assert.ok(changes > 10, 'hardly anything is changed');
      let deaths = 0;
      for (let at = 1; at <= changes; at++) {
        const other = await tell(world, story, at).catch((error: unknown) => {
          throw new Error(`dying before change ${at}`, { cause: error });
        });
        if (other.changes >= at) deaths++;
        assert.deepEqual(other.end, end, `dying before change ${at}`);
      }
      assert.ok(deaths >= changes - 2, 'it has hardly died');
      context.diagnostic(`died in ${deaths} places`);
    });
});
