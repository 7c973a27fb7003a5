import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MachineDisk } from '@sheaf/ports';
import { Scene } from '@sheaf/ports/hypervisor/hypervisor-scene.fixture';
import { openNewFile } from './open-behind-back.fixture.ts';
import { QemuWorld, qemuIsMissing } from './qemu-world.fixture.ts';

/** A machine that has a file open which none of its disks uses, and whether another machine may have that file. */
async function withLeftOpen(
  use: (scene: Scene, isFree: () => Promise<boolean>) => Promise<void>,
): Promise<void> {
  const world = await QemuWorld.make();
  try {
    const scene = new Scene(world);
    const disk: MachineDisk = {
      name: 'root',
      device: 'disk',
      bus: 'virtio',
      file: await world.makeDisk('root'),
    };
    await scene.run('one', { disks: [disk] });
    const file = await world.makeDisk('new');
    await openNewFile(world.directory, { id: 'one', disk: 'root', file });
    let tries = 0;
    const isFree = async (): Promise<boolean> => {
      const { end } = await scene.start(`other-${++tries}`, { disks: [{ ...disk, file }] });
      return end === undefined;
    };
    assert.equal(await isFree(), false);
    await use(scene, isFree);
    assert.deepEqual(await scene.device('one', 'root'), {
      name: 'root',
      kind: 'disk',
      path: disk.file?.path,
      isLeaving: false,
    });
  } finally {
    await world.dispose();
  }
}

describe('a switch of disks that was cut off', { skip: qemuIsMissing ?? false }, () => {
  it('leaves no file open beyond the life that began it', () =>
    withLeftOpen(async (scene, isFree) => {
      scene.reopen();
      await scene.find('one');
      assert.equal(await isFree(), true);
    }));

  it('leaves no file open when the machine answers again', () =>
    withLeftOpen(async (scene, isFree) => {
      const pid = await scene.processOf('one');
      await scene.world.freeze(pid);
      await scene.when('one', ({ state }) => state === 'unresponsive');
      await scene.world.thaw(pid);
      await scene.when('one', ({ state }) => state === 'running');
      await scene.until(isFree);
    }));
});
