import assert from 'node:assert/strict';
import type { Scene } from './hypervisor-scene.fixture.ts';
import type { DiskFile, MachineDisk } from './machine-devices.ts';

function diskOn(file: DiskFile, changes: Partial<MachineDisk> = {}): MachineDisk {
  return { name: 'root', device: 'disk', bus: 'virtio', file, ...changes };
}

/** Its processors have never run, so it has written nothing; and nobody has its file open any more. */
async function isRefused(scene: Scene, id: string): Promise<void> {
  const words = /gone on in another file .*start .*again/;
  await scene.refuses(scene.hypervisor.resume(id, scene.signal), 'Conflict', words);
  const { state, end } = await scene.find(id);
  assert.equal(state, 'ended');
  assert.ok(end?.cause === 'start-failed');
  assert.match(end.message, words);
}

async function isFree(scene: Scene, file: DiskFile): Promise<void> {
  const { state, end } = await scene.start('after', { disks: [diskOn(file)] });
  assert.deepEqual({ state, end }, { state: 'paused', end: undefined });
}

export async function endsOutdatedStart(scene: Scene): Promise<void> {
  const { hypervisor, signal, world } = scene;
  const [old, other] = [await world.makeDisk('old'), await world.makeDisk('other')];
  const disks = [diskOn(other, { name: 'other' }), diskOn(old)];
  assert.equal((await scene.start('late', { disks })).state, 'paused');
  world.outdate(old);
  await isRefused(scene, 'late');
  await isFree(scene, old);
  await hypervisor.end('after', signal);
  await scene.run('reader', { disks: [diskOn(old, { isReadOnly: true })] });
  await scene.run('next', { disks: [diskOn(other)] });
}

export async function endsOutdatedLife(scene: Scene): Promise<void> {
  const file = await scene.world.makeDisk('old');
  await scene.start('late', { disks: [diskOn(file)] });
  scene.world.outdate(file);
  scene.reopen();
  await isRefused(scene, 'late');
}

export async function endsOutdatedMemory(scene: Scene): Promise<void> {
  const { hypervisor, signal, world } = scene;
  const base = await world.makeDisk('base');
  await scene.run('one', { disks: [diskOn(base)] });
  const overlay = await world.makeOverlay('next', base);
  const order = { path: world.memoryPath('one'), disks: [{ name: 'root', overlay }] };
  await scene.until(async () => (await hypervisor.saveMemory('one', order, signal)).state === 'done');
  await hypervisor.end('one', signal);
  const restored = await world.makeOverlay('restored', base);
  const { state } = await scene.start('two', { disks: [diskOn(restored)], memoryPath: order.path });
  assert.equal(state, 'paused');
  world.outdate(restored);
  await isRefused(scene, 'two');
}

export async function refusesOutdatedDisk(scene: Scene): Promise<void> {
  const { hypervisor, signal, world } = scene;
  const file = await world.makeDisk('old');
  await scene.run('one');
  world.outdate(file);
  for (const bus of ['scsi', 'virtio'] as const)
    await scene.refuses(
      hypervisor.attachDisk('one', diskOn(file, { bus }), signal),
      'Conflict',
      /disk root has gone on in another file .*try again/,
    );
  assert.deepEqual((await scene.find('one')).devices, []);
  await isFree(scene, file);
  const current = await world.makeDisk('current');
  await hypervisor.attachDisk('one', diskOn(current), signal);
  assert.equal((await scene.find('one')).state, 'running');
}

export async function refusesOutdatedSwitch(scene: Scene): Promise<void> {
  const { hypervisor, signal, world } = scene;
  const disks = [
    diskOn(await world.makeDisk('root')),
    diskOn(await world.makeDisk('data'), { name: 'data' }),
  ];
  await scene.run('one', { disks });
  const before = (await scene.find('one')).devices;
  const changes = [];
  for (const { name, file } of disks)
    changes.push({ name, overlay: await world.makeOverlay(`${name}-new`, file ?? assert.fail()) });
  const dropped = changes[1]?.overlay ?? assert.fail();
  world.outdate(dropped);
  await scene.refuses(
    hypervisor.switchDisks('one', changes, signal),
    'Conflict',
    /disk data has gone on in another file .*try again/,
  );
  assert.deepEqual((await scene.find('one')).devices, before);
  assert.equal((await scene.find('one')).state, 'running');
  await hypervisor.switchDisks('one', changes.slice(0, 1), signal);
}
