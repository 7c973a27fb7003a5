import assert from 'node:assert/strict';
import type { Progress } from '../volumes.ts';
import type { MemoryOrder } from './hypervisor.ts';
import { type Console, mebibyte, type Scene } from './hypervisor-scene.fixture.ts';
import type { DiskFile, MachineDisk } from './machine-devices.ts';

interface Kept {
  readonly console: Console;
  readonly order: MemoryOrder;
  readonly base: DiskFile;
}

function root(file: DiskFile): MachineDisk {
  return { name: 'root', device: 'disk', bus: 'virtio', file };
}

/** A machine that has been reset once, which only its memory knows, and what is to be kept of it. */
async function runWithDisk(scene: Scene, id: string): Promise<Kept> {
  const { world } = scene;
  const base = await world.makeDisk(`${id}-base`);
  const console = await scene.run(id, { disks: [root(base)] });
  await console.type('R');
  await console.shows('guest ready, boot 2\n');
  const overlay = await world.makeOverlay(`${id}-next`, base);
  return { console, base, order: { path: world.memoryPath(id), disks: [{ name: 'root', overlay }] } };
}

async function untilKept(scene: Scene, id: string, order: MemoryOrder): Promise<Progress> {
  let progress: Progress = { state: 'working', percent: 0 };
  await scene.until(async () => {
    progress = await scene.hypervisor.saveMemory(id, order, scene.signal);
    return progress.state !== 'working';
  });
  return progress;
}

async function checkGoesOn(scene: Scene, id: string, { console, order }: Kept): Promise<void> {
  const seen = await scene.when(id, ({ state }) => state === 'running');
  assert.equal(seen.devices.find(({ name }) => name === 'root')?.path, order.disks[0]?.overlay.path);
  assert.equal((await console.status()).boots, 2);
}

export async function keepsMemory(scene: Scene): Promise<void> {
  const kept = await runWithDisk(scene, 'one');
  for (let time = 0; time < 2; time++)
    assert.deepEqual(await untilKept(scene, 'one', kept.order), { state: 'done' });
  await checkGoesOn(scene, 'one', kept);
  // Whoever wants to pause it now may.
  await scene.hypervisor.pause('one', scene.signal);
  assert.equal((await scene.find('one')).state, 'paused');
}

export async function goesOnFromMemory(scene: Scene): Promise<void> {
  const { hypervisor, signal, world } = scene;
  const { console, base, order } = await runWithDisk(scene, 'one');
  const before = await console.status();
  await untilKept(scene, 'one', order);
  // What it does from now on is not in what was kept.
  await console.type('R');
  await console.shows('guest ready, boot 3\n');
  await hypervisor.end('one', signal);
  const disks = [root(await world.makeOverlay('restored', base))];
  for (const id of ['two', 'three']) {
    const { state, end } = await scene.start(id, { disks, memoryPath: order.path });
    assert.deepEqual({ state, end }, { state: 'paused', end: undefined });
    assert.equal((await scene.start(id, { disks, memoryPath: order.path })).state, 'paused');
    const restored = await scene.console(id);
    await hypervisor.resume(id, signal);
    const after = await restored.status();
    assert.equal(after.boots, 2);
    assert.ok(after.ticks >= before.ticks, `${after.ticks} is not after ${before.ticks}`);
    assert.doesNotMatch(restored.printed, /guest ready/);
    await hypervisor.end(id, signal);
  }
}

export async function keepsMemoryAfterDeath(scene: Scene): Promise<void> {
  const { signal } = scene;
  const kept = await runWithDisk(scene, 'one');
  for (const ms of [0, 10, 50]) {
    await scene.hypervisor.saveMemory('one', kept.order, signal);
    await scene.world.pass(ms);
    scene.reopen();
    await scene.when('one', ({ state }) => state === 'running');
  }
  assert.deepEqual(await untilKept(scene, 'one', kept.order), { state: 'done' });
  await checkGoesOn(scene, 'one', { ...kept, console: await scene.console('one') });
  await scene.hypervisor.end('one', signal);
  const disks = [root(await scene.world.makeOverlay('restored', kept.base))];
  await scene.start('two', { disks, memoryPath: kept.order.path });
  const restored = await scene.console('two');
  await scene.hypervisor.resume('two', signal);
  assert.equal((await restored.status()).boots, 2);
}

export async function tellsWhatCannotBeKept(scene: Scene): Promise<void> {
  const { hypervisor, signal, world } = scene;
  const { order } = await runWithDisk(scene, 'one');
  const failure = async (id: string): Promise<string> => {
    const progress = await untilKept(scene, id, order);
    assert.ok(progress.state === 'failed' && progress.nature === 'fault', JSON.stringify(progress));
    return progress.message;
  };
  await hypervisor.pause('one', signal);
  assert.match(await failure('one'), /does not run.*resume it/);
  await hypervisor.resume('one', signal);
  const added = { name: 'data', device: 'disk', bus: 'scsi', file: await world.makeDisk('data') } as const;
  await hypervisor.attachDisk('one', added, signal);
  assert.match(await failure('one'), /since it was started.*data.*restart it/);
  await hypervisor.detachDisk('one', 'data', signal);
  await scene.when('one', ({ devices }) => devices.length === 1);
  await hypervisor.switchDisks('one', order.disks, signal);
  assert.match(await failure('one'), /went on without its memory.*another file/);
  await scene.when('one', ({ state }) => state === 'running');
  await scene.refuses(hypervisor.saveMemory('none', order, signal), 'NotFound', /no machine none/);
}

export async function refusesMemoryOfOther(scene: Scene): Promise<void> {
  const { base, order } = await runWithDisk(scene, 'one');
  await untilKept(scene, 'one', order);
  await scene.hypervisor.end('one', scene.signal);
  const disks = [root(await scene.world.makeOverlay('restored', base))];
  const memoryPath = order.path;
  await assert.rejects(
    scene.start('larger', { disks, memoryPath, memory: { bytes: 8 * mebibyte } }),
    /memory.bytes.*without what was kept/,
  );
  await assert.rejects(scene.start('other', { disks: [], memoryPath }), /disks.*without what was kept/);
  await assert.rejects(
    scene.start('gone', { disks, memoryPath: scene.world.memoryPath('gone') }),
    /not there.*without what was kept/,
  );
  assert.equal(await scene.world.processCount('larger'), 0);
  // What was refused can be started after all.
  assert.equal((await scene.start('larger', { disks, memory: { bytes: 8 * mebibyte } })).state, 'paused');
}
