import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, it } from 'node:test';
import { setTimeout as pass } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { DiskFile, MachineDisk, MemoryOrder } from '@sheaf/ports';
import { Scene } from '@sheaf/ports/hypervisor/hypervisor-scene.fixture';
import { systemClock } from '../system/system-clock.ts';
import { fileNames } from './device-names.ts';
import { partPath } from './memory-file.ts';
import { MemoryReceiver } from './memory-receiver.ts';
import { QemuWorld, qemuIsMissing } from './qemu-world.fixture.ts';
import { QmpClient, textAt } from './qmp-client.ts';

const program = fileURLToPath(new URL('./memory-process.fixture.ts', import.meta.url));
const root = (file: DiskFile): MachineDisk => ({ name: 'root', device: 'disk', bus: 'virtio', file });

interface Begun {
  readonly scene: Scene;
  readonly world: QemuWorld;
  readonly base: DiskFile;
  readonly order: MemoryOrder;
}

async function withMachine(use: (begun: Begun) => Promise<void>): Promise<void> {
  const world = await QemuWorld.make();
  try {
    const scene = new Scene(world);
    const base = await world.makeDisk('base');
    const console = await scene.run('one', { disks: [root(base)] });
    await console.type('R');
    await console.shows('guest ready, boot 2\n');
    const overlay = await world.makeOverlay('next', base);
    await use({
      scene,
      world,
      base,
      order: { path: world.memoryPath('one'), disks: [{ name: 'root', overlay }] },
    });
  } finally {
    await world.dispose();
  }
}

async function killAfter(begun: Begun, delayMs: number): Promise<void> {
  const { world, order } = begun;
  const args = [program, world.directory, 'one', JSON.stringify(order)];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  await once(createInterface(child.stdout), 'line');
  await pass(delayMs);
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}

/** What passes by itself is told once, and begun anew. */
async function untilKept({ scene, order }: Begun): Promise<void> {
  await scene.until(async () => {
    const progress = await scene.hypervisor.saveMemory('one', order, scene.signal);
    assert.ok(progress.state !== 'failed' || progress.nature === 'transient', JSON.stringify(progress));
    return progress.state === 'done';
  });
}

async function checkRestored({ scene, world, base, order }: Begun): Promise<void> {
  const { hypervisor, signal } = scene;
  await hypervisor.end('one', signal);
  await scene.start('two', {
    disks: [root(await world.makeOverlay('restored', base))],
    memoryPath: order.path,
  });
  const console = await scene.console('two');
  await hypervisor.resume('two', signal);
  assert.equal((await console.status()).boots, 2);
}

async function pathOfRoot(scene: Scene): Promise<string | undefined> {
  return (await scene.find('one')).devices.find(({ name }) => name === 'root')?.path;
}

/** The guest stands with all its memory written, as in the moment before its disks are switched. */
async function standAtMoment({ scene, world, order }: Begun, path: string): Promise<void> {
  // Its note of the reset would otherwise be written over this one.
  await scene.when('one', ({ guestResets }) => guestResets === 1);
  scene.hypervisor.dispose();
  const directory = join(world.directory, 'machines', 'one');
  await writeFile(
    join(directory, 'notes.json'),
    JSON.stringify({ guestResets: 1, leaving: [], memoryOrder: order }),
  );
  const receiver = await MemoryReceiver.listen(directory, { path, head: Buffer.alloc(0) });
  const qmp = await QmpClient.connect({
    path: join(directory, fileNames.debugControl),
    clock: systemClock,
    limitMs: 5000,
    onEvent: () => undefined,
    onClose: () => undefined,
  });
  await qmp.execute('migrate', { uri: `unix:${fileNames.memory}` });
  await receiver.ended;
  receiver.dispose();
  await scene.until(async () => textAt(await qmp.execute('query-status'), 'status') === 'postmigrate');
  qmp.dispose();
  assert.ok(existsSync(path));
}

describe('QEMU and a death while memory is kept', { skip: qemuIsMissing ?? false }, () => {
  it('a guest goes on wherever the control process was killed, and its memory is kept by the next one', () =>
    withMachine(async (begun) => {
      const { scene } = begun;
      scene.hypervisor.dispose();
      for (const delayMs of [0, 5, 10, 15, 20, 30, 40, 60]) {
        await killAfter(begun, delayMs);
        scene.reopen();
        await scene.when('one', ({ state }) => state === 'running');
        assert.equal((await (await scene.console('one')).status()).boots, 2);
        assert.equal(existsSync(partPath(begun.order.path)), false);
        scene.hypervisor.dispose();
      }
      scene.reopen();
      await untilKept(begun);
      assert.equal(await pathOfRoot(scene), begun.order.disks[0]?.overlay.path);
      await checkRestored(begun);
    }));

  it('a guest that stood because its memory had just been kept goes on with its disks switched', () =>
    withMachine(async (begun) => {
      const { scene, order } = begun;
      await standAtMoment(begun, order.path);
      scene.reopen();
      await scene.when('one', ({ state }) => state === 'running');
      assert.equal(await pathOfRoot(scene), order.disks[0]?.overlay.path);
      assert.equal((await (await scene.console('one')).status()).boots, 2);
      await untilKept(begun);
    }));

  it('a guest that stood before its memory was whole goes on, and is kept anew', () =>
    withMachine(async (begun) => {
      const { scene, base, order } = begun;
      await standAtMoment(begun, partPath(order.path));
      scene.reopen();
      await scene.when('one', ({ state }) => state === 'running');
      assert.equal(await pathOfRoot(scene), base.path);
      assert.deepEqual([order.path, partPath(order.path)].filter(existsSync), []);
      await untilKept(begun);
      await checkRestored(begun);
    }));

  it('a guest whose process does not answer for a while goes on when it does', () =>
    withMachine(async (begun) => {
      const { scene, world, order } = begun;
      const { hypervisor, signal } = scene;
      const processId = await scene.processOf('one');
      await hypervisor.saveMemory('one', order, signal);
      await world.freeze(processId);
      await scene.when('one', ({ state }) => state === 'unresponsive');
      await world.thaw(processId);
      await scene.when('one', ({ state, isMemoryBeingKept }) => state === 'running' && !isMemoryBeingKept);
      await untilKept(begun);
      await checkRestored(begun);
    }));

  it('a guest whose memory cannot be written goes on, and it is said why', () =>
    withMachine(async ({ scene, base, order }) => {
      const { hypervisor, signal } = scene;
      const unwritable = { ...order, path: join(order.path, 'beneath', 'nothing') };
      let told = '';
      await scene.until(async () => {
        const progress = await hypervisor.saveMemory('one', unwritable, signal);
        if (progress.state === 'failed') told = `${progress.nature}: ${progress.message}`;
        return told !== '';
      });
      assert.match(told, /^transient: ENOENT/);
      await scene.when('one', ({ state }) => state === 'running');
      assert.equal(await pathOfRoot(scene), base.path);
      await hypervisor.pause('one', signal);
    }));
});
