import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { basename } from 'node:path';
import { it } from 'node:test';
import type { MachineDisk } from '@sheaf/ports';
import { Scene } from '@sheaf/ports/hypervisor/hypervisor-scene.fixture';
import { QemuWorld, qemuIsMissing } from './qemu-world.fixture.ts';

/** Whether a process has it open for writing, and keeps others from that. */
function isLocked(path: string): boolean {
  const { stderr } = spawnSync('qemu-img', ['info', '-f', 'qcow2', path], { encoding: 'utf8' });
  return /Failed to get .* lock/.test(stderr);
}

it('whether a file may be written to is asked with its lock held', {
  skip: qemuIsMissing ?? false,
}, async () => {
  const asked: (readonly [string, boolean])[] = [];
  const world = await QemuWorld.make({
    mayWrite: (path) => {
      asked.push([basename(path, '.qcow2'), isLocked(path)]);
      return Promise.resolve(true);
    },
  });
  try {
    const scene = new Scene(world);
    const { signal, hypervisor } = scene;
    const base = await world.makeDisk('base');
    const root: MachineDisk = { name: 'root', device: 'disk', bus: 'virtio', file: base };
    await scene.run('one', { disks: [root] });
    const kept = { name: 'root', overlay: await world.makeOverlay('kept', base) };
    const order = { path: world.memoryPath('one'), disks: [kept] };
    await scene.until(async () => (await hypervisor.saveMemory('one', order, signal)).state === 'done');
    const added = await world.makeDisk('added');
    await hypervisor.attachDisk('one', { ...root, name: 'added', bus: 'scsi', file: added }, signal);
    const switched = { name: 'root', overlay: await world.makeOverlay('switched', kept.overlay) };
    await hypervisor.switchDisks('one', [switched], signal);
    await hypervisor.end('one', signal);
    const restored = await world.makeOverlay('restored', base);
    await scene.start('two', { disks: [{ ...root, file: restored }], memoryPath: order.path });
    await hypervisor.resume('two', signal);
    assert.deepEqual(
      asked,
      ['base', 'kept', 'added', 'switched', 'restored'].map((name) => [name, true]),
    );
  } finally {
    await world.dispose();
  }
});
